import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, listAt, parseJson, textAt, type Json } from '../support/json.ts';
import { newUser, type User } from '../support/client-configs.ts';
import { fixture, MAIN, writeConfig } from '../support/paths.ts';
import { openPipe } from '../support/stdio.ts';

const isMac = process.platform === 'darwin';
const settings = isMac ? ['Library', 'Application Support'] : ['.config'];
const DESKTOP = [...settings, 'Claude', 'claude_desktop_config.json'];
const VSCODE = [...settings, 'Code', 'User', 'mcp.json'];
const CURSOR = ['.cursor', 'mcp.json'];
const SERVE_URL = 'http://127.0.0.1:4444/mcp';
const URL = `${SERVE_URL}/all`;
// No toolset is equipped, so the client gets all tools.
const STDIO = { command: process.execPath, args: [MAIN, 'stdio', '--attach', '--all'] };

async function connected(user: User, ...args: readonly string[]): Promise<Json> {
  const done = await user.assay('connect', ...args, '--json');
  expect(done.code).toBe(0);
  return parseJson(done.stdout);
}

interface Shape {
  readonly client: string;
  readonly file: readonly string[];
  /** As in the client's documentation, with additions by editors and people. The part between « and » is inserted. */
  readonly text: string;
  readonly key: string;
  readonly stdio: unknown;
  readonly http: unknown;
}

const SHAPES: readonly Shape[] = [
  {
    client: 'claude-desktop',
    file: DESKTOP,
    text: '{\n  "globalShortcut": "",\n  "mcpServers": {\n    "filesystem": {\n      "command": "npx",\n      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/ada"]\n    }«,\n    ENTRY»\n  }\n}',
    key: 'mcpServers',
    stdio: STDIO,
    http: undefined,
  },
  {
    client: 'claude-code',
    file: ['.claude.json'],
    text: '{\n  "numStartups": 12,\n  "mcpServers": {\n    "tracker": { "type": "http", "url": "https://tracker.example/mcp" }«,\n    ENTRY»\n  },\n  "projects": { "/p": { "mcpServers": {} } }\n}\n',
    key: 'mcpServers',
    stdio: { type: 'stdio', ...STDIO },
    http: { type: 'http', url: URL },
  },
  {
    client: 'cursor',
    file: CURSOR,
    text: '\uFEFF{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"git": {"command": "uvx", "args": ["git"]}, // last comma«\r\n\t\tENTRY,»\r\n\t},\r\n}\r\n',
    key: 'mcpServers',
    stdio: STDIO,
    http: { url: URL },
  },
  {
    client: 'vscode',
    file: VSCODE,
    text: '{\n    // inputs first\n    "inputs": [\n        { "type": "promptString", "id": "k", "description": "K", "password": true },\n    ],\n    "servers": {\n        "k": { "type": "stdio", "command": "k", "env": { "K": "${input:k}" } }«,»\n        /* no more */«\n        ENTRY»\n    },\n}',
    key: 'servers',
    stdio: { type: 'stdio', ...STDIO },
    http: { type: 'http', url: URL },
  },
  {
    client: 'windsurf',
    file: ['.codeium', 'windsurf', 'mcp_config.json'],
    text: '{"mcpServers": {"zapier": {"serverUrl": "https://a.example/sse"}«, ENTRY»}}',
    key: 'mcpServers',
    stdio: STDIO,
    http: { serverUrl: URL },
  },
];

describe.each(SHAPES)('assay connect $client', ({ client, file, text, key, stdio, http }) => {
  const before = text.replace(/«[^»]*»/g, '');

  it('adds one entry, leaves all other bytes, and undoes it byte for byte', async () => {
    const user = newUser();
    user.write(before, ...file);
    chmodSync(user.at(...file), 0o640);
    await connected(user, client);
    const after = user.read(...file);
    expect(at(parseLoose(after), key, 'assay')).toEqual(stdio);
    expect(after.replace(/"assay": \{[^{}]*\}/, 'ENTRY')).toBe(text.replace(/[«»]/g, ''));
    expect(statSync(user.at(...file)).mode & 0o777).toBe(0o640);
    const undone = await user.assay('connect', client, '--undo');
    expect([undone.code, undone.stdout]).toEqual([0, expect.stringContaining('byte for byte')]);
    expect(user.read(...file)).toBe(before);
    expect(statSync(user.at(...file)).mode & 0o777).toBe(0o640);
  });

  it('a second time says so, writes nothing, and keeps the first state for undo', async () => {
    const user = newUser();
    user.write(before, ...file);
    await connected(user, client);
    const after = user.read(...file);
    expect(at(await connected(user, client), 'change')).toBe('same');
    expect(user.read(...file)).toBe(after);
    await user.assay('connect', client, '--undo');
    expect(user.read(...file)).toBe(before);
  });

  it('--http writes a URL if the client supports it', async () => {
    const user = newUser();
    user.write(before, ...file);
    const done = await user.assay('connect', client, '--http', '--json');
    if (http === undefined) {
      expect([done.code, done.stdout, user.read(...file)]).toEqual([2, '', before]);
      expect(done.stderr).toContain('Omit --http');
    } else {
      expect(at(parseLoose(user.read(...file)), key, 'assay')).toEqual(http);
      expect(textAt(parseJson(done.stdout), 'next')).toContain(`must run at ${SERVE_URL}`);
    }
  });

  it('--dry-run prints the lines of the entry only, and writes nothing', async () => {
    const user = newUser();
    user.write(before, ...file);
    const done = await user.assay('connect', client, '--dry-run');
    expect(done.stdout).toContain(`would start Assay as "assay": ${user.at(...file)}`);
    const shown = done.stdout.split('\n').filter((line) => /^\+ +\d+ {2}/.test(line));
    expect(parseJson(`{${shown.map((line) => line.replace(/^\+ +\d+/, '')).join('\n')}}`)).toEqual({
      assay: stdio,
    });
    expect([user.read(...file), existsSync(user.assayHome)]).toEqual([before, false]);
  });

  it('creates the file if the client is installed and has none, and undo removes it', async () => {
    const user = newUser();
    mkdirSync(
      user.at(
        ...(client === 'claude-code'
          ? ['.claude']
          : file.slice(0, client === 'windsurf' || file.length === 2 ? 1 : settings.length + 1)),
      ),
      { recursive: true },
    );
    await connected(user, client);
    expect(user.json(...file)).toEqual({ [key]: { assay: stdio } });
    expect(statSync(user.at(...file)).mode & 0o777).toBe(0o600);
    const undone = await user.assay('connect', client, '--undo');
    expect([undone.code, existsSync(user.at(...file))]).toEqual([0, false]);
  });

  it('is refused if the client is not installed, except with --force', async () => {
    const user = newUser();
    const refused = await user.assay('connect', client);
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toContain('does not seem to be installed');
    expect(readdirSync(user.home)).toEqual([]);
    await connected(user, client, '--force');
    expect(user.json(...file)).toEqual({ [key]: { assay: stdio } });
  });

  it('leaves a file that is not JSON unchanged, and says where the error is', async () => {
    const user = newUser();
    user.write(`{\n  "${key}": {\n`, ...file);
    const done = await user.assay('connect', client);
    expect([done.code, done.stdout]).toEqual([3, '']);
    expect(done.stderr).toMatch(/line \d+, column \d+: /);
    expect([user.read(...file), existsSync(user.assayHome)]).toEqual([`{\n  "${key}": {\n`, false]);
  });
});

describe('assay connect', () => {
  it('writes a command that works when started the way the client does', async () => {
    const user = newUser();
    mkdirSync(user.at('.cursor'));
    await connected(user, 'cursor', '--config', writeConfig({ plain: fixture('plain') }));
    const args = listAt(user.json(...CURSOR), 'mcpServers', 'assay', 'args').map(String);
    const pipe = openPipe(args, { HOME: user.home });
    expect(at(await pipe.initialize(), 'result', 'serverInfo', 'name')).toBe('assay');
    expect(await pipe.call('plain_label')).toBe('plain');
    // It has started a gateway in the background.
    expect((await user.assay('stop', ...args.slice(args.indexOf('--config')))).code).toBe(0);
  });

  it('writes what leads the client to the same home and config', async () => {
    const user = newUser({ ASSAY_CONFIG: 'own.json' });
    mkdirSync(user.at('.cursor'));
    await connected(user, 'cursor', '--home', user.at('h'));
    const args = listAt(user.json(...CURSOR), 'mcpServers', 'assay', 'args');
    expect(args).toEqual([
      MAIN,
      'stdio',
      '--attach',
      '--all',
      '--home',
      user.at('h'),
      '--config',
      join(process.cwd(), 'own.json'),
    ]);
    expect(readdirSync(user.at('h', 'backups'))).toEqual([
      expect.stringMatching(/^cursor-[\da-f]{16}\.json$/),
    ]);
  });

  it('keeps its undo data readable for its user only', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"x": {"command": "x"}}}', ...CURSOR);
    await connected(user, 'cursor');
    const [file = ''] = readdirSync(join(user.assayHome, 'backups'));
    const path = join(user.assayHome, 'backups', file);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const record = parseJson(readFileSync(path, 'utf8'));
    expect(Buffer.from(textAt(record, 'former'), 'base64').toString()).toBe(
      '{"mcpServers": {"x": {"command": "x"}}}',
    );
    expect(textAt(record, 'path')).toBe(user.at(...CURSOR));
  });

  it('a change of its entry keeps the state before the first one', async () => {
    const user = newUser();
    user.write('{"mcpServers": {}}', ...CURSOR);
    await connected(user, 'cursor');
    await connected(user, 'cursor', '--http', 'https://assay.example/mcp');
    await connected(user, 'cursor', '--name', 'second');
    expect(at(user.json(...CURSOR), 'mcpServers')).toEqual({
      assay: { url: 'https://assay.example/mcp' },
      second: STDIO,
    });
    await user.assay('connect', 'cursor', '--undo');
    expect(user.read(...CURSOR)).toBe('{"mcpServers": {}}');
  });

  it('undo of a file edited since removes only its entry, and says so', async () => {
    const user = newUser();
    user.write('{\n  "mcpServers": {\n    "a": { "command": "a" }\n  }\n}\n', ...CURSOR);
    await connected(user, 'cursor');
    const edited = user.read(...CURSOR).replace('"command": "a" }', '"command": "b" } /* new */');
    user.write(edited, ...CURSOR);
    const dry = await user.assay('connect', 'cursor', '--undo', '--dry-run');
    expect([dry.stdout, user.read(...CURSOR)]).toEqual([
      expect.stringContaining('would be taken out'),
      edited,
    ]);
    const done = await user.assay('connect', 'cursor', '--undo');
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('was edited since')]);
    expect(user.read(...CURSOR)).toBe(
      '{\n  "mcpServers": {\n    "a": { "command": "b" } /* new */\n  }\n}\n',
    );
    const again = await user.assay('connect', 'cursor', '--undo');
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toContain('Nothing to undo');
  });

  it('connecting again after an edit never restores what was removed by the edit', async () => {
    const user = newUser();
    user.write('{\n  "mcpServers": {\n    "a": { "command": "a" }\n  }\n}\n', ...CURSOR);
    await connected(user, 'cursor');
    user.write(user.read(...CURSOR).replace('"command": "a"', '"command": "b"'), ...CURSOR);
    await connected(user, 'cursor', '--http');
    await user.assay('connect', 'cursor', '--undo');
    expect(user.read(...CURSOR)).toBe('{\n  "mcpServers": {\n    "a": { "command": "b" }\n  }\n}\n');
  });

  it('leaves alone an entry that somebody replaced', async () => {
    const user = newUser();
    user.write('{}', ...CURSOR);
    await connected(user, 'cursor', '--http', 'https://assay.example/mcp');
    const theirs = '{"mcpServers": {"assay": {"command": "another"}}}';
    user.write(theirs, ...CURSOR);
    expect((await user.assay('connect', 'cursor')).stderr).toContain('another server named "assay"');
    expect((await user.assay('connect', 'cursor', '--undo')).code).toBe(2);
    expect(user.read(...CURSOR)).toBe(theirs);
    const tweaked = '{"mcpServers": {"assay": {"url": "https://assay.example/mcp", "headers": {}}}}';
    user.write(tweaked, ...CURSOR);
    expect((await user.assay('connect', 'cursor', '--undo')).code).toBe(0);
    expect(user.read(...CURSOR)).toBe('{"mcpServers": {}}');
  });

  it('has nothing to undo if it wrote nothing', async () => {
    const user = newUser();
    user.write(`{"mcpServers": {"assay": ${JSON.stringify(STDIO)}}}`, ...CURSOR);
    const done = await user.assay('connect', 'cursor', '--undo');
    expect([done.code, done.stdout]).toEqual([2, '']);
    expect(done.stderr).toContain(user.at(...CURSOR));
  });

  it('does not take the name of another server, except with --force', async () => {
    const user = newUser();
    const before = '{"mcpServers": {"assay": {"command": "another"}}}';
    user.write(before, ...CURSOR);
    const done = await user.assay('connect', 'cursor');
    expect([done.code, user.read(...CURSOR)]).toEqual([2, before]);
    expect(done.stderr).toContain('--name');
    await connected(user, 'cursor', '--force');
    expect(at(user.json(...CURSOR), 'mcpServers', 'assay')).toEqual(STDIO);
    await user.assay('connect', 'cursor', '--undo');
    expect(user.read(...CURSOR)).toBe(before);
  });

  it("writes to a project's file, and creates its folder", async () => {
    const user = newUser();
    const project = user.at('work');
    mkdirSync(project);
    for (const client of ['claude-code', 'cursor', 'vscode', 'windsurf'])
      await connected(user, client, '--project', project);
    expect(at(user.json('work', '.mcp.json'), 'mcpServers', 'assay')).toEqual({ type: 'stdio', ...STDIO });
    expect(at(user.json('work', ...CURSOR), 'mcpServers', 'assay')).toEqual(STDIO);
    expect(at(user.json('work', '.vscode', 'mcp.json'), 'servers', 'assay')).toEqual({
      type: 'stdio',
      ...STDIO,
    });
    expect(at(user.json('work', '.devin', 'mcp_config.json'), 'mcpServers', 'assay')).toEqual(STDIO);
    await user.assay('connect', 'cursor', '--project', project, '--undo');
    expect(existsSync(user.at('work', ...CURSOR))).toBe(false);
    const nowhere = await user.assay('connect', 'cursor', '--project', user.at('none'), '--force');
    expect([nowhere.code, existsSync(user.at('none'))]).toEqual([2, false]);
  });

  it('writes where Windsurf reads under its new name, in the format that it reads there', async () => {
    const user = newUser();
    mkdirSync(user.at('.config', 'devin'), { recursive: true });
    mkdirSync(user.at('.codeium'));
    await connected(user, 'windsurf', '--http');
    expect(user.json('.config', 'devin', 'mcp_config.json')).toEqual({ mcpServers: { assay: { url: URL } } });
    expect(readdirSync(user.at('.codeium'))).toEqual([]);
  });

  it('keeps a symbolic link, and leaves a dangling one alone', async () => {
    const user = newUser();
    user.write('{}', 'dotfiles', 'cursor.json');
    mkdirSync(user.at('.cursor'));
    symlinkSync(user.at('dotfiles', 'cursor.json'), user.at(...CURSOR));
    await connected(user, 'cursor');
    expect(lstatSync(user.at(...CURSOR)).isSymbolicLink()).toBe(true);
    expect(user.json('dotfiles', 'cursor.json')).toEqual({ mcpServers: { assay: STDIO } });
    await user.assay('connect', 'cursor', '--undo');
    expect(user.read('dotfiles', 'cursor.json')).toBe('{}');

    const other = newUser();
    mkdirSync(other.at('.cursor'));
    symlinkSync(other.at('gone.json'), other.at(...CURSOR));
    const refused = await other.assay('connect', 'cursor');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('it is a link to a file that is not there');
    expect(lstatSync(other.at(...CURSOR)).isSymbolicLink()).toBe(true);
  });

  it('fills an empty file', async () => {
    const user = newUser();
    user.write('', ...CURSOR);
    await connected(user, 'cursor');
    expect(user.json(...CURSOR)).toEqual({ mcpServers: { assay: STDIO } });
    await user.assay('connect', 'cursor', '--undo');
    expect(user.read(...CURSOR)).toBe('');
  });

  it('lists the other servers of the file with the command that copies them, and the next step', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"git": {"command": "git", "env": {"T": "S3CRET"}}}}', ...CURSOR);
    const done = await user.assay('connect', 'cursor');
    expect(done.stderr).toContain('tip: Cursor has more servers there (git): assay import cursor');
    expect(done.stderr).toContain('next: Restart Cursor');
    expect(done.stdout + done.stderr).not.toContain('S3CRET');
    expect(done.stdout + done.stderr).not.toContain('\u001b[');
  });

  it('warns if the file has Assay already, under another name', async () => {
    const user = newUser();
    user.write(
      '{"mcpServers": {"gateway": {"command": "npx", "args": ["-y", "assay-mcp", "stdio"]}}}',
      ...CURSOR,
    );
    const done = await user.assay('connect', 'cursor', '--dry-run');
    expect(done.stderr).toContain('warning: the file has Assay already, as "gateway"');
    expect(done.stderr).not.toContain('tip:');
  });

  it('next to a client that keeps writing its file, what the client writes last is preserved', async () => {
    const user = newUser();
    const path = user.write('{"starts":0}', ...CURSOR);
    let starts = 0;
    const writeOn = (): void => {
      starts += 1;
      writeFileSync(`${path}.new`, JSON.stringify({ ...(user.json(...CURSOR) as object), starts }));
      renameSync(`${path}.new`, path);
    };
    const client = setInterval(writeOn, 5);
    const done = await user.assay('connect', 'cursor').finally(() => {
      clearInterval(client);
    });
    writeOn();
    const isRefused = done.stderr.includes('it is being changed by another program; try again');
    expect(done.code === 0).toBe(!isRefused);
    // The client itself may have written over the entry, but a refusal never comes with one.
    if (isRefused) expect(at(user.json(...CURSOR), 'mcpServers')).toBe(undefined);
    expect(readdirSync(user.at('.cursor'))).toEqual(['mcp.json']);
    expect(Number(at(user.json(...CURSOR), 'starts'))).toBe(starts);
  });

  const refusals: readonly (readonly [what: string, args: readonly string[], told: RegExp])[] = [
    ['a client that nobody knows', ['notepad'], /Known clients: claude-desktop, /],
    ['a name that no client would take', ['cursor', '--name', 'a b'], /a name has 1 to 64/],
    ['an address that is none', ['cursor', '--http', 'localhost'], /--http needs an address/],
    ['an address with credentials', ['cursor', '--http', 'http://u:p@h/mcp'], /without credentials/],
    ['a project where the client has none', ['claude-desktop', '--project', '.'], /for single projects/],
  ];
  it.each(refusals)('refuses %s', async (_what, args, told) => {
    const user = newUser();
    mkdirSync(user.at('.cursor'));
    const done = await user.assay('connect', ...args);
    expect([done.code, done.stdout]).toEqual([2, '']);
    expect(done.stderr).toMatch(told);
    expect(done.stderr).not.toContain('u:p@');
    expect(readdirSync(user.at('.cursor'))).toEqual([]);
  });
});

/** JSON with comments and trailing commas, none of which are inside strings here. */
function parseLoose(text: string): Json {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(/(^|[^:])\/\/.*$/gm, '$1')
    .replace(/\/\*.*?\*\//g, '');
  return parseJson(bare.replace(/,(\s*[}\]])/g, '$1'));
}

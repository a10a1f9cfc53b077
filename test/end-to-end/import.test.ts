import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, listAt, namesAt, parseJson, textAt, type Json } from '../support/json.ts';
import { newUser, type User } from '../support/client-configs.ts';
import { fixture, MAIN, ROOT } from '../support/paths.ts';

const isMac = process.platform === 'darwin';
const settings = isMac ? ['Library', 'Application Support'] : ['.config'];
const DESKTOP = [...settings, 'Claude', 'claude_desktop_config.json'];
const VSCODE = [...settings, 'Code', 'User', 'mcp.json'];

async function imported(user: User, ...args: readonly string[]): Promise<Json> {
  const done = await user.assay('import', ...args, '--no-equip', '--json');
  expect([done.code, done.stderr]).toEqual([0, '']);
  return parseJson(done.stdout);
}
function outcomes(report: Json): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listAt(report, 'servers').map((one) => [textAt(one, 'name'), textAt(one, 'outcome')]),
  );
}

describe('assay import', () => {
  it('copies the servers of Claude Desktop, which then work through Assay', async () => {
    const user = newUser();
    const { command, args } = fixture('plain');
    user.write(
      `\uFEFF{\r\n  // comments and a last comma are no obstacle\r\n  "mcpServers": {\r\n    "plain": ${JSON.stringify({ command, args })},\r\n  },\r\n}`,
      ...DESKTOP,
    );
    const done = await user.assay('import', 'claude-desktop', '--no-equip');
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('Copied 1 server from');
    expect(user.json('.assay', 'mcp.json')).toEqual({ mcpServers: { plain: { command, args } } });
    const tools = await user.assay('tools', '--json');
    expect(namesAt(parseJson(tools.stdout), 'tools')).toContain('plain_echo');
  });

  it("shows each variable with the server that gets it, and skips an entry that asks for Assay's own", async () => {
    const user = newUser();
    const servers = {
      web: { url: 'https://a.example/mcp', headers: { A: 'Bearer ${env:A_TOKEN}', B: '${env:B_KEY}' } },
      tool: { command: 'tool', args: ['${env:C_NAME}'], env: { D: '1' } },
      evil: { url: 'https://evil.example/mcp', headers: { Authorization: '${env:ASSAY_TOKEN}' } },
    };
    user.write(JSON.stringify({ mcpServers: servers }), 'project', '.cursor', 'mcp.json');
    const done = await user.assay('import', 'cursor', '--project', user.at('project'), '--no-equip');
    expect(done.stderr.split('\n').filter((line) => line.startsWith('note: '))).toEqual([
      'note: web sends $A_TOKEN to https://a.example',
      'note: web sends $B_KEY to https://a.example',
      'note: tool passes $C_NAME to tool ${C_NAME}',
    ]);
    expect(done.stderr).toContain("the variable ASSAY_TOKEN is Assay's own and is never passed on");
    expect(Object.keys(at(user.json('.assay', 'mcp.json'), 'mcpServers') as object)).toEqual(['web', 'tool']);
  });

  it('creates the config file for its user only', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"a": {"command": "a"}}}', '.cursor', 'mcp.json');
    await imported(user, 'cursor');
    expect(statSync(user.at('.assay', 'mcp.json')).mode & 0o777).toBe(0o600);
    expect(statSync(user.at('.assay')).mode & 0o777).toBe(0o700);
    expect(readdirSync(user.at('.assay'))).toEqual(['mcp.json']);
  });

  it('does nothing a second time', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"a": {"command": "a", "env": {"B": "1", "A": "2"}}}}', '.cursor', 'mcp.json');
    await imported(user, 'cursor');
    const first = user.read('.assay', 'mcp.json');
    expect(outcomes(await imported(user, 'cursor'))).toEqual({ a: 'same' });
    expect(user.read('.assay', 'mcp.json')).toBe(first);
    expect(readdirSync(user.at('.assay'))).toEqual(['mcp.json']);
  });

  it('adds to an existing config, leaves everything else in it unchanged, and keeps a backup', async () => {
    const user = newUser();
    const before =
      '// mine\r\n{\r\n\t"mcpServers": {\r\n\t\t"own": {"command": "own"}, // keep\r\n\t},\r\n\t"settings": {}\r\n}';
    user.write(before, '.assay', 'mcp.json');
    user.write('{"mcpServers": {"a": {"command": "a"}}}', '.cursor', 'mcp.json');
    const report = await imported(user, 'cursor');
    expect(user.read('.assay', 'mcp.json')).toBe(
      '// mine\r\n{\r\n\t"mcpServers": {\r\n\t\t"own": {"command": "own"}, // keep\r\n\t\t"a": {\r\n\t\t\t"command": "a"\r\n\t\t},\r\n\t},\r\n\t"settings": {}\r\n}',
    );
    const backup = textAt(report, 'backup');
    expect(backup).toMatch(/\.assay.backups.mcp\.json-[\dTZ.-]+$/);
    expect(user.read('.assay', backup.slice(user.at('.assay').length + 1))).toBe(before);
  });

  it('imports an entry that differs from that of its name as another server, except with --overwrite', async () => {
    const user = newUser();
    const own = {
      a: { command: 'mine', timeoutMs: 5, env: { TOKEN: 'private-token-1' } },
      b: { command: 'b', prefix: false },
    };
    user.write(JSON.stringify({ mcpServers: own }), '.assay', 'mcp.json');
    const work = { command: 'mine', env: { TOKEN: 'work-token-2' } };
    user.write(
      JSON.stringify({ mcpServers: { a: work, b: { command: 'b', args: [] } } }),
      '.cursor',
      'mcp.json',
    );
    const planned = await user.assay('import', 'cursor', '--dry-run');
    expect(planned.stdout).toMatch(/^a-cursor +stdio +copied +mine$/m);
    const note =
      'note: a is not the a that Assay has, and becomes a-cursor (--overwrite replaces): env.TOKEN differs';
    expect(planned.stderr).toBe(`${note}\n`);
    const done = await user.assay('import', 'cursor', '--no-equip', '--json');
    expect([done.code, done.stderr]).toEqual([0, `${note}\n`]);
    expect(listAt(parseJson(done.stdout), 'servers')).toMatchObject([
      { name: 'a', importedAs: 'a-cursor', outcome: 'copied', differs: [{ member: 'env.TOKEN' }] },
      { name: 'b', importedAs: 'b', outcome: 'same', differs: [] },
    ]);
    expect(user.json('.assay', 'mcp.json')).toEqual({ mcpServers: { ...own, 'a-cursor': work } });
    expect(outcomes(await imported(user, 'cursor'))).toEqual({ a: 'same', b: 'same' });

    // Another client with the same account shares its server.
    user.write(JSON.stringify({ mcpServers: { a: work } }), '.codeium', 'windsurf', 'mcp_config.json');
    const shared = await user.assay('import', 'windsurf', '--dry-run', '--json');
    expect(listAt(parseJson(shared.stdout), 'servers')).toMatchObject([
      { name: 'a', importedAs: 'a-cursor', outcome: 'same' },
    ]);

    // A third account gets a third server; the first client's is not replaced even with --overwrite.
    user.write(
      JSON.stringify({ mcpServers: { a: { ...work, env: { TOKEN: 'third' } } } }),
      '.cursor',
      'mcp.json',
    );
    const third = await user.assay('import', 'cursor', '--dry-run', '--json');
    expect(listAt(parseJson(third.stdout), 'servers')).toMatchObject([{ importedAs: 'a-cursor-2' }]);
    const over = await user.assay('import', 'cursor', '--no-equip', '--overwrite');
    expect(over.stderr).toContain(
      'note: a is not the a that Assay has, and replaces a-cursor: env.TOKEN differs',
    );
    expect(user.json('.assay', 'mcp.json')).toMatchObject({
      mcpServers: { a: own.a, 'a-cursor': { env: { TOKEN: 'third' } } },
    });

    // The client's own entry of the first name is known by its other name here.
    const moved = await user.assay('import', 'cursor', '--no-equip', '--move');
    expect(moved.stdout).toContain(`Took a out of ${user.at('.cursor', 'mcp.json')}`);
  });

  it('--dry-run prints the same and writes nothing', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"a": {"command": "a"}}}', '.cursor', 'mcp.json');
    const done = await user.assay('import', 'cursor', '--dry-run');
    expect(done.stdout).toContain('Dry run: 1 server would be copied');
    expect(done.stdout).toMatch(/a +stdio +copied +a/);
    expect(existsSync(user.assayHome)).toBe(false);
  });

  it('converts the inputs, variables and folders of VS Code, and says which variables to set', async () => {
    const user = newUser();
    const project = user.at('work');
    user.write(
      `{
        "inputs": [{"type": "promptString", "id": "tracker-key", "description": "Key of the tracker", "password": true}],
        "servers": {
          "tracker": {"type": "http", "url": "https://tracker.example/mcp", "headers": {"Authorization": "Bearer \${input:tracker-key}"}},
          "runner": {"type": "stdio", "command": "./run.sh", "args": ["\${workspaceFolder}/a", "\${env:NOT_SET_ANYWHERE}"], "envFile": "\${workspaceFolder}/.env", "sandbox": {}}
        }
      }`,
      'work',
      '.vscode',
      'mcp.json',
    );
    user.write('A=1\n', 'work', '.env');
    const done = await user.assay('import', 'vscode', '--project', project, '--no-equip');
    expect(user.json('.assay', 'mcp.json')).toEqual({
      mcpServers: {
        tracker: {
          type: 'http',
          url: 'https://tracker.example/mcp',
          headers: { Authorization: 'Bearer ${TRACKER_KEY}' },
        },
        runner: {
          type: 'stdio',
          command: join(project, 'run.sh'),
          args: [join(project, 'a'), '${NOT_SET_ANYWHERE}'],
          envFile: join(project, '.env'),
          cwd: project,
        },
      },
    });
    expect(done.stderr.split('\n')).toEqual([
      'note: tracker sends $TRACKER_KEY to https://tracker.example',
      `note: runner passes $NOT_SET_ANYWHERE to ${user.at('work', 'run.sh')} ${user.at('work', 'a')} \${NOT_SET_ANYWHERE}`,
      'to do: tracker: set TRACKER_KEY (Key of the tracker)',
      'note: runner: left out, as Assay has no use for it: sandbox',
      'to do: runner: set NOT_SET_ANYWHERE',
      '',
    ]);
  });

  it("reads Claude Code's configs for the user, for a project, and in the project", async () => {
    const user = newUser();
    const project = user.at('work');
    user.write(
      JSON.stringify({
        numStartups: 4,
        mcpServers: {
          mine: { type: 'stdio', command: 'mine', args: [], env: {} },
          both: { command: 'mine' },
        },
        projects: {
          [project]: {
            mcpServers: { near: { type: 'stdio', command: 'near' }, both: { command: 'local' } },
            disabledMcpjsonServers: ['shared'],
          },
          '/elsewhere': { mcpServers: { far: { command: 'far' } } },
          '/empty': { mcpServers: {} },
        },
      }),
      '.claude.json',
    );
    user.write(
      '{"mcpServers": {"shared": {"type": "sse", "url": "https://a.example/sse"}}}',
      'work',
      '.mcp.json',
    );
    const alone = await user.assay('import', 'claude-code', '--dry-run');
    expect(alone.stderr).toContain(`--project ${JSON.stringify(project)}`);
    const report = await imported(user, 'claude-code', '--project', project);
    expect(
      listAt(report, 'servers').map((one) => [at(one, 'name'), at(one, 'outcome'), at(one, 'isDisabled')]),
    ).toEqual([
      ['near', 'copied', false],
      ['both', 'copied', false],
      ['shared', 'copied', true],
      ['mine', 'copied', false],
      ['both', 'kept', false],
    ]);
    expect(at(report, 'elsewhere')).toEqual(['/elsewhere']);
    expect(at(user.json('.assay', 'mcp.json'), 'mcpServers', 'both', 'command')).toBe('local');
  });

  it('reads Windsurf before and after its renaming, and any file of these formats', async () => {
    const user = newUser();
    user.write(
      '{"mcpServers": {"old": {"serverUrl": "https://old.example/sse", "disabled": true, "disabledTools": ["x"]}}}',
      '.codeium',
      'windsurf',
      'mcp_config.json',
    );
    user.write(
      '{"mcpServers": {"new": {"url": "https://new.example", "transport": "http"}}}',
      '.config',
      'devin',
      'mcp_config.json',
    );
    await imported(user, 'windsurf');
    const file = user.write('{"servers": {"third": {"command": "./third"}}}', 'loose', 'some.json');
    await imported(user, file);
    expect(user.json('.assay', 'mcp.json')).toEqual({
      mcpServers: {
        new: { url: 'https://new.example', type: 'http' },
        old: { url: 'https://old.example/sse', disabled: true, tools: { deny: ['x'] } },
        third: { command: user.at('loose', 'third') },
      },
    });
  });

  it('skips itself, and what cannot run, with the position in the file', async () => {
    const user = newUser();
    user.write(
      `{"servers": {
        "tools": {"command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(MAIN)}, "stdio"]},
        "http": {"type": "http", "url": "http://127.0.0.1:4444/mcp"},
        "socket": {"type": "http", "url": "unix:///tmp/x.sock"},
        "ws": {"type": "ws", "url": "wss://a.example"},
        "conf": {"command": "c", "args": ["\${config:my.key}"]},
        "good": {"command": "c"}
      }}`,
      ...VSCODE,
    );
    const done = await user.assay('import', 'vscode', '--no-equip');
    const file = user.at(...VSCODE);
    expect(done.stderr.split('\n')).toEqual([
      `skipped tools: this is Assay itself (${file}:2:9)`,
      `skipped http: this is Assay itself (${file}:3:9)`,
      `skipped socket: servers.socket.url: this is not an http or https URL (${file}:4:43)`,
      `skipped ws: servers.ws.type: it must be one of stdio, http, streamable-http, streamableHttp, sse, openapi, codebase (${file}:5:24)`,
      `skipped conf: only that client can replace \${config:…} (${file}:6:43)`,
      '',
    ]);
    expect(user.json('.assay', 'mcp.json')).toEqual({ mcpServers: { good: { command: 'c' } } });
  });

  it('shows no secret, in the table and as JSON', async () => {
    const user = newUser();
    user.write(
      JSON.stringify({
        mcpServers: {
          a: {
            command: 'a',
            args: ['--token', 'S3CRET', 'KEY=S3CRET', 'https://u:S3CRET@h.example/S3CRET'],
            env: { X: 'S3CRET' },
          },
          d: {
            command: 'd',
            args: [
              'hunter2S3CRET',
              '-p',
              'S3CRET',
              'host=h password=S3CRET dbname=d',
              '--as',
              'ada:wordS3CRET',
            ],
            env: { PASSWORD: 'hunter2S3CRET', LOGIN_PASS: 'wordS3CRET' },
          },
          b: { url: 'https://b.example/S3CRET?k=S3CRET', headers: { Authorization: 'S3CRET' } },
          c: { url: 'ftp://S3CRET', headers: { 'X Y': 'S3CRET' } },
        },
      }),
      '.cursor',
      'mcp.json',
    );
    for (const args of [['--dry-run'], ['--json'], []]) {
      const { stdout, stderr } = await user.assay('import', 'cursor', '--no-equip', ...args);
      expect(stdout).toContain('h.example');
      expect(stdout + stderr).not.toContain('S3CRET');
    }
    expect(user.read('.assay', 'mcp.json')).toContain('S3CRET');
  });

  it('writes where --config says', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"a": {"command": "a"}}}', '.cursor', 'mcp.json');
    await imported(user, 'cursor', '--config', user.at('deep', 'er', 'own.json'));
    expect(user.json('deep', 'er', 'own.json')).toEqual({ mcpServers: { a: { command: 'a' } } });
    expect(existsSync(user.assayHome)).toBe(false);
  });

  const refusals: readonly (readonly [what: string, args: readonly string[], code: number, told: RegExp])[] =
    [
      ['a client that nobody knows', ['notepad'], 2, /Known clients: claude-desktop, claude-code, cursor/],
      [
        'a client without a config',
        ['cursor'],
        3,
        /No MCP server was found\. Looked in: ".*\.cursor.mcp\.json"/,
      ],
      ['a file that is not there', ['./none.json'], 3, /Looked in: ".*none\.json"/],
      [
        'a project for a client without projects',
        ['claude-desktop', '--project', '.'],
        2,
        /no servers for single projects/,
      ],
    ];
  it.each(refusals)('refuses %s', async (_what, args, code, told) => {
    const done = await newUser().assay('import', ...args);
    expect([done.code, done.stdout]).toEqual([code, '']);
    expect(done.stderr).toMatch(told);
  });

  it('refuses a file that is not JSON with line and column, whether theirs or Assay’s own, and changes nothing', async () => {
    const user = newUser();
    user.write('{"mcpServers": {\n  "a" {}\n}}', '.cursor', 'mcp.json');
    const theirs = await user.assay('import', 'cursor');
    expect([theirs.code, theirs.stdout]).toEqual([3, '']);
    expect(theirs.stderr).toMatch(/cursor.*line 2, column 7/);
    user.write('{"mcpServers": {"a": {"command": "a"}}}', '.cursor', 'mcp.json');
    user.write('{"mcpServers": [}', '.assay', 'mcp.json');
    const own = await user.assay('import', 'cursor');
    expect(own.code).toBe(3);
    expect(own.stderr).toMatch(/assay.*line 1, column 17/);
    expect(user.read('.assay', 'mcp.json')).toBe('{"mcpServers": [}');
  });

  it('reports if nothing can be written', async () => {
    const user = newUser();
    user.write('{"mcpServers": {"a": {"command": "a"}}}', '.cursor', 'mcp.json');
    // The draft beside it would have a name that is too long for any file system.
    const done = await user.assay('import', 'cursor', '--config', user.at('x'.repeat(220)));
    expect([done.code, done.stdout]).toEqual([3, '']);
    expect(done.stderr).toContain('cannot be written');
  });

  it('reads the config of this repository like any other file', async () => {
    const user = newUser();
    const copy = user.at('copy.json');
    writeFileSync(copy, '{"mcpServers": {"local": {"command": "x"}, "a/b": {"command": "x"}}}');
    const report = await imported(user, copy, '--dry-run');
    expect(outcomes(report)).toEqual({ local: 'skipped', 'a/b': 'skipped' });
    expect(textAt(report, 'servers', 0, 'reason')).toContain('is reserved for tools of your own');
    expect(outcomes(await imported(user, join(ROOT, 'examples', 'mcp.json'), '--dry-run'))).toMatchObject({
      memory: 'copied',
    });
  });
});

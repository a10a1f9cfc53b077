import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHttp } from '../fixtures/http.ts';
import { SCHEMA_EDITION } from '../../packages/gateway/src/adapters/store/tables.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { runAssay } from '../support/commands.ts';
import { endLater } from '../support/endings.ts';
import { listAt, numberAt, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { fixture, installed, MAIN, tempDir, writeConfig, writeText } from '../support/paths.ts';

const MARKER = 'marker-that-nobody-may-see';

interface Diagnosed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly report: Json;
  /** `level about: message` of all findings of a check. */
  readonly found: (check: string) => readonly string[];
}

async function doctor(
  config: string,
  {
    args = [],
    home = tempDir(),
    env = {},
  }: {
    readonly args?: readonly string[];
    readonly home?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Diagnosed> {
  const ran = await runAssay(['doctor', '--json', '--config', config, '--home', home, ...args], { env });
  const report = parseJson(ran.stdout);
  const found = (check: string): readonly string[] =>
    listAt(report, 'findings')
      .filter((one) => textAt(one, 'check') === check)
      .map((one) => `${textAt(one, 'level')} ${textAt(one, 'about')}: ${textAt(one, 'message')}`);
  return { ...ran, report, found };
}

function privateConfig(servers: JsonObject): string {
  const path = writeConfig(servers);
  chmodSync(path, 0o600);
  return path;
}

async function refusing(status: number): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** The words of a command that starts the fixture `plain`. */
function plainCommand(): readonly string[] {
  const { command, args } = fixture('plain') as {
    readonly command: string;
    readonly args: readonly string[];
  };
  return [command, ...args];
}

function script(text: string, more: JsonObject = {}): JsonObject {
  return { command: process.execPath, args: ['-e', text], ...more };
}

describe('assay doctor', () => {
  it('finds nothing to warn of if all is well, starts servers of both kinds, and leaves nothing behind', async () => {
    const label = `--label=${randomUUID()}`;
    const http = await startHttp('modern');
    endLater(() => http.close());
    const home = join(tempDir(), 'home');
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, 'note.txt'), 'mine');
    const before = [readdirSync(home), statSync(home).mtimeMs];
    const config = privateConfig({ plain: fixture('plain', [label]), distant: { url: http.url } });

    const { code, report, found, stderr } = await doctor(config, { home, args: ['--strict'] });

    expect([code, numberAt(report, 'problems'), numberAt(report, 'warnings'), stderr]).toEqual([0, 0, 0, '']);
    const levels = listAt(report, 'findings').map((one) => textAt(one, 'level'));
    expect(levels.filter((level) => level !== 'ok' && level !== 'note')).toEqual([]);
    expect(found('config')).toEqual([`ok ${config}: It has 2 usable servers. It is named by --config.`]);
    expect(found('commands')).toEqual([`ok plain: ${JSON.stringify(process.execPath)} is there.`]);
    expect(found('servers')).toEqual([
      expect.stringMatching(/^ok plain: Up after \d+ ms, with 2025-11-25 \(legacy\): \d+ tools\.$/),
      expect.stringMatching(/^ok distant: Up after \d+ ms, with 2026-07-28 \(modern\): \d+ tools?\.$/),
    ]);
    expect(found('hints')[0]).toMatch(/^note plain: \d+ of \d+ tools declare no readOnlyHint \(/);
    expect(found('isolation')).toEqual([
      'ok all servers: No server that clients share asks its client for anything at its start.',
    ]);
    expect([readdirSync(home), statSync(home).mtimeMs]).toEqual(before);
    expect(execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })).not.toContain(label);
  });

  it('finds rules by token that a client evades by sending none', async () => {
    const policy = { rules: [{ effect: 'refuse', token: 'ci', name: 'no ci' }] };
    const config = writeConfig({ plain: fixture('plain') }, { policy });
    chmodSync(config, 0o600);
    const evaded = /^warning policy: Clients may call without a token, .*: "no ci"\.$/;
    const { found } = await doctor(config, { args: ['--offline'] });
    expect(found('config')).toContainEqual(expect.stringMatching(evaded));
    const closed = writeConfig({}, { policy, settings: { 'mcp.access': 'token' } });
    expect((await doctor(closed, { args: ['--offline'] })).found('config').join()).not.toContain('no ci');
  });

  it('reports for every broken server its cause and what to do, and never a secret', async () => {
    const env = { API_TOKEN: MARKER };
    const headers = { Authorization: `Bearer ${MARKER}` };
    const label = `--label=${randomUUID()}`;
    const config = writeConfig({
      absent: { command: 'no-such-command-anywhere', args: [`--token=${MARKER}`], env },
      lost: fixture('plain', [label], { cwd: '/no/such/folder', env }),
      crashing: script('console.error("no disk for", process.env.API_TOKEN); process.exit(3)', { env }),
      unwelcome: { url: await refusing(401), headers },
      closed: { url: `http://127.0.0.1:1/mcp?key=${MARKER}`, headers },
      unset: fixture('plain', [], { env: { X: '${TEST_NOT_SET}' } }),
      bad: 7,
      plain: fixture('plain', [label], { env }),
      hanging: fixture('hanger'),
      // Its twin cannot write outside of its roots.
      writing: {
        ...{ command: '/bin/sh', cwd: tempDir(), sandbox: 'twin' },
        args: ['-c', `echo > ${tempDir()}/started && exec "$0" "$1"`, ...plainCommand()],
      },
    });
    chmodSync(config, 0o644);

    const { code, report, found, stdout, stderr } = await doctor(config);

    expect(code).toBe(1);
    expect(found('config').map((line) => line.replaceAll(config, 'FILE'))).toEqual([
      expect.stringMatching(
        /^problem FILE:\d+:\d+: mcpServers\.unset\.env\.X: the environment variable TEST_NOT_SET is not set; it is left out\.$/,
      ),
      expect.stringMatching(
        /^problem FILE:\d+:\d+: mcpServers\.bad: this is not an object; it is left out\.$/,
      ),
      expect.stringMatching(
        /^warning FILE: It contains what looks like a secret \(mcpServers\.absent\.env\.API_TOKEN, .*\(mode 644\)\.$/,
      ),
      'warning FILE: Arguments contain what looks like a secret (mcpServers.absent.args[0]). Other users of this machine can see the arguments of running programs.',
      'ok FILE: It has 8 usable servers. It is named by --config.',
    ]);
    expect(found('commands').filter((line) => line.startsWith('problem'))).toEqual([
      'problem absent: The command "no-such-command-anywhere" was not found in any folder of PATH, so the server cannot be started.',
      'problem lost: Its working folder "/no/such/folder" does not exist, so it cannot be started.',
    ]);
    expect(found('servers')).toEqual([
      'problem crashing: Down, so its tools are missing: exited with code 3: no disk for [masked].',
      'problem unwelcome: Down, so its tools are missing: it answers HTTP 401: the credentials were rejected; set "headers" in its config entry.',
      'problem closed: Down, so its tools are missing: nothing is listening at its address (ECONNREFUSED).',
      'problem hanging: Down, so its tools are missing: it did not start within 10000 ms.',
      expect.stringMatching(/^ok plain: /),
      expect.stringMatching(/^ok writing: /),
    ]);
    expect(found('sandbox')).toEqual([
      expect.stringMatching(
        /^problem writing: The process for its read-only tools did not start in its sandbox, so their calls are refused: /,
      ),
      'ok writing: Its sandbox can be enforced on this machine.',
    ]);
    expect(numberAt(report, 'problems')).toBe(9);
    for (const one of listAt(report, 'findings'))
      if (textAt(one, 'level') !== 'ok') expect(textAt(one, 'remedy').length).toBeGreaterThan(10);
    expect(stdout + stderr).not.toContain(MARKER);
    expect(execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })).not.toContain(label);
  });

  it('reports colliding tools, and servers that need something from their client', async () => {
    const config = privateConfig({
      a: fixture('named', ['b_c']),
      a_b: fixture('named', ['c']),
      files: installed('filesystem', [tempDir()]),
    });
    const { code, found } = await doctor(config);
    expect(code).toBe(0);
    expect(found('names')).toEqual([
      expect.stringMatching(
        /^warning all servers: a\.b_c is called a_b_c_\w+: the name a_b_c is ambiguous\.$/,
      ),
      expect.stringMatching(
        /^warning all servers: a_b\.c is called a_b_c_\w+: the name a_b_c is ambiguous\.$/,
      ),
    ]);
    expect(found('isolation')).toEqual([
      'note files: It asks its client for roots/list. A process that several clients share is offered none of that.',
    ]);
    expect((await doctor(config, { args: ['--strict'] })).code).toBe(1);
  });

  it('reports what is printed to stdout instead of messages', async () => {
    const plain = fixture('plain');
    const args = [...listAt(plain, 'args')].map(String);
    const text = `console.log("Welcome"); import(${JSON.stringify(args[0])})`;
    const { found } = await doctor(privateConfig({ noisy: script(text) }));
    expect(found('servers')).toEqual([
      'warning noisy: At its start: server sent something that is not a JSON-RPC message; it is ignored.',
      expect.stringMatching(/^ok noisy: /),
    ]);
  });

  it('starts nothing if told not to', async () => {
    const eventLog = join(tempDir(), 'evidence.jsonl');
    const config = privateConfig({ plain: fixture('plain', [], { env: { FIXTURE_LOG: eventLog } }) });
    const { code, found } = await doctor(config, { args: ['--offline'] });
    expect([code, found('servers'), found('commands').length]).toEqual([0, [], 1]);
    expect(() => readFileSync(eventLog)).toThrow();
  });

  it.each([
    ['is absent', () => '/no/such/mcp.json'],
    ['is no JSON', () => writeText('{ "mcpServers": ')],
    ['names no server', () => writeConfig({})],
    ['names only what cannot be tried', () => writeConfig({ bad: 7 })],
  ])('exits with 3 if the config %s', async (_, config) => {
    const { code, found } = await doctor(config());
    expect(code).toBe(3);
    expect(found('config')[0]).toMatch(/^problem /);
    expect(found('node')[0]).toMatch(/^ok /);
  });

  it('says what determined the config', async () => {
    const home = tempDir();
    const ran = await runAssay(['doctor', '--offline', '--home', home]);
    expect(ran.stdout).toContain('It is mcp.json in the folder set by --home or ASSAY_HOME.');
    const named = await runAssay(['doctor', '--offline'], {
      env: { ASSAY_CONFIG: '/no/such', ASSAY_HOME: home },
    });
    expect(named.stdout).toContain('It is named by ASSAY_CONFIG.');
    expect(readdirSync(home)).toEqual([]);
  });

  it('finds a home that is a file, one accessible to others, and one that does not exist', async () => {
    const config = privateConfig({ plain: fixture('plain') });
    const args = ['--offline'];
    const file = writeText('x', 'file.txt');
    expect((await doctor(config, { args, home: file })).found('disk')).toEqual([
      `problem ${file}: The home is not a folder, so nothing can be stored there.`,
    ]);
    const open = tempDir();
    chmodSync(open, 0o755);
    expect((await doctor(config, { args, home: open })).found('disk')[0]).toMatch(
      /^warning .*: Other users of this machine can access the home \(mode 755\)/,
    );
    const absent = join(tempDir(), 'deep', 'home');
    expect((await doctor(config, { args, home: absent })).found('disk')).toEqual([
      `ok ${absent}: The home does not exist yet; the first start creates it, accessible only to you.`,
    ]);
    expect(() => statSync(absent)).toThrow();
  });

  it('finds a store that is intact, damaged or unreachable, and leaves it unchanged', async () => {
    const config = privateConfig({ plain: fixture('plain') });
    const args = ['--offline'];
    const home = tempDir();
    const path = join(home, 'assay.db');
    const database = openDatabase(path, { mode: 'create' });
    database.exec('pragma journal_mode = WAL');
    database.exec('create table notes (text)');
    database.close();
    const before = readFileSync(path);
    expect((await doctor(config, { args, home })).found('disk').at(-1)).toBe(
      `ok ${path}: The store can be read and is whole.`,
    );
    expect([readdirSync(home), readFileSync(path).equals(before)]).toEqual([['assay.db'], true]);
    const newer = openDatabase(path, { mode: 'write' });
    newer.exec('create table assay_migrations (version integer, edition integer, applied_ms integer)');
    newer.exec(`insert into assay_migrations values (1000, ${SCHEMA_EDITION}, 0)`);
    expect((await doctor(config, { args, home })).found('disk')[0]).toBe(
      `problem ${path}: A newer Assay wrote the store, so this one does not touch it.`,
    );
    newer.exec('alter table assay_migrations drop column edition');
    newer.close();
    const earlier = readFileSync(path);
    expect((await doctor(config, { args, home })).found('disk')).toContainEqual(
      expect.stringMatching(/^warning .*assay\.db: An earlier build of Assay created the store/),
    );
    expect([readdirSync(home), readFileSync(path).equals(earlier)]).toEqual([['assay.db'], true]);
    writeFileSync(path, 'no database '.repeat(200));
    expect((await doctor(config, { args, home })).found('disk')[0]).toBe(
      `problem ${path}: The store cannot be used (its file is damaged, and the next start sets it aside), so nothing can be kept in it.`,
    );
    const env = { ASSAY_DATABASE_URL: `postgres://me:${MARKER}@127.0.0.1:1/assay` };
    const { stdout, found } = await doctor(config, { args, env });
    expect(found('disk')[0]).toBe(
      'problem 127.0.0.1:1/assay: The store cannot be used (nothing listens there), so nothing can be kept in it.',
    );
    expect(stdout).not.toContain(MARKER);
  });

  it('finds a low limit of open files', () => {
    const args = ['doctor', '--offline', '--config', privateConfig({ plain: fixture('plain') })];
    const command = ['-c', 'ulimit -n 256 && exec "$@"', 'sh', process.execPath, MAIN, ...args];
    const said = execFileSync('sh', [...command, '--home', tempDir()], { encoding: 'utf8' });
    expect(said).toContain('! warning  open files: Only 256 files may be open at a time');
  });

  it('is readable without color, with a symbol and a word before each finding, and its remedy below', async () => {
    const config = privateConfig({ absent: { command: 'no-such-command-anywhere' } });
    const { code, stdout } = await runAssay(['doctor', '--offline', '--config', config, '--home', tempDir()]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      [
        'commands',
        '  ✗ problem  absent: The command "no-such-command-anywhere" was not found in any folder of PATH, so the server cannot be started.',
        '               Install it. If it is installed, write its absolute path as "command", or set PATH in "env".',
        '',
      ].join('\n'),
    );
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 problem, 0 warnings');
  });
});

it('warns of a server outside a sandbox whose folder contains the token for the REST API', async () => {
  const [parent, other] = [tempDir(), tempDir()];
  const home = join(parent, 'home');
  mkdirSync(home, { mode: 0o700 });
  const config = writeConfig({ near: fixture('plain', [parent]), far: fixture('plain', [other]) });
  const without = await doctor(config, { home, args: ['--offline'] });
  expect(without.found('sandbox')).toEqual([]);
  writeFileSync(join(home, 'admin-token'), 'assay_x', { mode: 0o600 });
  const { found } = await doctor(config, { home, args: ['--offline'] });
  expect(found('sandbox')).toEqual([
    expect.stringContaining(`warning near: Its argument "${parent}" contains the data folder of Assay`),
  ]);
});

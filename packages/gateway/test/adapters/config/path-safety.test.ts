import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectAll } from '../../../src/app/sources.ts';
import { formatCause } from '../../../src/core/cause.ts';
import { createReachRules } from '../../../src/core/reach-rules.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { withEnvironment } from '../../../src/app/environment.ts';
import { loadConfig } from '../../../src/adapters/config/load-config.ts';
import {
  findPathFault,
  isPrivateGroup,
  findUnsafePath,
  type Rights,
} from '@assay-mcp/kit/platform/path-safety';
import { tempDir } from '../../../../../test/support/paths.ts';

const done = (): Promise<Result<undefined, Refusal>> => Promise.resolve(ok(undefined));
const noServer = (): Promise<never> => Promise.reject(new Error('there is no MCP server here'));
const ME = 1000;
const at = (path: string, mode: number, uid = ME, gid = ME): Rights => ({ path, mode, uid, gid });
const HOME = [
  at('/home/me/.assay', 0o700),
  at('/home/me', 0o755),
  at('/home', 0o755, 0, 0),
  at('/', 0o755, 0, 0),
];
const owner = { uid: ME, isPrivateGroup: (gid: number) => gid === ME };

it.each<[string, readonly Rights[], string | undefined]>([
  ['a file of the user below folders of root', [at('/home/me/.assay/mcp.json', 0o600), ...HOME], undefined],
  ['a file that others may read', [at('/f', 0o644)], undefined],
  ['umask 002 with a group of the user alone', [at('/f', 0o664), at('/d', 0o775)], undefined],
  ['a file of root', [at('/etc/assay/mcp.json', 0o644, 0, 0)], undefined],
  ['a file in /tmp', [at('/tmp/mcp.json', 0o644), at('/tmp', 0o1777, 0, 0)], undefined],
  ['a file that all may write', [at('/f', 0o666)], 'is writable by every user (mode 666): chmod go-w /f'],
  ['a folder that all may write', [at('/h', 0o777)], 'is writable by every user (mode 777): chmod go-w /h'],
  ['a sticky home', [at('/h', 0o1777)], 'is writable by every user (mode 1777): chmod go-w /h'],
  [
    'a folder above',
    [at('/a/f', 0o600), at('/a', 0o777)],
    'is writable by every user (mode 777): chmod go-w /a',
  ],
  ['a group of several', [at('/f', 0o664, ME, 50)], 'is writable by its group (mode 664): chmod g-w /f'],
  ['another user', [at('/f', 0o600, 1001)], 'belongs to another user (uid 1001): sudo chown 1000 /f'],
  [
    'a folder of another user',
    [at('/a/f', 0o600), at('/a', 0o755, 7)],
    'belongs to another user (uid 7): sudo chown 1000 /a',
  ],
  [
    'a name with a quote',
    [at("/it's", 0o666)],
    "is writable by every user (mode 666): chmod go-w '/it'\\''s'",
  ],
])('%s', (_, chain, expected) => {
  const fault = findPathFault(chain, owner);
  expect(fault && `${fault.reason}: ${fault.command}`).toBe(expected);
});

it('root accepts files that another user owns, as in a container, but not world-writable ones', () => {
  const root = { uid: 0, isPrivateGroup: () => false };
  expect(findPathFault([at('/f', 0o644)], root)).toBeUndefined();
  expect(findPathFault([at('/f', 0o666)], root)?.reason).toBe('is writable by every user (mode 666)');
});

it('a group is private if the user is its only member and no other user has it as primary group', () => {
  const users = 'root:x:0:0:::\nme:x:1000:1000:::\nyou:x:1001:50:::\n';
  const groups = 'root:x:0:\nme:x:1000:\nmine:x:60:me\nstaff:x:50:\nours:x:70:me,you\n';
  const privateOnes = [1000, 60, 50, 70, 99].filter((gid) => isPrivateGroup({ gid, uid: ME, groups, users }));
  expect(privateOnes).toEqual([1000, 60]);
});

const around = (home: string): Parameters<typeof loadConfig>[1] => ({ env: {}, cwd: home, home });

it('a world-writable config is not loaded, and the error says what to do', async () => {
  const home = tempDir();
  const path = join(home, 'mcp.json');
  writeFileSync(path, '{"mcpServers":{}}');
  expect(loadConfig(path, around(home))).toMatchObject({ ok: true });
  chmodSync(path, 0o666);
  const error = {
    code: 'PATH_UNSAFE',
    path,
    at: path,
    reason: 'is writable by every user (mode 666)',
    command: `chmod go-w ${path}`,
  };
  expect(loadConfig(path, around(home))).toEqual({ ok: false, error });
  expect(loadConfig(path, { ...around(home), env: { ASSAY_FILE_CHECKS: 'off' } })).toMatchObject({
    ok: true,
  });
  chmodSync(path, 0o600);
  chmodSync(home, 0o777);
  // The folders above are looked at up to the home of the user.
  expect(loadConfig(path, around(home))).toMatchObject({ ok: false, error: { at: home } });
});

it('no command starts with a world-writable home', async () => {
  const home = join(tempDir(), 'home');
  mkdirSync(home);
  chmodSync(home, 0o777);
  const options = { home, isQuiet: true, transport: 'pipe' } as const;
  expect(await withEnvironment(options, done)).toMatchObject({
    ok: false,
    error: { code: 'PATH_UNSAFE', at: home },
  });
  chmodSync(home, 0o700);
  expect(await withEnvironment(options, done)).toMatchObject({ ok: true });
  expect(findUnsafePath(join(home, 'absent'), around('/'))).toBeUndefined();
});

it.each(['encryption.key', 'admin-token', 'assay.db', 'assay.db-wal'])(
  'no command starts with a world-writable %s, and the read permissions of others are removed',
  async (name) => {
    const home = tempDir();
    const path = join(home, name);
    writeFileSync(path, '');
    const options = { home, isQuiet: true, transport: 'pipe' } as const;
    chmodSync(path, 0o666);
    const error = { code: 'PATH_UNSAFE', at: path, command: `chmod go-w ${path}` };
    expect(await withEnvironment(options, done)).toMatchObject({ ok: false, error });
    chmodSync(path, 0o644);
    expect(await withEnvironment(options, done)).toMatchObject({ ok: true });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  },
);

const SIGNAL = new AbortController().signal;
const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} };

it('world-writable function modules, documents and files that they refer to are refused, each with the reason', async () => {
  const folder = tempDir();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const module = file('tools.mjs', `throw new Error('it was run');`);
  const other = file('other.json', '{"type":"object"}');
  const pets = { get: { operationId: 'pets', parameters: [{ $ref: './other.json' }], responses: {} } };
  const info = { title: 'Pets', version: '1' };
  const servers = [{ url: 'https://example.com' }];
  const document = file(
    'api.json',
    JSON.stringify({ openapi: '3.1.0', info, servers, paths: { '/pets': pets } }),
  );
  const config = file(
    'mcp.json',
    JSON.stringify({ functions: [module], mcpServers: { api: { openapi: document } } }),
  );
  const skippedWith = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const here = { ...around(folder), env };
    const loaded = loadConfig(config, here);
    if (!loaded.ok) throw new Error(loaded.error.code);
    const sources = connectAll({
      upstream: { stdio: noServer, http: noServer },
      ...{ log: NO_LOG, mask: (text: string) => text, home: join(folder, 'home'), configEnvironment: here },
      configPath: config,
      rules: createReachRules({ isOnNetwork: false, allowLoopback: false, allowPrivate: false }),
    });
    const events = { changed() {}, drained() {}, said() {}, ended() {}, asked() {}, heard() {} };
    const said: string[] = [];
    for (const spec of loaded.value.servers) {
      const link = await sources.connect(spec, {
        events: events as never,
        signal: SIGNAL,
        client: undefined,
      });
      if (link.ok) said.push(...(link.value.skipped ?? []).map(({ why }) => why));
      else said.push(JSON.stringify(formatCause(link.error)));
      if (link.ok) await link.value.close({ code: 'LINK_CLOSED' });
    }
    await sources.close();
    return said;
  };
  const unsafe = (path: string): string =>
    `could be changed by others: ${JSON.stringify(path)} is writable by every user (mode 666); run \`chmod go-w ${path}\`, or set ASSAY_FILE_CHECKS=off if you trust every user of this machine`;
  for (const path of [module, document, other]) chmodSync(path, 0o666);
  const both = (await skippedWith({})).join('\n');
  expect(both).toContain(unsafe(module));
  expect(both).toContain(JSON.stringify(unsafe(document)).slice(1, -1));
  const unchecked = (await skippedWith({ ASSAY_FILE_CHECKS: 'off' })).join('\n');
  expect(unchecked).not.toContain('could be changed by others');
  chmodSync(document, 0o644);
  const others = (await skippedWith({})).join('\n');
  expect(others).toContain(unsafe(module));
  expect(others).toContain(unsafe(other));
});

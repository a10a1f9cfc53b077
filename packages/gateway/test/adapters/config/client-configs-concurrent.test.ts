import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import {
  connectClient,
  type ConnectEnvironment,
} from '../../../src/adapters/config/client-configs/connect-client.ts';
import { importServers } from '../../../src/adapters/config/client-configs/import-servers.ts';
import { moveServers } from '../../../src/adapters/config/client-configs/move-servers.ts';
import { undoConnect } from '../../../src/adapters/config/client-configs/undo-connect.ts';
import { tempDir } from '../../../../../test/support/paths.ts';

const OWN = ['/bin/assay'];
const REQUEST = { client: 'cursor', name: 'assay', url: undefined, project: undefined };
const CONNECT = { ...REQUEST, view: {}, dryRun: false, force: false };
const UNDO = { client: 'cursor', project: undefined, dryRun: false };

let home: string;
let path: string;
let config: string;
beforeEach(() => {
  home = tempDir();
  path = join(home, '.cursor', 'mcp.json');
  config = join(home, '.assay', 'mcp.json');
  for (const file of [path, config]) mkdirSync(dirname(file));
});

/**
 * At the moment when Assay's command is determined, the file has been read and not yet written: others can write it
 * then.
 */
function around(
  meanwhile: () => void = () => undefined,
): ConnectEnvironment & { readonly configPath: string } {
  return {
    env: {},
    home,
    platform: 'linux',
    cwd: home,
    assayHome: join(home, '.assay'),
    options: [],
    tempFolder: '/tmp',
    nowMs: 0,
    configPath: config,
    get ownCommand() {
      meanwhile();
      return OWN;
    },
  };
}

/** Rewrites a file, like a client that counts its starts, during the first calls. */
function counter(file: string, times: number): () => void {
  let count = 0;
  return () => {
    if (count >= times) return;
    count += 1;
    const { starts: _, ...rest } = read(file);
    writeFileSync(file, JSON.stringify({ starts: count, ...rest }));
  };
}

function read(file: string): Readonly<Record<string, unknown>> {
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>)
    : {};
}

const BUSY = {
  code: 'FILE_UNWRITABLE',
  reason: 'it is being changed by another program; try again',
};

it('what a client writes while Assay connects is kept, and undo restores it', async () => {
  writeFileSync(path, '{"mcpServers":{}}');
  expect(await connectClient(CONNECT, around(counter(path, 1)))).toMatchObject({ ok: true });
  expect(read(path)).toEqual({ starts: 1, mcpServers: { assay: expect.anything() as unknown } });
  expect(await undoConnect(UNDO, around())).toMatchObject({ ok: true, value: { change: 'restored' } });
  expect(readFileSync(path, 'utf8')).toBe('{"starts":1,"mcpServers":{}}');
});

it('a file created while Assay connects is kept', async () => {
  expect(await connectClient(CONNECT, around(counter(path, 1)))).toMatchObject({ ok: true });
  expect(read(path)).toEqual({ starts: 1, mcpServers: { assay: expect.anything() as unknown } });
});

it('a file that keeps changing is left alone, and there is nothing to undo', async () => {
  writeFileSync(path, '{}');
  const refusal = { ok: false, error: { ...BUSY, path } };
  expect(await connectClient(CONNECT, around(counter(path, Infinity)))).toEqual(refusal);
  expect(Object.keys(read(path))).toEqual(['starts']);
  expect(readdirSync(dirname(path))).toEqual(['mcp.json']);
  expect(readdirSync(join(home, '.assay', 'backups'))).toEqual([]);
});

it('a refused connect leaves the undo of an earlier one intact', async () => {
  writeFileSync(path, '{}');
  await connectClient(CONNECT, around());
  const connected = readFileSync(path, 'utf8');
  const second = { ...CONNECT, name: 'again' };
  expect(await connectClient(second, around(counter(path, Infinity)))).toMatchObject({ ok: false });
  writeFileSync(path, connected);
  await undoConnect(UNDO, around());
  expect(readFileSync(path, 'utf8')).toBe('{}');
});

it('what a client writes while Assay disconnects is kept', async () => {
  writeFileSync(path, '{}');
  await connectClient(CONNECT, around());
  writeFileSync(path, JSON.stringify({ ...read(path), edited: true }));
  const undone = await undoConnect(UNDO, around(counter(path, 1)));
  expect(undone).toMatchObject({ ok: true, value: { change: 'taken_out' } });
  expect(read(path)).toMatchObject({ starts: 1, edited: true });
  expect(JSON.stringify(read(path))).not.toContain('assay');
});

it("what is written to Assay's own config during an import is kept, or the import is refused without a trace", async () => {
  writeFileSync(path, '{"mcpServers":{"a":{"command":"a"}}}');
  writeFileSync(config, '{}');
  const request = { from: 'cursor', project: undefined, overwrite: false, dryRun: false };
  expect(await importServers(request, around(counter(config, Infinity)))).toEqual({
    ok: false,
    error: { ...BUSY, path: config },
  });
  expect(readdirSync(dirname(config)).toSorted()).toEqual(['backups', 'mcp.json']);
  expect(readdirSync(join(dirname(config), 'backups'))).toEqual([]);
  expect(await importServers(request, around(counter(config, 1)))).toMatchObject({ ok: true });
  expect(read(config)).toMatchObject({ starts: 1, mcpServers: { a: { command: 'a' } } });
});

it("entries that Assay has too are removed from a client's file, and undo restores them byte for byte", async () => {
  const before =
    '{ // mine\n  "mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "own": {"command": "c"}}}';
  writeFileSync(path, before);
  writeFileSync(config, '{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}');
  const moved = await moveServers({ client: 'cursor', project: undefined, except: ['b'] }, around());
  expect(moved).toEqual({ ok: true, value: { client: 'Cursor', files: [{ path, names: ['a'] }] } });
  expect(readFileSync(path, 'utf8')).toBe(before.replace('"a": {"command": "a"},', ''));
  await connectClient(CONNECT, around());
  expect(await undoConnect(UNDO, around())).toMatchObject({ ok: true, value: { change: 'restored' } });
  expect(readFileSync(path, 'utf8')).toBe(before);
});

it('restored entries are added to what the client has written since', async () => {
  writeFileSync(path, '{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}');
  writeFileSync(config, '{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}');
  await connectClient(CONNECT, around());
  await moveServers({ client: 'cursor', project: undefined, except: [] }, around(counter(path, 1)));
  writeFileSync(path, JSON.stringify({ ...read(path), b: 'new', starts: 9 }));
  expect(await undoConnect(UNDO, around())).toMatchObject({
    value: { change: 'taken_out', names: ['assay'], restored: ['a', 'b'] },
  });
  expect(read(path)).toEqual({
    starts: 9,
    b: 'new',
    mcpServers: { a: { command: 'a' }, b: { command: 'b' } },
  });
});

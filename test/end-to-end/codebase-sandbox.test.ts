// Code search behind a gateway, in its sandbox: what it can still do, and what its process sees.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call, newRepository, type Peer, writeIn } from '../../packages/codebase/test/hint-checks.ts';
import { EmbeddingService } from '../../packages/codebase/test/embeddings/embedding-service.ts';
import { type Assay, startAssay } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { runAssay } from '../support/commands.ts';
import { endLater, until } from '../support/endings.ts';
import { at, listAt, type Json, type JsonObject } from '../support/json.ts';
import { MAIN, tempDir, writeConfig } from '../support/paths.ts';

/** The process of code search of a home, that is the innermost one. */
function processOf(home: string): string {
  const found = readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const line = readFileOr(`/proc/${pid}/cmdline`).split('\0');
    return line.includes('--confined') && line.includes(realpathSync(home)) && line[0] === process.execPath;
  });
  const pid = found.at(-1);
  if (pid === undefined) throw new Error('code search does not run in a sandbox');
  return pid;
}

function readFileOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function startSearch(
  entry: JsonObject,
  more: { readonly cwd?: string; readonly home?: string } = {},
): Promise<Assay> {
  const assay = await startAssay({
    servers: { codebase: { type: 'codebase', ...entry } },
    ...(more.home !== undefined && { home: more.home }),
    place: { cwd: more.cwd ?? '/' },
  });
  await assay.settled();
  return assay;
}

async function peerOf(assay: Assay, mode: 'legacy' | 'modern'): Promise<Peer> {
  const url = `http://127.0.0.1:${assay.port}/mcp/servers/codebase`;
  return { client: await connectClient({ url }, mode), home: assay.home };
}

/** The working directory chooses the project of the next call. */
async function searchAfterSetting(
  peer: Peer,
  repo: string,
  { isStateless = false, prefix = '' } = {},
): Promise<Json> {
  writeIn(repo, '.codebase-mcp/config.json', '{"version":"1.0","project":{"name":"Shop","id":"shop"}}');
  const indexed = await call(peer, `${prefix}index_repository`, { repo_path: repo, project_id: 'shop' });
  expect(indexed.isError, indexed.text).toBe(false);
  const set = await call(peer, `${prefix}set_working_directory`, { directory: repo });
  expect(at(set.structured, 'project_id')).toBe('shop');
  const named = isStateless ? { project_id: 'shop' } : {};
  const found = await call(peer, `${prefix}search_code`, { query: 'bookRefund', ...named });
  expect(found.isError, found.text).toBe(false);
  return found.structured;
}

it.each([
  ['legacy', false],
  ['modern', true],
] as const)(
  'over HTTP in the %s era, a call searches what the one before it set',
  async (mode, isStateless) => {
    const repo = newRepository();
    const assay = await startSearch({ roots: [repo] });
    const found = await searchAfterSetting(await peerOf(assay, mode), repo, { isStateless });
    expect(listAt(found, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
    processOf(assay.home);
  },
);

it('over stdio, a call searches what the one before it set', async () => {
  const [repo, home] = [newRepository(), tempDir()];
  const config = writeConfig({ codebase: { type: 'codebase', roots: [repo] } });
  const command = [process.execPath, MAIN, 'stdio', '--all', '--config', config, '--home', home];
  const client = await connectClient({ command }, 'legacy');
  await client.listTools();
  const found = await searchAfterSetting({ client, home }, repo, { prefix: 'codebase_' });
  expect(listAt(found, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
  processOf(home);
});

it('its process indexes changed files again in the background', async () => {
  const repo = newRepository();
  const assay = await startSearch({ roots: [repo] });
  const peer = await peerOf(assay, 'modern');
  expect(await call(peer, 'index_repository', { repo_path: repo })).toMatchObject({ isError: false });
  writeIn(repo, 'src/refunds/partial.ts', 'export function bookPartialRefund(): void {}\n');
  const found = await until('the new file is found', async () => {
    const { structured } = await call(peer, 'search_code', { query: 'bookPartialRefund' });
    const [first] = listAt(structured, 'results');
    return first !== undefined && at(first, 'symbol') === 'bookPartialRefund' ? first : undefined;
  });
  expect(found).toMatchObject({ file_path: 'src/refunds/partial.ts' });
  processOf(assay.home);
});

it('its process sees its roots read-only and its indexes, and has no network', async () => {
  const [repo, other] = [newRepository(), tempDir()];
  const assay = await startSearch({ roots: [repo] });
  writeFileSync(join(assay.home, 'secret'), 'of Assay');
  const pid = processOf(assay.home);
  const seen = (path: string): readonly string[] => readdirSync(join('/proc', pid, 'root', path)).toSorted();
  expect(seen(assay.home)).toEqual(['codebase']);
  expect(seen(repo)).toEqual(['notes.txt', 'refunds.ts', 'src']);
  expect(() => seen(other)).toThrow('ENOENT');
  const writable = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , , , options = '']) => options.startsWith('rw'))
    .map(([, , , , path]) => path ?? '')
    .filter((path) => !/^\/(?:proc|dev|sys)(?:\/|$)/.test(path));
  expect(writable).toContain(join(assay.home, 'codebase'));
  expect(writable.filter((path) => [repo, assay.home, '/', '/usr', '/opt'].includes(path))).toEqual([]);
  expect(readlinkSync(`/proc/${pid}/ns/net`)).not.toBe(readlinkSync('/proc/self/ns/net'));
});

it('a folder that a terminal indexes while the gateway runs can be searched at once', async () => {
  const repo = newRepository();
  const assay = await startSearch({});
  const peer = await peerOf(assay, 'modern');
  const refused = await call(peer, 'index_repository', { repo_path: repo });
  expect(refused.text).toMatch(/^ACCESS_DENIED/);
  const indexed = await runAssay(['codebase', 'index', repo, '--home', assay.home]);
  expect(indexed.code, indexed.stderr).toBe(0);
  await until(
    () => 'the folder can be used',
    async () => {
      const answer = await call(peer, 'index_repository', { repo_path: repo });
      return answer.isError ? undefined : answer;
    },
    20_000,
  );
  const found = await call(peer, 'search_code', { query: 'bookRefund' });
  expect(found.isError, found.text).toBe(false);
  expect(listAt(found.structured, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
  processOf(assay.home);
});

it('a client that keeps a working directory is told to connect again for such a folder', async () => {
  const [first, second] = [newRepository(), newRepository()];
  const assay = await startSearch({}, { cwd: first });
  const peer = await peerOf(assay, 'legacy');
  await searchAfterSetting(peer, first);
  expect((await runAssay(['codebase', 'index', second, '--home', assay.home])).code).toBe(0);
  const refused = await call(peer, 'index_repository', { repo_path: second });
  expect(refused.text).toMatch(/^ACCESS_DENIED.* connect it again\.$/);
  expect((await call(peer, 'search_code', { query: 'bookRefund' })).isError).toBe(false);
  const again = await peerOf(assay, 'legacy');
  expect((await call(again, 'index_repository', { repo_path: second })).isError).toBe(false);
});

it('a client may name a root by the link that its operator wrote', async () => {
  const [repo, folder] = [newRepository(), tempDir()];
  mkdirSync(join(folder, 'a'));
  symlinkSync(repo, join(folder, 'a', 'shop'));
  const assay = await startSearch({ roots: [join(folder, 'a', 'shop')] });
  const peer = await peerOf(assay, 'modern');
  const indexed = await call(peer, 'index_repository', { repo_path: join(folder, 'a', 'shop', 'src') });
  expect(indexed.isError, indexed.text).toBe(false);
  processOf(assay.home);
});

it('it reaches its embedding service on this machine, and no other port', async () => {
  const [service, repo] = [await EmbeddingService.start(), newRepository()];
  endLater(() => service.close());
  const { url } = service.settings();
  const env = { ASSAY_CODEBASE_EMBEDDINGS_URL: url, ASSAY_CODEBASE_EMBEDDINGS_KIND: 'ollama' };
  const assay = await startSearch({ roots: [repo], env });
  const peer = await peerOf(assay, 'modern');
  await call(peer, 'index_repository', { repo_path: repo });
  const found = await call(peer, 'search_code', { query: 'money back' });
  expect([at(found.structured, 'mode'), found.text]).toEqual(['hybrid', expect.any(String)]);
  expect(service.requests.length).toBeGreaterThan(0);
  expect(readlinkSync(`/proc/${processOf(assay.home)}/ns/net`)).not.toBe(readlinkSync('/proc/self/ns/net'));
});

it('it reaches the database of its vectors', async () => {
  const [service, repo] = [await EmbeddingService.start(), newRepository()];
  endLater(() => service.close());
  const begun: Buffer[] = [];
  const database = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      begun.push(chunk);
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => database.listen(0, '127.0.0.1', resolve));
  endLater(async () => void database.close());
  const { port } = database.address() as AddressInfo;
  const env = {
    ASSAY_CODEBASE_EMBEDDINGS_URL: service.settings().url,
    ASSAY_CODEBASE_EMBEDDINGS_KIND: 'ollama',
    ASSAY_CODEBASE_VECTORS_URL: `postgres://ada:pw@127.0.0.1:${port}/vectors`,
  };
  const assay = await startSearch({ roots: [repo], env });
  const peer = await peerOf(assay, 'modern');
  const indexed = await call(peer, 'index_repository', { repo_path: repo });
  expect(at(indexed.structured, 'status')).toBe('partial');
  // The start of PostgreSQL's protocol: length, version 3.0, and the user.
  expect(begun[0]?.readInt32BE(4)).toBe(196_608);
  expect(begun[0]?.toString()).toContain('ada');
  processOf(assay.home);
});

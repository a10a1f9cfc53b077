// The folders of code search across processes: what a terminal was told, and what a gateway passes to its server.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { at, listAt } from '../support/json.ts';
import { call, newRepository, type Peer, writeIn } from '../../packages/codebase/test/hint-checks.ts';
import { cleanEnv, startAssay } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { CODEBASE_MAIN, MAIN, tempDir } from '../support/paths.ts';
import { runAssay } from '../support/commands.ts';

it('a server may use what a terminal indexed, and nothing else, if its working folder is /', async () => {
  const [home, told, other] = [tempDir(), newRepository(), newRepository()];
  const indexed = await runAssay(['codebase', 'index', told, '--home', home]);
  expect(indexed.code).toBe(0);
  expect(statSync(join(home, 'codebase-roots.json')).mode & 0o777).toBe(0o600);
  const command = [
    '/bin/sh',
    '-c',
    'cd / && exec "$0" "$@"',
    process.execPath,
    MAIN,
    'codebase',
    '--home',
    home,
  ];
  const peer: Peer = { client: await connectClient({ command }, 'legacy'), home };
  const found = await call(peer, 'search_code', { query: 'bookRefund' });
  expect(listAt(found.structured, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
  expect((await call(peer, 'index_repository', { repo_path: told })).isError).toBe(false);
  const before = readFileSync(join(home, 'codebase-roots.json'), 'utf8');
  for (const repo_path of [other, home, '/']) {
    const refused = await call(peer, 'index_repository', { repo_path });
    expect(refused.text).toMatch(/^ACCESS_DENIED \(repo_path\)/);
  }
  expect(readFileSync(join(home, 'codebase-roots.json'), 'utf8')).toBe(before);
});

it("an entry's roots are the only folders, and the gateway's config in them is left out", async () => {
  const repo = newRepository();
  writeIn(
    repo,
    'conf/assay.json',
    JSON.stringify({ mcpServers: { codebase: { type: 'codebase', roots: ['..'] } } }),
  );
  const assay = await startAssay({ config: join(repo, 'conf', 'assay.json') });
  await assay.settled();
  const url = `http://127.0.0.1:${assay.port}/mcp/servers/codebase`;
  const peer: Peer = { client: await connectClient({ url }, 'modern'), home: assay.home };
  writeFileSync(join(repo, 'conf', 'assay.json.bak'), '{}');
  const answer = await call(peer, 'index_repository', { repo_path: repo });
  expect(at(answer.structured, 'files_total')).toBe(3);
  expect(at(answer.structured, 'skipped')).toEqual({ protected: 2 });
  const refused = await call(peer, 'index_repository', { repo_path: assay.home });
  expect(refused.text).toMatch(/^ACCESS_DENIED \(repo_path\): .*never indexed/);
});

it('assay-codebase alone has the same commands and the same home', async () => {
  const [home, told, other] = [tempDir(), newRepository(), newRepository()];
  const env = cleanEnv({ ASSAY_HOME: home });
  const run = promisify(execFile);
  const index = await run(process.execPath, [CODEBASE_MAIN, 'index', told], { env });
  expect(index.stdout).toMatch(/^Indexed /);
  const found = await runAssay(['codebase', 'search', 'bookRefund', '--json', '--home', home]);
  expect(JSON.parse(found.stdout)).toMatchObject({ results: [{ file_path: 'refunds.ts' }] });
  const command = [process.execPath, CODEBASE_MAIN, '--home', home];
  const peer: Peer = { client: await connectClient({ command }, 'modern'), home };
  const searched = await call(peer, 'search_code', { query: 'bookRefund' });
  expect(listAt(searched.structured, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
  const refused = await call(peer, 'index_repository', { repo_path: other });
  expect(refused.text).toMatch(/^ACCESS_DENIED .*`assay-codebase index`/);
  const unknown = run(process.execPath, [CODEBASE_MAIN, 'search', 'x', '--project', 'p'], { env });
  await expect(unknown).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^assay-codebase: /),
  });
});

it('assay-codebase writes no index into a home that others can change', async () => {
  const home = join(tempDir(), 'shared');
  mkdirSync(home);
  chmodSync(home, 0o777);
  const indexing = promisify(execFile)(process.execPath, [CODEBASE_MAIN, 'index', newRepository()], {
    env: cleanEnv({ ASSAY_HOME: home }),
  });
  const stderr = expect.stringContaining(
    'is writable by every user (mode 777), so others could read what is indexed',
  );
  await expect(indexing).rejects.toMatchObject({ code: 3, stderr });
  expect(readdirSync(home)).toEqual([]);
});

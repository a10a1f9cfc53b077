// The server and an official client run in this process, connected in memory. Only the indexing threads are real.
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../src/settings.ts';
import { FAULT_KEY } from '../src/tools/tool.ts';
import { endLater, until } from '../../../test/support/endings.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../../../test/support/json.ts';
import { ROOT, tempDir } from '../../../test/support/paths.ts';
import { EmbeddingService } from './embeddings/embedding-service.ts';
import { connected } from './support/connected.ts';
import {
  type Answer,
  call,
  index,
  newRepository,
  type Peer,
  snapshot,
  SOURCES,
  writeIn,
} from './hint-checks.ts';

let peer: Peer;
beforeAll(async () => {
  peer = await connected();
});

describe('arguments', () => {
  const wrong: readonly (readonly [string, JsonObject, string, string])[] = [
    ['search_code', {}, 'query', 'It is missing.'],
    ['search_code', { query: ' \n' }, 'query', 'It must not be blank.'],
    ['search_code', { query: 1 }, 'query', 'It must be a string.'],
    ['search_code', { query: 'x'.repeat(2_001) }, 'query', 'It must have at most 2000 characters.'],
    ...[0, -1, 51, 1.5, '51', '1.5', 'ten'].map(
      (limit) =>
        ['search_code', { query: 'x', limit }, 'limit', 'It must be a whole number from 1 to 50.'] as const,
    ),
    [
      'search_code',
      { query: 'x', repository_id: 'abc' },
      'repository_id',
      'It must be a UUID, as index_repository returns it.',
    ],
    ...['.py', '', 'x'.repeat(21), 'a/b', 'a b'].map(
      (file_type) =>
        [
          'search_code',
          { query: 'x', file_type },
          'file_type',
          'It must be an extension of 1 to 20 characters without a leading dot.',
        ] as const,
    ),
    ...['../x', "'; DROP TABLE files; --", 'A_b', '-a', 'a--b', '', 'x'.repeat(51)].map(
      (project_id) =>
        [
          'search_code',
          { query: 'x', project_id },
          'project_id',
          'It must be lowercase letters, digits and single hyphens between them, 1 to 50 characters, such as "my-app".',
        ] as const,
    ),
    ['search_code', { query: 'x', exact: true, regex: true }, 'regex', 'It cannot be combined with exact.'],
    [
      'search_code',
      { query: '(', regex: true },
      'query',
      'The regular expression is invalid: missing closing ): `(`.',
    ],
    ['search_code', { query: 'x', repository: 'y' }, 'repository', 'There is no such argument.'],
    ['index_repository', { repo_path: '' }, 'repo_path', 'The path is empty.'],
    ['index_repository', { repo_path: 'src' }, 'repo_path', '"src" is not an absolute path.'],
    ['index_repository', { repo_path: '/a\0b' }, 'repo_path', 'The path contains a NUL character.'],
    [
      'index_repository',
      { repo_path: join(ROOT, 'package.json') },
      'repo_path',
      /is not a directory\.$/.source,
    ],
    [
      'index_repository',
      { repo_path: ROOT, force_reindex: 'yes' },
      'force_reindex',
      'It must be true or false.',
    ],
    ['set_working_directory', { directory: '.' }, 'directory', '"." is not an absolute path.'],
  ];

  it.each(wrong)('%s refuses %j: %s', async (tool, args, field, message) => {
    const before = snapshot(peer.home);
    const { isError, content, _meta } = await peer.client.callTool({ name: tool, arguments: args });
    const fault = _meta?.[FAULT_KEY] as Json;
    expect({ isError, code: at(fault, 'code'), field: at(fault, 'field') }).toEqual({
      isError: true,
      code: 'VALIDATION_ERROR',
      field,
    });
    expect(textAt(fault, 'message')).toMatch(
      message.startsWith('is not') ? /is not a directory\.$/ : literally(message),
    );
    expect(textAt(fault, 'remedy')).toMatch(/^[A-Z].*[.?]$/);
    expect(content[0]).toMatchObject({
      text: expect.stringContaining(`VALIDATION_ERROR (${field}): `) as string,
    });
    expect(snapshot(peer.home)).toEqual(before);
  });

  it('null counts as absent', async () => {
    const args = {
      query: 'x',
      project_id: null,
      repository_id: null,
      file_type: null,
      directory: null,
      limit: null,
    };
    expect((await call(peer, 'search_code', args)).text).toMatch(/^NOT_INDEXED: /);
  });

  it('digits count as the integer that they write', async () => {
    expect((await call(peer, 'search_code', { query: 'x', limit: '10' })).text).toMatch(/^NOT_INDEXED: /);
    expect((await call(peer, 'search_code', { query: '10', limit: '10' })).text).toMatch(/^NOT_INDEXED: /);
  });

  it('of a wrong name get the name that was meant', async () => {
    const { text } = await call(peer, 'search_code', { query: 'x', repository: 'y' });
    expect(text).toContain('Did you mean "repository_id"?');
  });
});

function literally(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}

describe('an indexed project', () => {
  const repo = newRepository();
  let indexed: Json;
  beforeAll(async () => {
    indexed = await index(peer, { repo, project: 'shop' });
  });

  it('was reported with every field', () => {
    expect(indexed).toEqual({
      repository_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      files_indexed: 3,
      files_deleted: 0,
      files_total: 3,
      chunks_created: expect.any(Number) as number,
      duration_seconds: expect.any(Number) as number,
      project_id: 'shop',
      database_name: 'shop/index.db',
      status: 'success',
      errors: [],
      skipped: {},
      skipped_largest: [],
    });
  });

  it('can be searched, and a result has every field', async () => {
    const { structured, text } = await call(peer, 'search_code', { query: 'bookRefund', project_id: 'shop' });
    expect(structured).toMatchObject({
      total_count: listAt(structured, 'results').length,
      project_id: 'shop',
      database_name: 'shop/index.db',
      latency_ms: expect.any(Number) as number,
      mode: 'lexical',
      truncated: false,
    });
    expect(listAt(structured, 'results')[0]).toMatchObject({
      chunk_id: expect.any(String) as string,
      file_path: 'refunds.ts',
      content: SOURCES['refunds.ts']?.trimEnd(),
      start_line: 1,
      end_line: 3,
      similarity_score: expect.any(Number) as number,
      symbol: 'bookRefund',
      kind: 'function',
      language: 'typescript',
      lines: [1, 2, 3],
    });
    expect(at(listAt(structured, 'results')[0], 'state')).toBeUndefined();
    expect(at(listAt(structured, 'files')[0], 'chunks')).toEqual(['1-3 function bookRefund']);
    expect(text).toContain('\nrefunds.ts:1-3 function bookRefund\n1\texport function bookRefund(');
  });

  it('is searched for literal text and regular expressions', async () => {
    const find = async (args: JsonObject): Promise<Json> =>
      (await call(peer, 'search_code', { project_id: 'shop', ...args })).structured;
    const exact = await find({ query: 'return -amount;', exact: true });
    expect(exact).toMatchObject({ mode: 'exact', matches: { lines: 1, files: 1, is_complete: true } });
    expect(listAt(exact, 'results')[0]).toMatchObject({ file_path: 'refunds.ts', lines: [2] });
    const regex = await find({ query: '^(export|def)\\b.*[({]$|:$', regex: true, file_type: 'py' });
    expect(listAt(regex, 'results')).toMatchObject([{ file_path: 'src/orders.py', lines: [1] }]);
  });

  it('can be filtered by repository, extension and directory', async () => {
    const found = async (filter: JsonObject): Promise<readonly unknown[]> => {
      const args = { query: 'amount order fox', project_id: 'shop', ...filter };
      return listAt((await call(peer, 'search_code', args)).structured, 'results').map((one) =>
        at(one, 'file_path'),
      );
    };
    expect((await found({})).toSorted()).toEqual(['notes.txt', 'refunds.ts', 'src/orders.py']);
    expect(await found({ file_type: 'py' })).toEqual(['src/orders.py']);
    expect(await found({ directory: 'src' })).toEqual(['src/orders.py']);
    expect(await found({ directory: 'sr_' })).toEqual([]);
    expect(await found({ repository_id: textAt(indexed, 'repository_id'), limit: 1 })).toHaveLength(1);
    expect(
      (await call(peer, 'search_code', { query: 'x', project_id: 'shop', repository_id: randomUUID() })).text,
    ).toMatch(/^NOT_FOUND \(repository_id\): /);
  });

  it('is separate from another project, even of the same repository', async () => {
    await index(peer, { repo, project: 'other' });
    writeIn(repo, 'later.ts', 'export const laterOnly = 1;\n');
    await index(peer, { repo, project: 'other' });
    const search = async (project_id: string): Promise<number> =>
      listAt((await call(peer, 'search_code', { query: 'laterOnly', project_id })).structured, 'results')
        .length;
    expect(await search('other')).toBe(1);
    expect(await search('shop')).toBe(0);
    rmSync(join(repo, 'later.ts'));
    await index(peer, { repo, project: 'other' });
    expect(await search('other')).toBe(0);
  });

  it('is described by index_status and the resources', async () => {
    const { structured, text } = await call(peer, 'index_status', { project_id: 'shop' });
    expect(structured).toMatchObject({
      is_indexed: true,
      is_running: false,
      run: null,
      repositories: [{ path: repo, files: 3 }],
      projects: expect.arrayContaining(['shop']) as string[],
    });
    expect(text).toContain(repo);
    const health = await peer.client.readResource({ uri: 'health://status' });
    expect(JSON.parse(textAt(health.contents[0] as Json, 'text'))).toMatchObject({ status: 'ok', runs: 0 });
    const metrics = await peer.client.readResource({ uri: 'metrics://prometheus' });
    expect(textAt(metrics.contents[0] as Json, 'text')).toMatch(
      /^assay_codebase_tool_calls_total\{tool="index_repository",outcome="OK"\} \d+$/m,
    );
  });
});

it('searching a project without an index says what to do, and creates nothing', async () => {
  const fresh = await connected();
  expect((await call(fresh, 'search_code', { query: 'x' })).text).toMatch(/^NOT_INDEXED: .*index_repository/);
  expect((await call(fresh, 'index_status', {})).structured).toMatchObject({
    is_indexed: false,
    projects: [],
  });
  expect(existsSync(join(fresh.home, 'codebase'))).toBe(false);
});

it('a server with an embedding service also searches by meaning, and reports if that fails', async () => {
  const service = await EmbeddingService.start();
  endLater(() => service.close());
  const hybrid = await connected({ env: { ASSAY_CODEBASE_EMBEDDINGS_URL: `${service.url}/api/embed` } });
  const repo = newRepository();
  await index(hybrid, { repo, project: 'shop' });
  const search = (): Promise<Answer> =>
    call(hybrid, 'search_code', { query: 'give the amount back', project_id: 'shop' });
  const asked = service.requests.length;
  expect((await search()).structured).toMatchObject({ mode: 'hybrid', notes: [] });
  expect(service.requests.length).toBe(asked + 1);
  service.script.push({ kind: 'status', status: 500 });
  expect((await search()).structured).toMatchObject({
    mode: 'lexical',
    notes: [expect.stringMatching(/^Searched by words only\. .*500/) as string],
  });
});

it.each([
  [
    { ASSAY_CODEBASE_THREADS: '0' },
    { problem: 'is not valid.', remedy: 'Set it to a whole number from 1 to 16, or unset it.' },
  ],
  [
    { ASSAY_CODEBASE_MAX_FILE_SIZE: '1' },
    { problem: 'is not a setting.', remedy: 'Did you mean ASSAY_CODEBASE_MAX_FILE_BYTES?' },
  ],
])('the settings %j are refused', (env, fault) => {
  const [setting] = Object.keys(env);
  expect(readSettings(env)).toEqual({ ok: false, error: { setting, ...fault } });
});

it('the largest files that were skipped are named by both tools, five at most', async () => {
  const repo = newRepository();
  for (let at = 1; at <= 6; at += 1) writeIn(repo, `big/${at}.ts`, '\n'.repeat(2 * 1024 * 1024 + at));
  writeIn(repo, 'packed.ts', `var a=1;${'b();'.repeat(1_000)}\n${'c();'.repeat(1_000)}`);
  const args = { repo_path: repo, project_id: 'large' };
  const { structured, text } = await call(peer, 'index_repository', args);
  const largest = [6, 5, 4, 3, 2].map((at) => ({
    ...{ path: `big/${at}.ts`, size_bytes: 2 * 1024 * 1024 + at, reason: 'too_large' },
  }));
  expect(structured).toMatchObject({ skipped: { too_large: 6, minified: 1 }, skipped_largest: largest });
  const sentence = 'Largest files skipped: "big/6.ts" (2049 KiB, too_large), "big/5.ts"';
  expect(text).toContain(sentence);
  for (const { path } of largest) rmSync(join(repo, path));
  const status = await call(peer, 'index_status', { project_id: 'large' });
  expect(status.text).toContain(sentence);
  await call(peer, 'index_repository', args);
  expect((await call(peer, 'index_status', { project_id: 'large' })).structured).toMatchObject({
    repositories: [
      {
        last_run: {
          skipped_largest: [
            { path: 'big/1.ts', reason: 'too_large' },
            { path: 'packed.ts', reason: 'minified' },
          ],
        },
      },
    ],
  });
});

it('indexing an empty directory fails, and says why', async () => {
  const answer = await call(peer, 'index_repository', { repo_path: tempDir(), project_id: 'empty' });
  expect(answer).toMatchObject({ isError: true, structured: { status: 'failed', files_indexed: 0 } });
  expect(answer.text).toContain('the directory is empty');
});

it('a long run reports increasing progress, stops when cancelled, and keeps the previous index', async () => {
  const project_id = 'long';
  const repo = newRepository();
  await index(peer, { repo, project: project_id });
  const source = SOURCES['refunds.ts'] ?? '';
  for (let file = 0; file < 3_000; file += 1)
    writeIn(repo, `many/${file}.ts`, source.replace('bookRefund', `f${file}`));
  const reported: number[] = [];
  const cancelling = new AbortController();
  const name = 'index_repository';
  const run = peer.client.callTool(
    { name, arguments: { repo_path: repo, project_id } },
    {
      signal: cancelling.signal,
      onprogress: ({ progress }) => {
        reported.push(progress);
        if (progress > 1) cancelling.abort();
      },
    },
  );
  await expect(run).rejects.toThrow();
  expect(reported).toEqual(reported.toSorted((a, b) => a - b));
  expect(new Set(reported).size).toBe(reported.length);
  const status = (): Promise<Json> =>
    call(peer, 'index_status', { project_id }).then(({ structured }) => structured);
  await until(
    'the run has ended',
    async () => (at(await status(), 'run') === null ? true : undefined),
    30_000,
  );
  expect(listAt(await status(), 'repositories')).toMatchObject([{ files: 3 }]);
  const found = await call(peer, 'search_code', { query: 'bookRefund', project_id });
  expect(listAt(found.structured, 'results')[0]).toMatchObject({ file_path: 'refunds.ts' });
});

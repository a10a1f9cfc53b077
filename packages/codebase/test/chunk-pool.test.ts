import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chunkFile } from '../src/chunks/chunk-source.ts';
import { ChunkPool, type ProcessedFile } from '../src/chunks/chunk-pool.ts';
import { walkRepository, type FoundFile } from '../src/files/walk-repository.ts';

const root = mkdtempSync(join(tmpdir(), 'assay-pool-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FILES: Readonly<Record<string, string | Buffer>> = {
  'a.ts': 'export function parseHeader(): void {}\n',
  'b.py': 'def top():\n    pass\n',
  'c.md': '# Title\n',
  'd.test.js': 'test(() => {});\n',
  'e.js': Buffer.from('x\0'),
  'f.js': `var a = "${'x'.repeat(6_000)}";`,
  'g.ts': '',
};

let files: readonly FoundFile[];
beforeAll(async () => {
  for (const [path, bytes] of Object.entries(FILES)) writeFileSync(join(root, path), bytes);
  ({ files } = await walkRepository(root, { maxFileBytes: 10_000 }));
});

async function all(outcomes: AsyncIterable<ProcessedFile>): Promise<readonly ProcessedFile[]> {
  const list: ProcessedFile[] = [];
  for await (const processed of outcomes) list.push(processed);
  return list;
}

test('files are chunked in worker threads and returned in order; known hashes are reported as unchanged', async () => {
  const pool = new ChunkPool({ maxFileBytes: 10_000, threads: 2 });
  try {
    const processed = await all(pool.processAll(files, {}));
    expect(processed.map(({ file }) => file.path)).toEqual(Object.keys(FILES));
    const outcomes = processed.map(({ outcome }) => outcome);
    expect(outcomes[0]).toEqual({
      outcome: 'chunked',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      size: 39,
      mtimeMs: files[0]!.mtimeMs,
      language: 'typescript',
      isTest: false,
      isParsed: true,
      chunks: [
        {
          kind: 'function',
          symbol: 'parseHeader',
          parent: null,
          signature: 'function parseHeader(): void',
          startLine: 1,
          endLine: 1,
          content: 'export function parseHeader(): void {}',
        },
      ],
      terms: [expect.objectContaining({ name: 'parseheader parse header' })],
    });
    expect(outcomes.slice(1)).toMatchObject([
      { language: 'python', isTest: false },
      { language: 'text', isTest: false },
      { language: 'javascript', isTest: true },
      { outcome: 'skipped', reason: 'binary' },
      { outcome: 'skipped', reason: 'minified' },
      { language: 'typescript', chunks: [] },
    ]);

    const hashes = new Map(
      processed.map(({ file, outcome }) => [file.path, 'hash' in outcome ? outcome.hash : undefined]),
    );
    writeFileSync(join(root, 'b.py'), 'def other():\n    pass\n');
    const again = await all(pool.processAll(files, { knownHash: ({ path }) => hashes.get(path) }));
    expect(again.slice(0, 3).map(({ outcome }) => outcome.outcome)).toEqual([
      'unchanged',
      'chunked',
      'unchanged',
    ]);
  } finally {
    await pool.close();
  }
});

test('a file that breaks parsing is split by lines, and one that ends the thread is skipped', async () => {
  const broken = mkdtempSync(join(root, 'broken-'));
  const names = ['a.md', 'throws.md', 'b.md', 'exits.md', 'c.md', 'hangs.md', 'd.md'];
  for (const name of names) writeFileSync(join(broken, name), name);
  const found = names.map((path) => ({
    path,
    absolutePath: join(broken, path),
    size: 1,
    mtimeMs: 1,
    ctimeMs: 1,
  }));
  const script = new URL('../../../test/fixtures/breaking-chunk-worker.ts', import.meta.url);
  const pool = new ChunkPool({ maxFileBytes: 10_000, threads: 2, maxFileMs: 1_000, script });
  try {
    const processed = await all(pool.processAll(found, {}));
    expect(
      processed.map(({ outcome }) => ('chunks' in outcome ? outcome.chunks[0]?.content : outcome)),
    ).toEqual([
      'a.md',
      'throws.md',
      'b.md',
      { outcome: 'skipped', reason: 'failed' },
      'c.md',
      'hangs.md',
      'd.md',
    ]);
  } finally {
    await pool.close();
  }
});

test('a pool whose threads fail to start rejects its files', async () => {
  const script = new URL('../fixtures/absent-worker.ts', import.meta.url);
  const pool = new ChunkPool({ maxFileBytes: 10_000, threads: 1, script });
  await expect(pool.process(files[0]!)).rejects.toThrow('could not be started');
  await pool.close();
});

test('a closed pool rejects pending and later files', async () => {
  const pool = new ChunkPool({ maxFileBytes: 10_000, threads: 1 });
  const pending = expect(pool.process(files[0]!)).rejects.toThrow('closed');
  await pool.close();
  await pending;
  await expect(pool.process(files[0]!)).rejects.toThrow('closed');
});

test('an aborted signal stops the processing of files', async () => {
  const pool = new ChunkPool({ maxFileBytes: 10_000, threads: 1 });
  try {
    await expect(all(pool.processAll(files, { signal: AbortSignal.abort() }))).rejects.toThrow('aborted');
  } finally {
    await pool.close();
  }
});

test('a long line is left out, and the rest of the file is indexed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'assay-long-line-'));
  const path = join(root, 'icons.ts');
  const rest =
    'export function drawIcon(name: string) {\n  const found = ICONS[name];\n  if (found === undefined) throw new Error(name);\n  return paint(found, { width: 16, height: 16, color: "currentColor", title: name });\n}\n\nfunction paint() {}\n';
  writeFileSync(path, `export const ICONS = '${'aGVsbG8'.repeat(9_000)}';\n${rest}`);
  const job = {
    id: 1,
    path: 'icons.ts',
    absolutePath: realpathSync(path),
    knownHash: undefined,
    mayParse: true,
  };
  const outcome = await chunkFile(job, 1_000_000);
  expect(outcome).toMatchObject({
    chunks: expect.arrayContaining([
      expect.objectContaining({
        symbol: 'drawIcon',
        content: expect.stringContaining(rest.slice(0, 40)) as string,
      }),
    ]),
  });
  writeFileSync(path, `const DATA = '${'a'.repeat(60_000)}';\nfunction drawIcon() {\n  paint();\n}\n`);
  expect(await chunkFile(job, 1_000_000)).toMatchObject({ outcome: 'chunked' });
  writeFileSync(path, `/* a library */\n${'var a=1;'.repeat(2_000)}\n`);
  expect(await chunkFile(job, 1_000_000)).toEqual({ outcome: 'skipped', reason: 'minified' });
  rmSync(root, { recursive: true });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Indexer } from '../src/indexing/indexer.ts';
import { IndexLock, isIndexLocked } from '../src/store/index-lock.ts';
import { rounds } from '../../../test/support/campaign.ts';
import { killLater, sleep } from '../../../test/support/endings.ts';
import { ROOT } from '../../../test/support/paths.ts';
import { seeded, type Seeded } from '../../../test/support/seeded.ts';
import { dumpIndex, makeRepository, type IndexedRepository } from './indexed-repository.ts';

const KILLS = rounds({ short: 4, long: 50 });
const FILES = rounds({ short: 60, long: 400 });

const indexer = new Indexer({ threads: 2 });
afterAll(() => indexer.close());

/** Starts a process that indexes. Also returns the lines that it prints. */
function startIndexing(
  { folder, root }: IndexedRepository,
  mode: string,
): [ChildProcess, AsyncIterable<string>] {
  const script = join(ROOT, 'test', 'fixtures', 'index-repository.ts');
  const child = spawn(process.execPath, [script, folder, root, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killLater(child.pid);
  return [child, createInterface({ input: child.stdout })];
}

/** Changes, deletes and adds some files. */
function edit(repository: IndexedRepository, chance: Seeded, round: number): void {
  const present = new Set(repository.dump().map((row) => (JSON.parse(row) as string[])[1]!));
  for (let index = 0; index < FILES; index++) {
    const path = `src/module${index}.ts`;
    const dice = chance.below(10);
    if (dice < 4) repository.write({ [path]: textOf(index, `round${round}`) });
    else if (dice === 4 && present.has(path)) repository.remove(path);
  }
  repository.write({ 'src/kept.ts': textOf(0, `kept${round}`) });
}

function textOf(index: number, word: string): string {
  const one = (part: number): string =>
    `export function ${word}Part${part}Of${index}(): string {\n  return '${word} ${part} ${index}';\n}\n`;
  return Array.from({ length: 12 }, (_, part) => one(part)).join('\n');
}

it(`a process killed while indexing leaves a complete index, and the next run succeeds (${KILLS} kills)`, async () => {
  const chance = seeded('kills while indexing');
  const repository = makeRepository(
    Object.fromEntries(
      Array.from({ length: FILES }, (_, index) => [`src/module${index}.ts`, textOf(index, 'first')]),
    ),
  );
  await indexer.indexRepository({ folder: repository.folder, path: repository.root });
  let killed = 0;
  for (let round = 0; round < KILLS; round++) {
    const former = repository.dump();
    edit(repository, chance, round);
    const [child, lines] = startIndexing(repository, chance.below(3) === 0 ? 'force' : '');
    const exited = once(child, 'exit');
    const target = ['scanning', 'reading', 'reading', 'writing'][chance.below(4)]!;
    const waitMs = chance.below(target === 'reading' ? 150 : 40);
    for await (const line of lines) if (line.includes(target) || line.includes('"ok"')) break;
    await sleep(waitMs);
    child.kill('SIGKILL');
    const [, signal] = (await exited) as [number | null, string | null];
    if (signal === 'SIGKILL') killed += 1;
    expect(isIndexLocked(repository.folder)).toBe(false);

    const left = repository.dump();
    const resumed = await indexer.indexRepository({ folder: repository.folder, path: repository.root });
    expect(resumed).toMatchObject({ ok: true, value: { status: 'success' } });
    const latter = repository.dump();
    expect([former, latter], `round ${round}, killed ${waitMs} ms after ${target}`).toContainEqual(left);

    const fresh = join(repository.folder, `fresh${round}`);
    await indexer.indexRepository({ folder: fresh, path: repository.root });
    expect(latter).toEqual(dumpIndex(fresh));
  }
  expect(killed).toBeGreaterThan(0);
});

it('two processes that index the same repository take turns, and the second finds nothing to do', async () => {
  const repository = makeRepository(
    Object.fromEntries(
      Array.from({ length: FILES }, (_, index) => [`src/module${index}.ts`, textOf(index, 'twin')]),
    ),
  );
  // The lock is held until both wait for it, so that neither finishes before the other has started.
  let waiting = 0;
  const lock = IndexLock.tryAcquire(repository.folder);
  if (!lock.ok || lock.value === undefined) throw new Error('the index is locked');
  const { value: held } = lock;
  const outputs = await Promise.all(
    [startIndexing(repository, ''), startIndexing(repository, '')].map(async ([, lines], _, { length }) => {
      const all: string[] = [];
      for await (const line of lines) {
        if (all.push(line) === 1 && (waiting += 1) === length) held.release();
      }
      return all;
    }),
  );
  const indexed = outputs.map((lines) => {
    const result = JSON.parse(lines.at(-1)!) as { value: { files_indexed: number } };
    return result.value.files_indexed;
  });
  expect(indexed.toSorted((a, b) => a - b)).toEqual([0, FILES]);
  for (const lines of outputs) expect(lines[0]).toBe('{"phase":"waiting","done":0}');
  expect(repository.dump()).toHaveLength(FILES * 12);
});

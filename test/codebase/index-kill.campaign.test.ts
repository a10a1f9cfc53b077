import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Indexer } from '../../src/codebase/indexing/indexer.ts';
import { IndexLock, isIndexLocked } from '../../src/codebase/store/index-lock.ts';
import { rounds } from '../support/campaign.ts';
import { killLater, sleep } from '../support/endings.ts';
import { seeded, type Seeded } from '../support/seeded.ts';
import { dumpIndex, makePlace, type IndexedPlace } from './indexed-place.ts';

const KILLS = rounds({ short: 4, long: 50 });
const FILES = rounds({ short: 60, long: 400 });

const indexer = new Indexer({ threads: 2 });
afterAll(() => indexer.close());

/** A process that indexes, and each line that it prints. */
function startIndexing({ folder, root }: IndexedPlace, mode: string): [ChildProcess, AsyncIterable<string>] {
  const script = join(import.meta.dirname, '..', 'fixtures', 'index-repository.ts');
  const child = spawn(process.execPath, [script, folder, root, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killLater(child.pid);
  return [child, createInterface({ input: child.stdout })];
}

/** Changes a part of the files, and deletes and adds some. */
function edit(place: IndexedPlace, chance: Seeded, round: number): void {
  const present = new Set(place.dump().map((row) => (JSON.parse(row) as string[])[1]!));
  for (let index = 0; index < FILES; index++) {
    const path = `src/module${index}.ts`;
    const dice = chance.below(10);
    if (dice < 4) place.write({ [path]: textOf(index, `round${round}`) });
    else if (dice === 4 && present.has(path)) place.remove(path);
  }
  place.write({ 'src/kept.ts': textOf(0, `kept${round}`) });
}

function textOf(index: number, word: string): string {
  const one = (part: number): string =>
    `export function ${word}Part${part}Of${index}(): string {\n  return '${word} ${part} ${index}';\n}\n`;
  return Array.from({ length: 12 }, (_, part) => one(part)).join('\n');
}

it(`a process that is killed while it indexes leaves the former index readable, ${KILLS} times`, async () => {
  const chance = seeded('kills while indexing');
  const place = makePlace(
    Object.fromEntries(
      Array.from({ length: FILES }, (_, index) => [`src/module${index}.ts`, textOf(index, 'first')]),
    ),
  );
  await indexer.indexRepository({ folder: place.folder, path: place.root });
  let killed = 0;
  for (let round = 0; round < KILLS; round++) {
    const former = place.dump();
    edit(place, chance, round);
    const [child, lines] = startIndexing(place, chance.below(3) === 0 ? 'force' : '');
    const exited = once(child, 'exit');
    const target = ['scanning', 'reading', 'reading', 'writing'][chance.below(4)]!;
    const waitMs = chance.below(target === 'reading' ? 150 : 40);
    for await (const line of lines) if (line.includes(target) || line.includes('"ok"')) break;
    await sleep(waitMs);
    child.kill('SIGKILL');
    const [, signal] = (await exited) as [number | null, string | null];
    if (signal === 'SIGKILL') killed += 1;
    expect(isIndexLocked(place.folder)).toBe(false);

    const left = place.dump();
    const resumed = await indexer.indexRepository({ folder: place.folder, path: place.root });
    expect(resumed).toMatchObject({ ok: true, value: { status: 'success' } });
    const latter = place.dump();
    expect([former, latter], `round ${round}, killed ${waitMs} ms after ${target}`).toContainEqual(left);

    const fresh = join(place.folder, `fresh${round}`);
    await indexer.indexRepository({ folder: fresh, path: place.root });
    expect(latter).toEqual(dumpIndex(fresh));
  }
  expect(killed).toBeGreaterThan(0);
});

it('of two processes that index the same repository, one waits and then finds nothing to do', async () => {
  const place = makePlace(
    Object.fromEntries(
      Array.from({ length: FILES }, (_, index) => [`src/module${index}.ts`, textOf(index, 'twin')]),
    ),
  );
  // Both find the lock held, so neither can be done before the other has started.
  let waiting = 0;
  const lock = IndexLock.tryAcquire(place.folder);
  if (!lock.ok || lock.value === undefined) throw new Error('the index is locked');
  const { value: held } = lock;
  const outputs = await Promise.all(
    [startIndexing(place, ''), startIndexing(place, '')].map(async ([, lines], _, { length }) => {
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
  expect(place.dump()).toHaveLength(FILES * 12);
});

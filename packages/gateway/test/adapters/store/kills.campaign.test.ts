import { describe, expect, it, vi } from 'vitest';
import { rounds } from '../../../../../test/support/campaign.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';
import { GIVEN_URL, mortalPostgres } from '../../../../../test/support/postgres.ts';
import { DATABASES, openAt, startProcess } from '../../../../../test/support/stores.ts';
import { saveSetting, type StorePlace, valueOf } from '../../../../../test/support/store-values.ts';
import { type State, stateOf } from '../../../../../test/support/store-state.ts';

vi.setConfig({ testTimeout: 900_000 });

const KILLS = rounds({ short: 4, long: 200 });
const CRASHES = rounds({ short: 2, long: 5 });
/** Databases in use concurrently: about one per processor. */
const LANES = 2;
/** ASSAY_TEST_SEED repeats the waits of an earlier run. */
const seed = Number(process.env['ASSAY_TEST_SEED'] ?? Date.now() % 2 ** 31);

/** Everything acknowledged so far, across all runs of the writer process. */
interface Acknowledged {
  written: number;
  set: number;
  readonly tokens: Set<number>;
}

describe.each(DATABASES)('a store in %s', (database, newPlace) => {
  it(`loses no acknowledged write in ${KILLS} kills, and contains no partial ones`, async () => {
    console.log(`kills of ${database}: seed ${seed}`);
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      const chance = chanceOf(seed + lane);
      const place = await newPlace();
      const acknowledged: Acknowledged = { written: 0, set: 0, tokens: new Set() };
      for (let kill = 0; kill < KILLS / LANES; kill++) await killOnce(place, acknowledged, chance);
      return checkLast(place, acknowledged);
    });
    const written = await Promise.all(lanes);
    // Otherwise nothing was tested.
    expect(written.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });
});

describe.skipIf(GIVEN_URL !== undefined)('a store on a PostgreSQL server that is killed', () => {
  it('refuses requests meanwhile, then recovers and contains every acknowledged write', async () => {
    const server = await mortalPostgres();
    const place = { home: '', databaseUrl: await server.newDatabase() };
    const store = await openAt(place);
    let fullNotices = 0;
    store.onChange((parts) => (fullNotices += parts.length > 5 ? 1 : 0));
    const acknowledged: number[] = [];
    const refusals = new Set<string>();
    const writes = new AbortController();
    const writing = (async () => {
      for (let at = 0; !writes.signal.aborted; at++) {
        const written = await saveSetting(store, String(at), at);
        if (written.ok) acknowledged.push(at);
        else refusals.add(written.error.code);
      }
    })();
    for (let crash = 0; crash < CRASHES; crash++) {
      await until(
        'all is told after the connection stands',
        () => (fullNotices > crash ? true : undefined),
        20_000,
      );
      const before = acknowledged.length;
      await until('it writes', () => (acknowledged.length > before + 20 ? true : undefined));
      await server.crash();
      await sleep(100);
      await server.restart();
    }
    await until('all is told after the last crash', () => (fullNotices > CRASHES ? true : undefined), 20_000);
    const before = acknowledged.length;
    await until('it writes again', () => (acknowledged.length > before + 20 ? true : undefined));
    writes.abort();
    await writing;
    const there = valueOf(await store.settings());
    expect(acknowledged.filter((at) => !there.has(String(at)))).toEqual([]);
    expect([...refusals]).toEqual(['STORE_UNAVAILABLE']);
  });
});

/**
 * Runs the writer and kills it. It prints what it found, which must contain everything acknowledged before.
 */
async function killOnce(place: StorePlace, acknowledged: Acknowledged, chance: () => number): Promise<void> {
  const writer = startProcess(place, 'write');
  // Kill some while they open the store, most while they write.
  if (chance() < 0.1) await sleep(chance() * 300);
  else {
    // Wait for the first write, however busy the machine is.
    const hasWritten = (): boolean => writer.lines().some((line) => line.includes('"token"'));
    await until('it has written', () => (hasWritten() ? true : undefined), 60_000);
    await sleep(chance() * 50);
  }
  expect(await writer.kill()).toBeNull();
  for (const line of writer.lines()) {
    const { what, value } = JSON.parse(line) as { readonly what: string; readonly value: unknown };
    if (what === 'state') checkState(value as State, acknowledged);
    else acknowledge(what, Number(value), acknowledged);
  }
}

function acknowledge(what: string, round: number, acknowledged: Acknowledged): void {
  if (what === 'written') acknowledged.written = round;
  if (what === 'set') acknowledged.set = round;
  if (what === 'token') acknowledged.tokens.add(round);
}

function checkState(state: State, acknowledged: Acknowledged): void {
  const there = new Set(state.tokens);
  expect([...acknowledged.tokens].filter((round) => !there.has(round))).toEqual([]);
  // A pending write may have been completed.
  expect(state.written).toBeGreaterThanOrEqual(acknowledged.written);
  expect(state.set).toBeGreaterThanOrEqual(acknowledged.set);
}

async function checkLast(place: StorePlace, acknowledged: Acknowledged): Promise<number> {
  const store = await openAt(place);
  checkState(await stateOf(store), acknowledged);
  return acknowledged.tokens.size;
}

/** Mulberry32: the same numbers for the same seed. */
function chanceOf(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

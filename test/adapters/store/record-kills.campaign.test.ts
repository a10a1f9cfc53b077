import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../../src/gateway/ports/records.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { rounds } from '../../support/campaign.ts';
import { sleep, until } from '../../support/endings.ts';
import { seeded } from '../../support/seeded.ts';
import { DATABASES, openAt, startProcess } from '../../support/stores.ts';
import { valueOf, type StorePlace } from '../../support/store-values.ts';

const KILLS = rounds({ short: 5, long: 40 });
/** How many records a round of the fixture changes. */
const AT_ONCE = 10;

describe.each(DATABASES)('records and audit events in %s', (_, newPlace) => {
  it(`are all present or all absent after each of ${KILLS} kills during the write`, async () => {
    const chance = seeded('kills between records');
    const place = await newPlace();
    let done = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Some die while they open the store, most while they write.
      const lives = chance.next() < 0.1 ? undefined : chance.below(30);
      const acknowledged = await killOnce(place, lives, done);
      const store = await openAt(place);
      done = await roundOf(store, acknowledged);
      await store.close();
    }
    // Otherwise nothing was tried here.
    expect(done).toBeGreaterThan(0);
  });
});

/** One life, this many ms after the store is open; returns the last acknowledged round. */
async function killOnce(place: StorePlace, livesMs: number | undefined, before: number): Promise<number> {
  const changing = startProcess(place, 'change');
  if (livesMs === undefined) await sleep(150);
  else {
    // However busy the machine is, something was done by then.
    await until('it has done something', () => (changing.lines().length > 1 ? true : undefined), 60_000);
    await sleep(livesMs);
  }
  expect(await changing.kill()).toBeNull();
  const done = changing.lines().slice(1);
  expect(done).toEqual(done.map((_, at) => JSON.stringify({ what: 'changed', value: before + at + 1 })));
  return before + done.length;
}

/** Which round was the last one: the one that was acknowledged, or the next; each record is there with its audit event. */
async function roundOf(store: Store, acknowledged: number): Promise<number> {
  const events = valueOf(await store.auditEvents({ limit: 1_000_000, after: 0 }));
  const told = events.map(({ id, target, after }) => ({ id: target.id, title: after, revision: id }));
  const round = events.length / AT_ONCE;
  expect([acknowledged, acknowledged + 1]).toContain(round);
  expect(told).toEqual(toldUpTo(round));
  // Here each change has an audit event, so both count alike.
  const last = [...new Map(told.map((one) => [one.id, one])).values()];
  const { records, revision } = valueOf(await store.records(0));
  expect(revision).toBe(events.length);
  expect(records.map((one) => ({ id: one.id, title: titleOf(one), revision: one.revision }))).toEqual(
    last.sort((a, b) => a.revision - b.revision),
  );
  return round;
}

function titleOf(record: StoredRecord): number | undefined {
  return record.kind === 'tool' && record.body !== undefined ? Number(record.body.title) : undefined;
}

function toldUpTo(rounds: number): readonly unknown[] {
  return Array.from({ length: rounds * AT_ONCE }, (_, at) => {
    const round = Math.floor(at / AT_ONCE) + 1;
    const id = `tool-${(round % 2) * AT_ONCE + (at % AT_ONCE)}`;
    return { id, title: round % 3 === 0 ? undefined : round, revision: at + 1 };
  });
}

import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../../src/gateway/ports/records.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { rounds } from '../../../../../test/support/campaign.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';
import { seeded } from '../../../../../test/support/seeded.ts';
import { DATABASES, openAt, startProcess } from '../../../../../test/support/stores.ts';
import { readableAuditEvents, valueOf, type StorePlace } from '../../../../../test/support/store-values.ts';

const KILLS = rounds({ short: 5, long: 40 });
/** How many records a round of the fixture changes. */
const AT_ONCE = 10;

describe.each(DATABASES)('records and audit events in %s', (_, newPlace) => {
  it(`are all present or all absent after each of ${KILLS} kills during the write`, async () => {
    const chance = seeded('kills between records');
    const place = await newPlace();
    let done = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Kill some while they open the store, most while they write.
      const delayMs = chance.next() < 0.1 ? undefined : chance.below(30);
      const acknowledged = await killOnce(place, delayMs, done);
      const store = await openAt(place);
      done = await roundOf(store, acknowledged);
      await store.close();
    }
    // Otherwise nothing was tested.
    expect(done).toBeGreaterThan(0);
  });
});

/** Kills the writer this many ms after its first round, or while it starts; returns the last acknowledged round. */
async function killOnce(place: StorePlace, delayMs: number | undefined, before: number): Promise<number> {
  const changing = startProcess(place, 'change');
  if (delayMs === undefined) await sleep(150);
  else {
    // Wait for the first round, however busy the machine is.
    await until('it has done something', () => (changing.lines().length > 1 ? true : undefined), 60_000);
    await sleep(delayMs);
  }
  expect(await changing.kill()).toBeNull();
  const done = changing.lines().slice(1);
  expect(done).toEqual(done.map((_, at) => JSON.stringify({ what: 'changed', value: before + at + 1 })));
  return before + done.length;
}

/** The last round: the acknowledged one, or the next. Each record must have its audit event. */
async function roundOf(store: Store, acknowledged: number): Promise<number> {
  const events = await readableAuditEvents(store, { limit: 1_000_000, after: 0 });
  const audited = events.map(({ id, target, after }) => ({ id: target.id, title: after, revision: id }));
  const round = events.length / AT_ONCE;
  expect([acknowledged, acknowledged + 1]).toContain(round);
  expect(audited).toEqual(auditedUpTo(round));
  // Each change here has an audit event, so revisions equal event ids.
  const last = [...new Map(audited.map((one) => [one.id, one])).values()];
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

function auditedUpTo(rounds: number): readonly unknown[] {
  return Array.from({ length: rounds * AT_ONCE }, (_, at) => {
    const round = Math.floor(at / AT_ONCE) + 1;
    const id = `tool-${(round % 2) * AT_ONCE + (at % AT_ONCE)}`;
    return { id, title: round % 3 === 0 ? undefined : round, revision: at + 1 };
  });
}

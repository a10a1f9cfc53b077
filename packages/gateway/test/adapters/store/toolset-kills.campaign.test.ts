import { describe, expect, it } from 'vitest';
import { rounds } from '../../../../../test/support/campaign.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';
import { seeded } from '../../../../../test/support/seeded.ts';
import { DATABASES, openAt, startProcess } from '../../../../../test/support/stores.ts';
import {
  recordsIn,
  saveRecords,
  type StorePlace,
  toolset,
  toolsetChange,
  valueOf,
} from '../../../../../test/support/store-values.ts';

const KILLS = rounds({ short: 5, long: 40 });

/** The store's toolsets, without their content. */
interface Equipment {
  readonly names: readonly string[];
  /** Absent if none is equipped. */
  readonly equipped?: string;
  readonly equippings: number;
}

describe.each(DATABASES)('toolsets in %s', (_, newPlace) => {
  it(`are in the state before or after a step after each of ${KILLS} kills`, async () => {
    const chance = seeded('kills between equippings');
    const place = await newPlace();
    const store = await openAt(place);
    valueOf(
      await saveRecords(
        store,
        ['even-0', 'odd-0'].map((name) => toolsetChange(toolset(name))),
      ),
    );
    await store.close();
    let done = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Kill some while they open the store, most between two steps.
      const delayMs = chance.next() < 0.1 ? undefined : chance.below(30);
      done = await killOnce(place, delayMs, done);
    }
    const again = await openAt(place);
    const records = await recordsIn(again);
    const names = records.flatMap(({ kind, id }) => (kind === 'toolset' ? [id] : [])).sort();
    const found = records.find(({ kind }) => kind === 'equipped');
    const body = found?.kind === 'equipped' ? found.body : undefined;
    const { toolset: equipped, equippings } = body ?? { equippings: 0 };
    stepOf({ names, ...(equipped !== undefined && { equipped }), equippings }, done);
    // Otherwise nothing was tested.
    expect(done).toBeGreaterThan(0);
  });
});

/** Kills the writer this many ms after its first step, or while it starts; returns the last step known to be done. */
async function killOnce(place: StorePlace, delayMs: number | undefined, before: number): Promise<number> {
  const equipping = startProcess(place, 'equip');
  if (delayMs === undefined) await sleep(150);
  else {
    // Wait for the first step, however busy the machine is.
    await until('it has done something', () => (equipping.lines().length > 1 ? true : undefined), 60_000);
    await sleep(delayMs);
  }
  expect(await equipping.kill()).toBeNull();
  let done = before;
  for (const line of equipping.lines()) {
    const { what, value } = JSON.parse(line) as { readonly what: string; readonly value: unknown };
    if (what === 'state') done = stepOf(value as Equipment, done);
    else expect(value).toBe(++done);
  }
  return done;
}

/** The last step: the acknowledged one, or the next, which was pending; nothing in between. */
function stepOf(found: Equipment, acknowledged: number): number {
  const possible = [equipmentAfter(acknowledged), equipmentAfter(acknowledged + 1)];
  expect(possible).toContainEqual(found);
  return acknowledged + (possible[0]?.equipped === found.equipped ? 0 : 1);
}

/** Each round equips the other toolset, and then renames it after the number of the round. */
function equipmentAfter(steps: number): Equipment {
  const round = Math.ceil(steps / 2);
  const turns = ['even', 'odd'] as const;
  const nameOf = (turn: 0 | 1): string => {
    const equippedLast = round % 2 === turn ? round : round - 1;
    const isNamed = equippedLast < round || steps % 2 === 0;
    return `${turns[turn]}-${Math.max(0, isNamed ? equippedLast : equippedLast - 2)}`;
  };
  const names = [nameOf(0), nameOf(1)];
  return round === 0
    ? { names, equippings: 0 }
    : { names, equipped: nameOf(round % 2 === 0 ? 0 : 1), equippings: round };
}

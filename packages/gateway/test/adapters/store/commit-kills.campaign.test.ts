import { describe, expect, it } from 'vitest';
import { rounds } from '../../../../../test/support/campaign.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';
import { seeded } from '../../../../../test/support/seeded.ts';
import { DATABASES, openAt, startProcess } from '../../../../../test/support/stores.ts';
import { recordsIn, valueOf } from '../../../../../test/support/store-values.ts';

const KILLS = rounds({ short: 4, long: 20 });
const TOOLS = 10;

describe.each(DATABASES)('a commit of all kinds of records, in %s', (_, newPlace) => {
  it(`is complete or absent after each of ${KILLS} kills during the write`, async () => {
    const chance = seeded('kills between commits');
    const place = await newPlace();
    let done = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = startProcess(place, 'bring');
      // Kill some before their first commit; the others wait for it, however busy the machine is.
      const min = chance.next() < 0.1 ? 1 : 2;
      await until('it has got so far', () => (writer.lines().length >= min ? true : undefined), 60_000);
      await sleep(chance.below(120));
      expect(await writer.kill()).toBeNull();
      const acknowledged = done + writer.lines().length - 1;
      const store = await openAt(place);
      const records = await recordsIn(store);
      const settings = valueOf(await store.settings());
      const events = valueOf(await store.auditEvents({ limit: 100_000, after: 0 }));
      await store.close();
      done = Number(settings.get('round') ?? 0);
      expect([acknowledged, acknowledged + 1]).toContain(done);
      expect([records.filter(({ kind }) => kind === 'toolset').length, events.length]).toEqual([done, done]);
      const expected = done === 0 ? [] : [{ toolset: `set-${done}`, equippings: done }];
      expect(records.flatMap((one) => (one.kind === 'equipped' ? [one.body] : []))).toEqual(expected);
      expect(records.flatMap((one) => (one.kind === 'tool' ? [one.body?.title] : []))).toEqual(
        done === 0 ? [] : Array(TOOLS).fill(String(done)),
      );
    }
    // Otherwise nothing was tested.
    expect(done).toBeGreaterThan(0);
  });
});

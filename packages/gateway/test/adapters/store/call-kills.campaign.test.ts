import { describe, expect, it } from 'vitest';
import { verifyCalls } from '../../../src/gateway/services/activity/call-history.ts';
import { rounds } from '../../../../../test/support/campaign.ts';
import { sleep, until } from '../../../../../test/support/endings.ts';
import { seeded } from '../../../../../test/support/seeded.ts';
import { DATABASES, openAt, startProcess } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

const KILLS = rounds({ short: 3, long: 40 });

describe.each(DATABASES)('the call record in %s', (_, newPlace) => {
  it(`keeps every stored batch, and complete chains, through ${KILLS} kills`, async () => {
    const chance = seeded('kills between calls');
    const place = await newPlace();
    let least = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const recording = startProcess(place, 'record');
      const storedLines = (): readonly string[] =>
        recording.lines().filter((line) => line.includes('stored'));
      await until('something is stored', () => (storedLines().length > 0 ? true : undefined), 60_000);
      await sleep(chance.below(60));
      expect(await recording.kill()).toBeNull();
      const { value: stored } = JSON.parse(storedLines().at(-1) ?? '{}') as { readonly value: number };
      const store = await openAt(place);
      const report = valueOf(await verifyCalls(store));
      expect(report).toMatchObject({ chains: kill, faultCount: 0, dropped: 0 });
      least += stored;
      // A batch may have been stored right before the kill, without being reported.
      expect(report.entries).toBeGreaterThanOrEqual(least);
      least = report.entries;
      await store.close();
    }
  });
});

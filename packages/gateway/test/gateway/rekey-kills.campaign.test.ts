import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rounds } from '../../../../test/support/campaign.ts';
import { keysIn, newKey, writeKeyFile } from '../../../../test/support/encryption-keys.ts';
import { until } from '../../../../test/support/endings.ts';
import { fillSealed, openAll, rekey } from '../../../../test/support/sealed-rows.ts';
import { seeded } from '../../../../test/support/seeded.ts';
import { DATABASES, openAt, startProcess } from '../../../../test/support/stores.ts';

const KILLS = rounds({ short: 1, long: 10 });

describe.each(DATABASES)('rekeying a store in %s', (_, newPlace) => {
  it('goes on after kill -9 at any moment; in between, each row opens with one of the keys', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [former, next] = [newKey(), newKey()];
    await fillSealed(store, former, 40);
    const file = join(place.home, 'keys');
    writeKeyFile(file, next, former);
    const before = await openAll(store, keysIn(place.home, { file }));
    expect(before).toHaveLength(240);
    const chance = seeded('kills while rekeying');
    let kills = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const lines = 1 + chance.below(4);
      const running = startProcess(place, 'rekey', file);
      await until('it has begun', () => (running.lines().length >= lines ? true : undefined), 60_000);
      if ((await running.kill()) === null) kills += 1;
      expect(await openAll(store, keysIn(place.home, { file }))).toEqual(before);
    }
    expect(kills).toBeGreaterThan(0);
    const report = await rekey(store, keysIn(place.home, { file }));
    expect(report.counts.map(({ current, changed }) => current + changed)).toEqual(
      report.counts.map(() => 40),
    );
    expect(report.counts.some(({ current }) => current > 0)).toBe(true);
    writeKeyFile(file, next);
    expect(await openAll(store, keysIn(place.home, { file }))).toEqual(before);
  });

  it('loses nothing that another process writes meanwhile with the former key', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [former, next] = [newKey(), newKey()];
    await fillSealed(store, former, 40);
    const [file, formerFile] = [join(place.home, 'keys'), join(place.home, 'former')];
    writeKeyFile(file, next, former);
    writeKeyFile(formerFile, former);
    const writing = startProcess(place, 'secrets', formerFile);
    await until('it writes', () => (writing.lines().length > 5 ? true : undefined), 60_000);
    const first = rekey(store, keysIn(place.home, { file }));
    const started = writing.lines().length;
    await until('it goes on', () => (writing.lines().length > started + 5 ? true : undefined), 60_000);
    await writing.kill();
    await first;
    const report = await rekey(store, keysIn(place.home, { file }));
    expect(report.remaining).toEqual([]);
    writeKeyFile(file, next);
    const opened = await openAll(store, keysIn(place.home, { file }));
    expect(opened).toHaveLength(245);
    const rounds = writing.lines().map((line) => (JSON.parse(line) as { value: number }).value);
    const last = rounds.at(-1) ?? 0;
    for (let at = 0; at < 5; at += 1) {
      const round = Math.max(...rounds.filter((one) => one % 5 === at));
      // The round after the last acknowledged one may have been written before the kill.
      const written = [round, ...(at === (last + 1) % 5 ? [last + 1] : [])];
      const found = opened.find((one) => one.startsWith(`secret written-${at} `));
      expect(written.map((one) => `secret written-${at} value ${one}`)).toContain(found);
    }
  });
});

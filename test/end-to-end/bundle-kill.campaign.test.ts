import { kill } from 'node:process';
import { expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import {
  exportOf,
  lasting,
  makeEverything,
  openInstance,
  PASSPHRASE,
  sealedExportOf,
  startInstance,
} from '../support/bundles.ts';
import { rounds } from '../support/campaign.ts';
import { sleep } from '../support/endings.ts';
import { listAt } from '../support/json.ts';
import { seeded } from '../support/seeded.ts';

const KILLS = rounds({ short: 2, long: 20 });

it(`an Assay killed while importing has all of it or nothing afterwards, ${KILLS} times`, async () => {
  const chance = seeded('kills while importing');
  const full = await openInstance();
  await makeEverything(full);
  const bundle = await sealedExportOf(full);
  const whole = lasting(bundle);
  for (let one = 0; one < KILLS; one++) {
    const target = await startInstance(startAssay);
    const empty = await exportOf(target);
    const input = { bundle, passphrase: PASSPHRASE, apply: true };
    const asked = target.admin.post('/import', input).catch(() => undefined);
    // Opening the secrets takes most of the time, and then all is quick.
    await sleep(100 + chance.below(500));
    kill(target.assay.pid, 'SIGKILL');
    const answer = await asked;
    const again = await openInstance(undefined, { home: target.home });
    const there = await exportOf(again);
    if (answer?.status === 200) expect(there).toEqual(whole);
    else expect([empty, whole]).toContainEqual(there);
    const auditEvents = listAt((await again.admin.get('/activity?limit=1000')).json(), 'activity');
    expect(auditEvents.filter((auditEvent) => JSON.stringify(auditEvent).includes('both')).length > 0).toBe(
      JSON.stringify(there) === JSON.stringify(whole),
    );
    await again.assay.stop();
  }
});

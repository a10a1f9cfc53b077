import { expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { equip, MENU, overHttp, overStdio } from '../support/toolsets.ts';

const SERVERS = { plain: fixture('plain') };

it('processes with separate homes share toolsets, notes and the equipped toolset through PostgreSQL', async () => {
  const env = { ASSAY_DATABASE_URL: await newDatabase() };
  const one = await overHttp({ servers: SERVERS, env }, 'modern');
  const two = await overStdio({ servers: SERVERS, env }, 'legacy');
  expect(await two.tools()).toEqual(MENU);
  await equip(one, 'shared', ['plain.echo']);
  await expect
    .poll(() => two.tools(), { timeout: scaledMs(5_000) })
    .toEqual(['enter-configuration-mode', 'plain_echo']);
  expect(two.changes()).toBe(1);
  await two.call('enter-configuration-mode');
  const noted = { toolRef: { namespacedName: 'plain.echo' }, notes: [{ name: 'a-note', note: 'From two.' }] };
  expect((await two.call('add-tool-annotation', noted)).isError).toBe(false);
  await expect
    .poll(() => one.describe('plain_echo'), { timeout: scaledMs(5_000) })
    .toContain('• **a-note**: From two.');
  // Each process has its own mode.
  expect(await two.tools()).toEqual(MENU);
  const home = tempDir();
  expect((await runAssay(['toolset', 'unequip', '--home', home], { env })).code).toBe(0);
  await expect.poll(() => one.tools(), { timeout: scaledMs(5_000) }).toEqual(MENU);
});

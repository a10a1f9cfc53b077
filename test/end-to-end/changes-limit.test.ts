import { expect, it } from 'vitest';
import { endAfterEach } from '../support/end-after-each.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { auditEvent, valueOf } from '../support/store-values.ts';
import { openAt } from '../support/stores.ts';
import { overHttp } from '../support/toolsets.ts';

endAfterEach();

it('a model that changes toolsets more than 600 times within a minute is told to wait, and changes nothing', async () => {
  const home = tempDir();
  const store = await openAt({ home, databaseUrl: undefined });
  const event = auditEvent('again', { subject: 'local', peer: 'model', atMs: Date.now() + 30_000 });
  const record = { kind: 'setting', id: 'x', body: 1 } as const;
  const audit = Array.from({ length: 598 }, () => event);
  valueOf(await store.commit({ changes: [record], expectedRevisions: [], audit }));
  await store.close();
  const env = { ASSAY_ENABLE_CONFIG_TOOLS_MENU: 'false' };
  const model = await overHttp({ servers: { plain: fixture('plain') }, home, env }, 'modern');
  const tools = [{ namespacedName: 'plain.echo' }];
  expect(await model.call('build-toolset', { name: 'one', tools })).toMatchObject({ isError: false });
  expect(await model.call('equip-toolset', { name: 'one' })).toMatchObject({ isError: false });
  const wait = { isError: true, text: expect.stringContaining('600 changes within a minute') as string };
  expect(await model.call('build-toolset', { name: 'two', tools })).toMatchObject(wait);
  const notes = [{ name: 'a', note: 'b' }];
  const annotation = { toolRef: { namespacedName: 'plain.echo' }, notes };
  expect(await model.call('add-tool-annotation', annotation)).toMatchObject(wait);
  expect(await model.call('unequip-toolset')).toMatchObject(wait);
  expect(await model.call('delete-toolset', { name: 'one', confirm: true })).toMatchObject(wait);
  const { text } = await model.call('list-saved-toolsets');
  expect(text).toBe('- one (equipped): plain.echo');
}, 60_000);

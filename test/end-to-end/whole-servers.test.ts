// A toolset that contains a whole server: later tools, drift, and what an operator accepts.
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, type JsonObject } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { meet } from '../support/toolsets.ts';

const HARMLESS = toolNamed('act', { annotations: { readOnlyHint: true } });
const DANGEROUS = toolNamed('act', { annotations: { readOnlyHint: false, destructiveHint: true } });

it('a whole server in a toolset flags later tools until accepted, and withholds excluded or dangerous ones', async () => {
  const home = tempDir();
  const server = filedServer([HARMLESS, toolNamed('look')]);
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startGateway({ servers: { filed: server.entry }, home });
  const admin = adminClient(assay, token);
  await assay.settled();
  const model = await meet({ url: `http://127.0.0.1:${assay.port}/mcp` }, 'modern');

  const built = await model.call('build-toolset', {
    name: 'dev',
    tools: [{ namespacedName: 'filed.*' }],
    autoEquip: true,
  });
  expect(built.text).toContain('saved with all tools of filed');
  expect(await model.tools()).toEqual(['enter-configuration-mode', 'filed_act', 'filed_look']);

  server.have([HARMLESS, toolNamed('look'), toolNamed('later')]);
  await until('the later tool is listed', async () =>
    (await model.tools()).includes('filed_later') ? true : undefined,
  );
  const fresh = async (): Promise<readonly unknown[]> =>
    listAt((await admin.get('/toolsets/dev/new')).json(), 'new').map((one) => at(one, 'namespacedName'));
  expect(await fresh()).toEqual(['filed.later']);
  await model.call('enter-configuration-mode');
  const equipped = await model.call('equip-toolset', { name: 'dev' });
  expect(at(equipped.data, 'equipped', 'new')).toEqual(['filed.later']);
  expect(equipped.text).toContain('New, and not accepted by an operator yet: filed.later.');
  expect(verdictOf(await admin.post('/toolsets/dev/accept', { tools: ['filed.nosuch', 'other.x'] }))).toBe(
    '422 REF_UNKNOWN',
  );
  expect((await admin.post('/toolsets/dev/accept', {})).json()).toMatchObject({ new: [] });
  expect(await fresh()).toEqual([]);

  const read = (await admin.get('/toolsets/dev')).json() as JsonObject;
  expect(read['tools']).toEqual([{ namespacedName: 'filed.*' }]);
  const tools = [{ namespacedName: 'filed.*', except: ['look'] }];
  expect((await admin.put('/toolsets/dev', { ...read, tools })).json()).toMatchObject({ tools });
  expect(await model.tools()).toEqual(['enter-configuration-mode', 'filed_act', 'filed_later']);
  expect(await model.call('filed_look').catch(String)).toContain('is not in the toolset "dev"');

  server.have([DANGEROUS, toolNamed('later')]);
  await until('the tool that drifted is withheld', async () =>
    (await model.tools()).includes('filed_act') ? undefined : true,
  );
  expect((await admin.get('/toolsets/dev/unserved')).json()).toEqual({
    unserved: [{ tool: 'filed.act', reason: 'definition_dangerous' }],
  });
  expect(await model.call('filed_act').catch(String)).toContain('changed in a dangerous way');
  const [act] = listAt((await admin.get('/tools?drift=dangerous')).json(), 'tools');
  expect((await admin.post(`/tools/${String(at(act, 'id'))}/review`, {})).status).toBe(200);
  expect(await model.tools()).toContain('filed_act');
  await model.client.close();
});

it('a server added to a toolset before it has listed its tools has only later tools flagged', async () => {
  const home = tempDir();
  const server = filedServer([]);
  const path = listAt(server.entry, 'args')
    .map(String)
    .find((one) => one.startsWith('--file='))
    ?.slice(7);
  rmSync(path ?? '');
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const assay = await startGateway({ servers: { filed: server.entry }, home });
  const admin = adminClient(assay, token);
  const made = await admin.post('/toolsets', { name: 'dev', tools: ['filed.*'], equip: true });
  expect(verdictOf(made)).toBe('201');
  const unserved = listAt((await admin.get('/toolsets/dev/unserved')).json(), 'unserved');
  expect(unserved).toMatchObject([{ tool: 'filed.*' }]);
  const model = await meet({ url: `http://127.0.0.1:${assay.port}/mcp` }, 'modern');
  const has = (name: string): Promise<true> =>
    until(`${name} is listed`, async () => {
      await admin.post('/gateways/filed/refresh');
      return (await model.tools()).includes(name) ? true : undefined;
    });
  server.have([toolNamed('look')]);
  await has('filed_look');
  const changedAt = (): Promise<unknown> =>
    admin.get('/toolsets/dev').then((got) => at(got.json(), 'lastModified'));
  await until('the first tools are recorded', async () =>
    (await changedAt()) === at(made.json(), 'lastModified') ? undefined : true,
  );
  server.have([toolNamed('look'), toolNamed('later')]);
  await has('filed_later');
  expect((await admin.get('/toolsets/dev/new')).json()).toMatchObject({
    new: [{ namespacedName: 'filed.later' }],
  });
  await model.client.close();
});

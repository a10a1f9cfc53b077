// An operator's name and description for a tool override the server's own, which are kept.
import { expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { bodiesIn } from '../support/bundles.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { meet } from '../support/toolsets.ts';

it("clients see the operator's name and description, calls work, and a changed original is flagged", async () => {
  const home = tempDir();
  const act = toolNamed('act', { annotations: { readOnlyHint: true } });
  const server = filedServer([act, toolNamed('look')]);
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startGateway({ servers: { filed: server.entry }, home });
  const admin = adminClient(assay, token);
  await assay.settled();
  const model = await meet({ url: assay.url }, 'modern');
  const tool = async (): Promise<JsonObject> => {
    const tools = listAt((await admin.get('/tools')).json(), 'tools');
    return tools.find((one) => at(one, 'originalName') === 'act') as JsonObject;
  };
  const path = `/tools/${textAt(await tool(), 'id')}`;
  const refId = at(await tool(), 'refId');

  const edited = await admin.put(path, { name: 'perform', description: 'Does it well.' });
  expect(edited.json()).toMatchObject({
    name: 'filed_perform',
    namespacedName: 'filed.act',
    description: 'Does it well.',
    original: { name: 'act', description: 'Does act.', needsReview: false },
    refId,
  });
  expect(await model.tools()).toEqual(['filed_perform', 'filed_look']);
  expect(await model.describe('filed_perform')).toBe('Does it well.');
  expect((await model.call('filed_perform')).text).toBe('act');
  await expect(model.call('filed_act')).rejects.toThrow();

  // A response can be sent back unchanged; another tool's name is refused.
  const { name, description } = await tool();
  expect((await admin.put(path, { name, description })).json()).toEqual(edited.json());
  expect(verdictOf(await admin.put(path, { name: 'look' }))).toBe('409 TOOL_EXISTS');
  expect(verdictOf(await admin.put(path, { name: 'two words' }))).toMatch(/^422/);

  // Export and import keep it.
  const bundle = (await admin.get('/export')).json();
  expect(bodiesIn(bundle, 'tool')).toMatchObject([
    { name: 'act', publicName: 'perform', description: { text: 'Does it well.' } },
  ]);
  await admin.put(path, { name: null, description: null });
  expect(await tool()).toMatchObject({ name: 'filed_act', description: 'Does act.' });
  expect(await tool()).not.toHaveProperty('original');
  expect(verdictOf(await admin.post('/import', { bundle, apply: true }))).toMatch(/^20/);
  expect(await tool()).toMatchObject({ name: 'filed_perform', description: 'Does it well.' });

  // The server rewrites its description: that is drift, and the operator's text waits for a review.
  server.have([{ ...act, description: 'Does something else.' }, toolNamed('look')]);
  const flagged = await until('it is flagged', async () => {
    const now = await tool();
    return at(now, 'original', 'needsReview') === true && 'drift' in now ? now : undefined;
  });
  expect(flagged).toMatchObject({
    description: 'Does it well.',
    original: { description: 'Does something else.' },
    drift: { severity: 'review' },
  });
  expect((await admin.post(`${path}/review`, {})).json()).toMatchObject({
    description: 'Does it well.',
    original: { needsReview: false },
  });
  await model.client.close();
});

it('an operator’s confirm and cacheMs are exported, and suspended from a schema change until a review', async () => {
  const home = tempDir();
  const annotations = { readOnlyHint: false, destructiveHint: false };
  const act = toolNamed('act', { annotations });
  const server = filedServer([act]);
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startGateway({ servers: { filed: { ...server.entry, trust: true } }, home });
  const admin = adminClient(assay, token);
  await assay.settled();
  const decision = async (): Promise<string> => {
    const view = (await admin.get('/tools/filed_act/decision')).json();
    return `${String(at(view, 'decision'))} ${String(at(view, 'reasons', 0, 'code'))}`;
  };
  expect(await decision()).toBe('ask default_confirm');
  const set = await admin.put('/tools/filed_act', { confirm: 'session' });
  expect(at(set.json(), 'confirm')).toBe('first');
  const never = await admin.put('/tools/filed_act', { confirm: 'never' });
  expect([at(never.json(), 'confirm'), await decision()]).toEqual(['never', 'allow tool_confirm']);
  const cached = await admin.put('/tools/filed_act', { cacheMs: 60_000 });
  expect(cached.json()).toMatchObject({ confirm: 'never', cacheMs: 60_000 });
  for (const wrong of [{ confirm: 'sometimes' }, { cacheMs: -1 }, { cacheMs: 86_400_001 }, { cacheMs: 0.5 }])
    expect(verdictOf(await admin.put('/tools/filed_act', wrong))).toMatch(/^422/);

  const bundle = (await admin.get('/export')).json();
  expect(bodiesIn(bundle, 'tool')[0]).toMatchObject({
    confirm: { value: 'never' },
    cacheMs: { value: 60_000 },
  });
  const reset = await admin.put('/tools/filed_act', { confirm: null, cacheMs: null });
  expect(reset.json()).not.toHaveProperty('cacheMs');
  expect(await decision()).toBe('ask default_confirm');
  expect(verdictOf(await admin.post('/import', { bundle, apply: true }))).toMatch(/^20/);
  expect(await decision()).toBe('allow tool_confirm');

  const schema = { type: 'object', properties: { force: { type: 'boolean' } } };
  server.have([{ ...act, inputSchema: schema }]);
  await until('the confirm is suspended', async () =>
    (await decision()) === 'ask confirm_suspended' ? true : undefined,
  );
  const suspended = { confirm: 'suspended', cacheMs: 'suspended' };
  expect((await admin.get('/tools/filed_act')).json()).toMatchObject(suspended);
  const accepted = { confirm: 'never', cacheMs: 60_000 };
  expect((await admin.post('/tools/filed_act/review', {})).json()).toMatchObject(accepted);
  expect(await decision()).toBe('allow tool_confirm');
});

it('an operator’s tags are matched by rules and exported, and do not allow a changed tool before a review', async () => {
  const home = tempDir();
  const act = toolNamed('act', { annotations: { readOnlyHint: false, destructiveHint: false } });
  const server = filedServer([act]);
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const rules = [
    { effect: 'allow', tag: 'known' },
    { effect: 'refuse', tag: ['payment', 'pay-*'] },
    { effect: 'ask', name: 'of the server', tag: 'outside' },
  ];
  const assay = await startGateway({
    servers: { filed: { ...server.entry, trust: true, tags: ['outside'] } },
    settings: { policy: { rules } },
    home,
  });
  const admin = adminClient(assay, token);
  await assay.settled();
  const decision = async (): Promise<string> => {
    const view = (await admin.get('/tools/filed_act/decision')).json();
    return `${String(at(view, 'decision'))} ${String(at(view, 'reasons', 0, 'rule'))}`;
  };
  const patch = (tags: Json): ReturnType<typeof admin.ask> =>
    admin.ask('PATCH', '/tools/filed_act', { body: { tags } });
  expect(at((await admin.get('/gateways/filed')).json(), 'tags')).toEqual(['outside']);
  expect(await decision()).toBe('ask of the server');
  expect(at((await patch(['payment', 'payment'])).json(), 'tags')).toEqual(['payment']);
  expect(await decision()).toBe('refuse #2');
  for (const wrong of [['x'.repeat(51)], [''], Array.from({ length: 21 }, (_, no) => `t${no}`), 'payment'])
    expect(verdictOf(await patch(wrong))).toBe('422 BODY_INVALID');

  const bundle = (await admin.get('/export')).json();
  expect(bodiesIn(bundle, 'tool')[0]).toMatchObject({ tags: { value: ['payment'] } });
  expect((await patch(null)).json()).not.toHaveProperty('tags');
  expect(await decision()).toBe('ask of the server');
  expect(verdictOf(await admin.post('/import', { bundle, apply: true }))).toMatch(/^20/);
  expect(await decision()).toBe('refuse #2');

  await patch(['known']);
  const ruleApplies = async (): Promise<Json | undefined> =>
    at((await admin.get('/tools/filed_act/decision')).json(), 'rules', 0, 'applies');
  expect(await ruleApplies()).toBe(true);
  server.have([{ ...act, inputSchema: { type: 'object', properties: { force: { type: 'boolean' } } } }]);
  await until('the tag allows nothing', async () => ((await ruleApplies()) === false ? true : undefined));
  expect(at((await admin.get('/tools/filed_act')).json(), 'tags')).toEqual(['known']);
  await admin.post('/tools/filed_act/review', {});
  expect(await ruleApplies()).toBe(true);
});

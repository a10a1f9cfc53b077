// An API document through all endpoints: its operations, its changes, and the operators' overrides.
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { OFFICIAL } from '../support/clients.ts';
import {
  documentedApi,
  LOOPBACK,
  PETS,
  type DocumentedApi,
  type Operations,
} from '../support/documented-api.ts';
import { until } from '../support/endings.ts';
import type { Answer } from '../support/http.ts';
import { claimsIn, short, toolIn, toolsOf } from '../support/hints.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { startShared, type SharedAssay } from '../support/shared-assay.ts';
import { keepToken } from '../support/tokens.ts';
import { equip, meet, type Model } from '../support/toolsets.ts';

endAfterEach();

const SECRET = 'k3y-of-the-pets-0123456789abcdef';
const OWN_NAMES = ['list_pets', 'add_pet', 'drop_pet'];
const NAMES = OWN_NAMES.map((name) => `pets_${name}`);

interface World {
  readonly assay: Gateway;
  readonly home: string;
  readonly admin: AdminClient;
  /** May administer, and neither run a command nor read a file. */
  readonly limited: AdminClient;
  /** The real name of a source by its name in the test. */
  readonly nameOf: (name: string) => string;
  readonly meet: (era?: 'legacy' | 'modern') => Promise<Omit<Model, 'home'>>;
}

type Place = Partial<Record<'home', string>> & { readonly env?: Readonly<Record<string, string>> };

async function openWorld(servers: JsonObject, place: Place = {}): Promise<World & SharedAssay> {
  const { home = tempDir(), env = LOOPBACK } = place;
  const token = await keepToken(home, `boss-${Date.now()}`, { scopes: ['admin', 'execute'] });
  const less = await keepToken(home, `limited-${Date.now()}`, { scopes: ['admin'] });
  const shared = await startShared({ servers, home, env });
  const { assay } = shared;
  await assay.settled();
  return {
    ...shared,
    admin: adminClient(assay, token),
    limited: adminClient(assay, less),
    nameOf: (name) => name,
    meet: (era = 'modern') => meet({ url: assay.url }, era),
  };
}

let api: DocumentedApi;
let common: World & SharedAssay;
let worlds = 0;
beforeAll(async () => {
  api = await documentedApi(PETS, {
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
  });
  common = await openWorld({
    pets: { openapi: api.path, credentials: { key: SECRET } },
    far: { openapi: api.url, credentials: { key: SECRET } },
    own: { openapi: api.url, trust: true },
    bare: { openapi: api.path, prefix: false },
  });
});

/** Sources with unique names in this file's Assay; its clients see the one called `pets`. */
async function addSources(servers: JsonObject): Promise<World> {
  const suffix = (worlds += 1);
  const nameOf = (name: string): string => `${name}${suffix}`;
  await common.add(Object.fromEntries(Object.entries(servers).map(([name, entry]) => [nameOf(name), entry])));
  const url = common.assay.url.replace(/all$/, `servers/${nameOf('pets')}`);
  return { ...common, nameOf, meet: (era = 'modern') => meet({ url }, era) };
}

const gatewayIn = async ({ admin, nameOf }: World, name = 'pets'): Promise<Json> =>
  (await admin.get(`/gateways/${nameOf(name)}`)).json();

const refresh = ({ admin, nameOf }: World): Promise<Answer> =>
  admin.post(`/gateways/${nameOf('pets')}/refresh`);

/** The hints for decisions, and those shown to clients, for each tool. */
async function hintsIn({ admin, nameOf }: World, name = 'pets'): Promise<Record<string, string>> {
  const tools = await toolsOf(admin, `server=${nameOf(name)}`);
  return Object.fromEntries(
    [...tools].map(([tool, view]) => [
      tool,
      `${short((hint) => at(view, 'hints', hint, 'decision'))} ${short((hint) => at(view, 'annotations', hint))}`,
    ]),
  );
}

describe('a document in the config file', () => {
  it.each(OFFICIAL)('gives each official client its operations as tools: $label', async ({ connect }) => {
    const client = await connect({ url: common.assay.url });
    const names = await client.tools();
    expect(names.filter((name) => name.startsWith('pets_'))).toEqual(NAMES);
    expect(names).toContain('list_pets');
    expect(JSON.parse(await client.call('pets_list_pets', { limit: 2 }))).toEqual({
      did: 'GET /pets?limit=2',
    });
    await client.call('pets_add_pet', { name: 'Rex' });
    await client.call('pets_drop_pet', { id: 'a/b' });
    expect(api.seen.slice(-3)).toEqual([
      { line: 'GET /pets?limit=2', key: `Bearer ${SECRET}`, body: null },
      { line: 'POST /pets', key: `Bearer ${SECRET}`, body: { name: 'Rex' } },
      { line: 'DELETE /pets/a%2Fb', key: `Bearer ${SECRET}`, body: null },
    ]);
  });

  it('accepts a file in Base64 and sends its bytes, or says which argument is not Base64', async () => {
    const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    const files = await documentedApi({
      'PUT /photo': { operationId: 'put_photo', requestBody: { required: true, content } },
    });
    const { client } = await (await addSources({ pets: { openapi: files.path } })).meet();
    const [tool] = (await client.listTools()).tools.filter(({ name }) => name === 'put_photo');
    expect(tool?.inputSchema.properties).toEqual({
      body: { type: 'string', contentEncoding: 'base64', description: 'The content in Base64.' },
    });
    const sendIt = (body: string): Promise<Json> =>
      client.callTool({ name: 'put_photo', arguments: { body } }) as Promise<Json>;
    expect(await sendIt('no!')).toMatchObject({
      isError: true,
      content: [{ text: 'The argument "body" must be Base64.' }],
    });
    expect(await sendIt(Buffer.from('[1, 2]').toString('base64'))).not.toHaveProperty('isError', true);
    expect(files.seen).toEqual([{ line: 'PUT /photo', key: undefined, body: [1, 2] }]);
  });

  it('shows all four hints of each tool, its title in both places, and no _meta of Assay', async () => {
    const { client } = await common.meet();
    const tools = (await client.listTools()).tools.filter(({ name }) => NAMES.includes(name));
    expect(JSON.stringify(tools)).not.toMatch(/"_meta"|assay\//);
    expect(tools.map(({ title, annotations }) => ({ title, annotations }))).toEqual([
      {
        title: 'List the pets',
        annotations: {
          title: 'List the pets',
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: true,
        },
      },
      {
        title: 'Add a pet',
        annotations: {
          title: 'Add a pet',
          readOnlyHint: false,
          destructiveHint: false,
          idempotentHint: false,
          openWorldHint: true,
        },
      },
      {
        title: 'Drop a pet',
        annotations: {
          title: 'Drop a pet',
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: true,
          openWorldHint: true,
        },
      },
    ]);
  });

  it('lowers caution by all methods if it is a file, by safe ones only if it is a URL, until that is trusted', async () => {
    expect(await hintsIn(common, 'pets')).toEqual({
      list_pets: '+-++ +-++',
      add_pet: '---+ ---+',
      drop_pet: '-+++ -+++',
    });
    expect(await hintsIn(common, 'far')).toEqual({
      list_pets: '+-++ +-++',
      add_pet: '-+-+ ---+',
      drop_pet: '-+-+ -+++',
    });
    expect(await hintsIn(common, 'own')).toEqual(await hintsIn(common, 'pets'));
  });

  it('is reported with what was skipped and why, and without secrets', async () => {
    const told = await gatewayIn(common);
    expect(told).toMatchObject({
      origin: 'config_file',
      transport: 'openapi',
      openapi: api.path,
      credentials: ['key'],
      reachable: true,
      toolCount: 3,
      skipped: [{ what: 'TRACE /pets', why: 'TRACE echoes the request, including secrets' }],
    });
    const texts = [JSON.stringify(told), (await common.admin.get('/tools')).text, common.assay.stderr()];
    expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  it('is a source like any other: its tools can have a toolset and a note', async () => {
    const model = await meet({ url: common.assay.url.replace(/\/all$/, '') }, 'modern');
    await equip(model, 'care', ['pets.list_pets', 'pets.drop_pet']);
    await model.call('enter-configuration-mode');
    const noted = await model.call('add-tool-annotation', {
      toolRef: { namespacedName: 'pets.list_pets' },
      notes: [{ name: 'limit', note: 'Ask for ten at a time.' }],
    });
    expect([noted.isError, noted.text]).toEqual([false, expect.any(String)]);
    // The clients of this file have read results of open-world tools.
    const id = (await toolsOf(common.admin, 'server=pets')).get('list_pets')?.['id'];
    const accepted = { note: 'Ask for ten at a time.' };
    expect((await common.admin.put(`/tools/${String(id)}/notes/care/limit`, accepted)).status).toBe(200);
    await model.call('exit-configuration-mode');
    await until('the tools of the toolset are listed', async () =>
      (await model.tools()).includes('pets_list_pets') ? true : undefined,
    );
    expect((await model.tools()).filter((name) => name.startsWith('pets_'))).toEqual([
      'pets_list_pets',
      'pets_drop_pet',
    ]);
    expect(await model.describe('pets_list_pets')).toContain('Ask for ten at a time.');
  });

  it("may be relative to the config's folder, and an invalid one affects no other source", async () => {
    const config = writeConfig({
      pets: { openapi: './pets.json' },
      gone: { openapi: './gone.json' },
      odd: { openapi: 7 },
      old: { openapi: './swagger.json' },
    });
    api.have(PETS);
    const folder = dirname(config);
    writeFileSync(join(folder, 'swagger.json'), '{"swagger":"2.0","paths":{}}');
    copyFileSync(api.path, join(folder, 'pets.json'));
    const assay = await startGateway({ config, env: LOOPBACK });
    const health = await assay.settled();
    const states = listAt(health, 'servers').map(
      (one) => `${textAt(one, 'name')} ${textAt(one, 'state')} ${String(at(one, 'cause') ?? '')}`,
    );
    expect(states).toEqual([
      'pets up ',
      expect.stringMatching(/^gone \w+ .*there is no such file/),
      expect.stringMatching(/^old \w+ .*(?:2\.0|OpenAPI 3)/),
      expect.stringMatching(/^odd refused/),
    ]);
  });
});

const STALE = 30_000;

describe.each(['legacy', 'modern'] as const)('an edited document, for a %s client,', (era) => {
  it('is announced, and its current tools are listed', async () => {
    const api = await documentedApi(PETS);
    const world = await addSources({ pets: { openapi: api.path } });
    const model = await world.meet(era);
    expect(await model.tools()).toEqual(OWN_NAMES);
    const before = model.changes();
    api.have({ 'GET /pets': PETS['GET /pets']!, 'GET /pets/{id}': { operationId: 'show_pet' } });
    await until('the client is told', () => (model.changes() > before ? true : undefined));
    expect(await model.tools()).toEqual(['list_pets', 'show_pet']);
    expect(await model.call('show_pet', {})).toMatchObject({ isError: true });
  });
});

describe('a document that is read again', () => {
  it('at a URL has its changes counted by a refresh, and is not fetched for calls', async () => {
    const api = await documentedApi(PETS);
    const world = await addSources({ pets: { openapi: api.url } });
    const { call } = await world.meet();
    const before = api.fetches();
    await call('list_pets');
    expect(api.fetches()).toBe(before);
    api.have({
      'GET /pets': { ...PETS['GET /pets'], description: 'Lists them.' },
      'GET /toys': { operationId: 'list_toys' },
    });
    expect((await refresh(world)).json()).toMatchObject({
      success: true,
      toolsAdded: ['list_toys'],
      toolsUpdated: ['list_pets'],
      toolsRemoved: ['add_pet', 'drop_pet'],
    });
  });

  it.each<[says: string, before: string, after: string]>([
    ['a GET that becomes a DELETE', 'GET', 'DELETE'],
    ['a POST that becomes a GET', 'POST', 'GET'],
  ])('suspends what lowers caution for %s, until that is reviewed', async (_, before, after) => {
    const api = await documentedApi(operationBy(before));
    const world = await addSources({ pets: { openapi: api.url } });
    const { admin } = world;
    const path = `/tools/${textAt(await toolIn(admin, world.nameOf('pets'), 'act'), 'id')}`;
    await refresh(world);
    const said = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    expect(verdictOf(await admin.put(path, { annotations: said }))).toBe('200');
    api.have(operationBy(after));
    await refresh(world);
    const tool = (await admin.get(path)).json();
    expect(at(tool, 'drift')).toMatchObject({
      isDangerous: true,
      changes: [{ before: `"${before}"`, after: `"${after}"` }],
      suspends: ['readOnlyHint', 'destructiveHint', 'openWorldHint'],
    });
    expect(claimsIn(at(tool, 'hints')).map((claims) => claims.includes('!'))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(verdictOf(await admin.post(`${path}/review`))).toBe('200');
    const now = (await admin.get(path)).json();
    expect([at(now, 'drift'), short((hint) => at(now, 'annotations', hint))]).toEqual([undefined, '+-+-']);
  });

  it('keeps what operators configured for its tools, also for one that was missing for a while', async () => {
    const api = await documentedApi(PETS);
    const world = await addSources({ pets: { openapi: api.path } });
    const { admin } = world;
    const path = `/tools/${textAt(await toolIn(admin, world.nameOf('pets'), 'drop_pet'), 'id')}`;
    await admin.put(path, { annotations: { idempotentHint: false }, title: 'Off it goes' });
    const { 'DELETE /pets/{id}': dropped, ...others } = PETS;
    api.have(others);
    await refresh(world);
    expect(verdictOf(await admin.get(path))).toBe('404 TOOL_UNKNOWN');
    api.have({ ...others, 'DELETE /pets/{id}': dropped!, 'GET /a': { operationId: 'a' } });
    await refresh(world);
    const tool = (await admin.get(path)).json();
    expect([at(tool, 'title'), short((hint) => at(tool, 'annotations', hint))]).toEqual([
      'Off it goes',
      '-+-+',
    ]);
  });

  it.each<[says: string, harm: (api: DocumentedApi) => void, cause: RegExp]>([
    ['is gone', (api) => rmSync(api.path), /there is no such file/],
    ['is no JSON any more', (api) => api.write('{"openapi": "3.1.0", "paths": {'), /./],
    ['is of another version', (api) => api.write('{"swagger":"2.0","paths":{}}'), /2\.0|OpenAPI 3/],
    ['has no paths', (api) => api.write('[]'), /./],
  ])(
    'and %s keeps its tools unchanged, and says why',
    async (_, harm, cause) => {
      const api = await documentedApi(PETS);
      const world = await addSources({ pets: { openapi: api.path } });
      const model = await world.meet();
      harm(api);
      const refused = await refresh(world);
      expect(verdictOf(refused)).toBe('502 SERVER_UNAVAILABLE');
      expect(refused.text).toMatch(cause);
      expect(refused.text).not.toContain('the log says why');
      expect(await model.tools()).toEqual(OWN_NAMES);
      expect(await model.call('list_pets')).toMatchObject({ isError: false });
      const told = await gatewayIn(world);
      expect(told).toMatchObject({
        reachable: true,
        toolCount: 3,
        cause: expect.stringMatching(cause) as string,
      });
      api.have({ 'GET /pets': PETS['GET /pets']! });
      expect(verdictOf(await refresh(world))).toBe('200');
      expect(at(await gatewayIn(world), 'cause')).toBeUndefined();
      expect(await model.tools()).toEqual(['list_pets']);
    },
    STALE,
  );

  it('at a URL that no longer responds keeps its tools and their hints, also after a restart', async () => {
    const api = await documentedApi(PETS);
    const servers = { pets: { openapi: api.url } };
    const first = await openWorld(servers);
    const hints = await hintsIn(first, 'pets');
    await first.assay.stop();
    api.answerWith(503);
    const world = await openWorld(servers, { home: first.home });
    const model = await world.meet();
    expect(await model.tools()).toEqual(NAMES);
    expect(await hintsIn(world, 'pets')).toEqual(hints);
    expect(await gatewayIn(world)).toMatchObject({
      reachable: false,
      cause: expect.stringContaining('status 503') as string,
    });
    api.answerWith(200);
    expect(verdictOf(await refresh(world))).toBe('200');
    expect(await model.call('pets_list_pets')).toMatchObject({ isError: false });
  });
});

function operationBy(method: string): Operations {
  return { [`${method} /act`]: { operationId: 'act', summary: 'Act' } };
}

describe('x-mcp of a document', () => {
  const SAID: Operations = {
    'POST /search': {
      operationId: 'search',
      'x-mcp': { annotations: { readOnlyHint: true, destructiveHint: false }, title: 'Search' },
    },
    'GET /off': { operationId: 'off', 'x-mcp': false },
  };

  it('takes precedence over its methods; from a URL it is shown but lowers no caution until trusted', async () => {
    const api = await documentedApi(SAID);
    const world = await addSources({ pets: { openapi: api.path }, far: { openapi: api.url } });
    expect(await hintsIn(world)).toEqual({ search: '+--+ +--+' });
    expect(await hintsIn(world, 'far')).toEqual({ search: '-+-+ +--+' });
    await world.admin.ask('PATCH', `/gateways/${world.nameOf('far')}`, { body: { trust: true } });
    expect(await hintsIn(world, 'far')).toEqual(await hintsIn(world));
    expect(await gatewayIn(world)).toMatchObject({
      skipped: [{ what: 'GET /off', why: expect.stringContaining('disables it') as string }],
    });
  });

  it('is overridden by an operator', async () => {
    const api = await documentedApi(SAID);
    const world = await addSources({ pets: { openapi: api.path } });
    const path = `/tools/${textAt(await toolIn(world.admin, world.nameOf('pets'), 'search'), 'id')}`;
    const answer = await world.admin.put(path, { annotations: { readOnlyHint: false } });
    expect(claimsIn(at(answer.json(), 'hints'))).toEqual(['o- d+ i-', 'd- i-', 'i-', 'i+']);
  });
});

describe('a document at a loopback address', () => {
  let world: World;
  let filed: DocumentedApi;
  beforeAll(async () => {
    filed = await documentedApi(PETS);
    world = await openWorld({ pets: { openapi: api.url }, filed: { openapi: filed.path } }, { env: {} });
  });

  it('may be named by the config file and by an operator, with its own origin as its server', async () => {
    expect(await gatewayIn(world)).toMatchObject({ state: 'up' });
    const made = await world.limited.post('/gateways', { name: 'again', openapi: api.url });
    expect([made.status, at(made.json(), 'state')]).toEqual([201, 'up']);
    expect((await (await world.meet()).call('pets_list_pets')).isError).not.toBe(true);
  });

  it('cannot name a loopback server in a file, unless the setting allows it', async () => {
    const told = await (await world.meet()).call('filed_list_pets');
    expect(told).toMatchObject({
      isError: true,
      text: expect.stringContaining('ASSAY_HTTP_ALLOW_LOOPBACK') as string,
    });
    expect(filed.seen).toEqual([]);
  });
});

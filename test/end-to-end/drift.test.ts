// A changing definition: who is notified, what is compared, and which overrides wait until somebody has reviewed it.
import { describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { kill, sleep, until } from '../support/endings.ts';
import { startShared, type SharedAssay } from '../support/shared-assay.ts';
import { filedServer, toolNamed, type Filed } from '../support/filed.ts';
import { claimsIn, short, toolIn, toolsOf } from '../support/hints.ts';
import { at, isObject, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openEventLog, tempDir, type EventLog } from '../support/paths.ts';
import { lockStore, openAt } from '../support/stores.ts';
import { readableAuditEvents } from '../support/store-values.ts';
import { keepToken } from '../support/tokens.ts';
import { meet, type Model } from '../support/toolsets.ts';
import { startMade } from '../fixtures/http-made.ts';

const ACT = toolNamed('act', { annotations: { readOnlyHint: false, destructiveHint: false } });
/** It accepts other arguments, and declares so. */
const REWRITTEN = {
  ...ACT,
  description: 'Does what it wants.',
  inputSchema: { type: 'object', required: ['what'] },
};
const REWORDED = { ...ACT, description: 'Does act, at 12:01.' };
/** It declares more harm than before. */
const FRANKER = { ...ACT, annotations: { readOnlyHint: false, destructiveHint: true } };
const QUIET = { quiet: true };
const NEVER = { ASSAY_SERVERS_REFRESH_MS: '0' };

interface World {
  /** The name of its server. */
  readonly name: string;
  readonly assay: Gateway;
  readonly home: string;
  readonly admin: AdminClient;
  readonly server: Filed;
  readonly eventLog: EventLog;
  act(): Promise<JsonObject>;
  /** Waits until the drift of `act` is of this kind, and returns it. */
  drifted(kind: 'dangerous' | 'harmless' | 'none'): Promise<Json | undefined>;
  put(body: JsonObject): Promise<void>;
  refresh(): Promise<Json>;
  meet(): Promise<Omit<Model, 'home'>>;
}

interface Start {
  readonly quiet?: boolean;
  readonly tools?: readonly JsonObject[];
}

let shared: Promise<SharedAssay & { readonly token: string }> | undefined;
let worlds = 0;

async function openShared(): Promise<SharedAssay & { readonly token: string }> {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  return { ...(await startShared({ home, env: NEVER })), token };
}

/**
 * A new server in this file's Assay, with the tool `act`, after its first definition has been accepted. Nothing is
 * read again unless the server announces it or somebody asks.
 */
async function openWorld({ quiet = false, tools = [ACT] }: Start = {}): Promise<World> {
  const { assay, home, token, add } = await (shared ??= openShared());
  const name = `filed${(worlds += 1)}`;
  const eventLog = openEventLog();
  const server = filedServer(tools, { quiet, env: eventLog.env });
  await add({ [name]: server.entry });
  const world = worldOf({ name, assay, home, server, eventLog, token });
  await world.refresh();
  return world;
}

/** The same in a separate Assay, which may be stopped, have another environment, or lose its store. */
async function openOwn({
  quiet = false,
  tools = [ACT],
  env = {},
}: Start & { readonly env?: Readonly<Record<string, string>> } = {}): Promise<World> {
  const eventLog = openEventLog();
  const home = tempDir();
  const server = filedServer(tools, { quiet, env: eventLog.env });
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startGateway({ servers: { filed: server.entry }, home, env });
  await assay.settled();
  const world = worldOf({ name: 'filed', assay, home, server, eventLog, token });
  await world.refresh();
  return world;
}

/** The same after a restart. */
async function reopened(
  { assay: former, home, server, eventLog }: World,
  env: Readonly<Record<string, string>> = {},
): Promise<World> {
  await former.stop();
  const token = await keepToken(home, 'again', { scopes: ['admin'] });
  const assay = await startGateway({ servers: { filed: server.entry }, home, env });
  return worldOf({ name: 'filed', assay, home, server, eventLog, token });
}

function worldOf({
  token,
  ...parts
}: Pick<World, 'name' | 'assay' | 'home' | 'server' | 'eventLog'> & { readonly token: string }): World {
  const { name } = parts;
  const admin = adminClient(parts.assay, token);
  const act = (): Promise<JsonObject> => toolIn(admin, name, 'act');
  return {
    ...parts,
    admin,
    act,
    drifted: (kind) =>
      until(`the drift of "act" is ${kind}`, async () => {
        const found = await toolsOf(admin, `server=${name}&drift=${kind === 'none' ? 'none' : 'any'}`);
        const tool = found.get('act');
        const drift = at(tool, 'drift');
        return tool !== undefined && kindOf(drift) === kind ? (drift ?? null) : undefined;
      }),
    put: async (body) => {
      const answer = await admin.put(`/tools/${textAt(await act(), 'id')}`, body);
      if (answer.status !== 200) throw new Error(answer.text);
    },
    refresh: async () => {
      const answer = await admin.post(`/gateways/${name}/refresh`);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.json();
    },
    meet: () => meet({ url: parts.assay.url }, 'modern'),
  };
}

function kindOf(drift: Json | undefined): 'dangerous' | 'harmless' | 'none' {
  if (!isObject(drift)) return 'none';
  return at(drift, 'isDangerous') === true ? 'dangerous' : 'harmless';
}

/** `act` as the official client has it. */
async function listed(world: World, model: Pick<Model, 'client'>): Promise<JsonObject> {
  const own = `${world.name}_act`;
  const tool = (await model.client.listTools()).tools.find(({ name }) => name === own);
  return { description: tool?.description ?? '', hints: short((hint) => tool?.annotations?.[hint]) };
}

/** Waits for a log line about its server with this text. */
async function isLogged({ assay, name }: World, text: string): Promise<void> {
  await until(
    () => `the log says "${text}": ${assay.stderr()}`,
    () => {
      const lines = assay.stderr().split('\n');
      return lines.some((line) => line.includes(`"server":"${name}"`) && line.includes(text))
        ? true
        : undefined;
    },
  );
}

async function auditEventsOf(world: World): Promise<readonly JsonObject[]> {
  const store = await openAt({ home: world.home, databaseUrl: undefined });
  const found = await readableAuditEvents(store, {
    limit: 1_000,
    after: 0,
    targetId: textAt(await world.act(), 'id'),
  });
  await store.close();
  return found.map(({ action, subject, before = null, after = null }) => ({
    action,
    subject,
    before: before as Json,
    after: after as Json,
  }));
}

const READ_ONLY = { annotations: { readOnlyHint: true } };

describe.concurrent('a changed definition is found', () => {
  it('if the server announces it, and clients are notified at once', async () => {
    const world = await openWorld();
    const model = await world.meet();
    await model.tools();
    const before = model.changes();
    world.server.have([REWRITTEN]);
    expect(await world.drifted('dangerous')).toEqual({
      since: expect.any(String),
      severity: 'dangerous',
      isDangerous: true,
      dangers: ['its input schema changed'],
      flags: ['its description was rewritten'],
      isVolatile: false,
      changes: [
        { path: 'description', before: '"Does act."', after: '"Does what it wants."' },
        { path: 'inputSchema.properties', before: '{}' },
        { path: 'inputSchema.required', after: '["what"]' },
      ],
      suspends: [],
    });
    await until('the client is told', () => (model.changes() > before ? true : undefined));
    expect(await listed(world, model)).toEqual({ description: 'Does what it wants.', hints: '--..' });
    await isLogged(world, 'the definition of \\"act\\" has changed in a dangerous way');
    expect(await auditEventsOf(world)).toMatchObject([
      {
        action: 'tool.drift',
        subject: `server:${world.name}`,
        after: { dangers: ['its input schema changed', 'its description was rewritten'] },
      },
    ]);
  });

  it('if the server has restarted', async () => {
    const world = await openWorld(QUIET);
    const { server, eventLog } = world;
    await world.act();
    server.have([REWRITTEN]);
    await sleep(300);
    expect(at(await world.act(), 'drift')).toBeUndefined();
    kill(eventLog.read('start')[0]!.pid, 'SIGKILL');
    await world.drifted('dangerous');
    expect(eventLog.read('start')).toHaveLength(2);
  });

  it('at an interval, for a server that announces nothing', async () => {
    const world = await openOwn({ quiet: true, env: { ASSAY_SERVERS_REFRESH_MS: '200' } });
    await world.act();
    world.server.have([REWRITTEN]);
    await world.drifted('dangerous');
  });

  it('on demand, with the changes in the response', async () => {
    const world = await openWorld(QUIET);
    const stay = toolNamed('stay');
    world.server.have([ACT, stay, toolNamed('go')]);
    await world.refresh();
    world.server.have([toolNamed('come'), stay, REWRITTEN]);
    expect(await world.refresh()).toMatchObject({
      success: true,
      toolsAdded: ['come'],
      toolsUpdated: ['act'],
      toolsRemoved: ['go'],
    });
    expect(kindOf(at(await world.act(), 'drift'))).toBe('dangerous');
    expect(await world.refresh()).toMatchObject({ toolsAdded: [], toolsUpdated: [], toolsRemoved: [] });
  });

  it('on demand for a server that is down, after one more attempt to start it', async () => {
    let tools = [ACT];
    const options = {
      era: 'legacy' as const,
      get tools() {
        return tools;
      },
    };
    const first = await startMade(options);
    const home = tempDir();
    const token = await keepToken(home, 'boss', { scopes: ['admin'] });
    const assay = await startGateway({ servers: { filed: { url: first.url } }, home });
    const admin = adminClient(assay, token);
    await assay.settled();
    await first.close();
    expect(verdictOf(await admin.post('/gateways/filed/refresh'))).toBe('502 SERVER_UNAVAILABLE');
    await until(
      'the server rests',
      async () =>
        ['backoff', 'refused'].includes(textAt((await admin.get('/gateways/filed')).json(), 'state'))
          ? true
          : undefined,
      30_000,
    );
    tools = [REWRITTEN];
    const second = await startMade({ ...options, tools, port: first.port });
    const refreshed = await admin.post('/gateways/filed/refresh');
    expect([refreshed.status, at(refreshed.json(), 'toolsUpdated')]).toEqual([200, ['act']]);
    await second.close();
  });

  it('field by field, each with its values before and after', async () => {
    const rich: JsonObject = {
      ...ACT,
      title: 'Act',
      'x-vendor': { deep: [1, { two: 2 }] },
      inputSchema: {
        type: 'object',
        properties: { 'a b': { type: 'string' }, gone: {} },
        required: ['a b'],
      },
    };
    const world = await openWorld({ tools: [rich] });
    world.server.have([
      {
        ...rich,
        title: 'Acts',
        outputSchema: { type: 'object' },
        'x-vendor': { deep: [1, { two: 3 }] },
        annotations: { readOnlyHint: false, openWorldHint: false, mood: null },
        inputSchema: {
          type: 'object',
          properties: { 'a b': { type: 'number' } },
          required: ['a b', 'c'],
        },
      },
    ]);
    expect(at(await world.drifted('dangerous'), 'changes')).toEqual([
      { path: 'annotations.destructiveHint', before: 'false' },
      { path: 'annotations.mood', after: 'null' },
      { path: 'annotations.openWorldHint', after: 'false' },
      { path: 'inputSchema.properties["a b"].type', before: '"string"', after: '"number"' },
      { path: 'inputSchema.properties.gone', before: '{}' },
      { path: 'inputSchema.required', before: '["a b"]', after: '["a b","c"]' },
      { path: 'outputSchema', after: '{"type":"object"}' },
      { path: 'title', before: '"Act"', after: '"Acts"' },
      { path: 'x-vendor.deep[1].two', before: '2', after: '3' },
    ]);
  });

  it('only if its content differs, not its order or spelling', async () => {
    const world = await openWorld(QUIET);
    const { annotations, inputSchema, ...rest } = ACT;
    world.server.have([{ inputSchema: inputSchema!, annotations: annotations!, ...rest }]);
    expect(await world.refresh()).toMatchObject({ toolsUpdated: [] });
    expect(at(await world.act(), 'drift')).toBeUndefined();
    expect(await auditEventsOf(world)).toEqual([]);
  });

  it('for the listed tool, if a server has two of one name', async () => {
    const world = await openWorld(QUIET);
    world.server.have([ACT, REWRITTEN]);
    for (let time = 0; time < 3; time += 1) await world.refresh();
    expect(kindOf(at(await world.act(), 'drift'))).toBe('none');
    expect(await auditEventsOf(world)).toEqual([]);
  });
});

describe.concurrent('an override that lowers caution', () => {
  it('is absent from every list with the new definition, from the first one on', async () => {
    const world = await openWorld();
    await world.put(READ_ONLY);
    const model = await world.meet();
    const before = await listed(world, model);
    expect(before).toEqual({ description: 'Does act.', hints: '+-..' });
    const seen = new Set([Object.values(before).join(' ')]);
    const over = new AbortController();
    const listing = (async () => {
      while (!over.signal.aborted) seen.add(Object.values(await listed(world, model)).join(' '));
    })();
    world.server.have([REWRITTEN]);
    await world.drifted('dangerous');
    over.abort();
    await listing;
    seen.add(Object.values(await listed(world, model)).join(' '));
    expect([...seen].toSorted()).toEqual(['Does act. +-..', 'Does what it wants. --..']);
  });

  it('is absent from the first list after a start if the definition changed meanwhile', async () => {
    const world = await openOwn(QUIET);
    await world.put(READ_ONLY);
    world.server.have([REWRITTEN]);
    const model = await (await reopened(world)).meet();
    const seen = new Set<string>();
    await until('the server has said what it is now', async () => {
      const { description, hints } = await listed(world, model);
      seen.add(`${String(description)} ${String(hints)}`);
      return description === REWRITTEN.description ? true : undefined;
    });
    expect([...seen].filter((one) => one.startsWith(REWRITTEN.description))).toEqual([
      'Does what it wants. --..',
    ]);
  });

  it('is never applied to a tool that now claims more harm, until somebody accepts that', async () => {
    const tame = { ...ACT, annotations: { readOnlyHint: true, destructiveHint: false } };
    const world = await openOwn({ quiet: true, tools: [tame] });
    await world.put({ annotations: { readOnlyHint: true, destructiveHint: false } });
    world.server.have([FRANKER]);
    await world.refresh();
    const act = await world.act();
    expect([kindOf(at(act, 'drift')), claimsIn(at(act, 'hints'))]).toEqual([
      'dangerous',
      ['o+! d-', 'o-! d+', '', ''],
    ]);
    expect(await listed(world, await world.meet())).toMatchObject({ hints: '-+..' });
    expect([...(await toolsOf(world.admin, 'drift=dangerous')).keys()]).toEqual(['act']);
    const health = (await world.admin.get('/health')).json();
    expect(at(health, 'review')).toEqual({ tools: 1, dangerous: 1, suspended: 1 });
    await world.admin.post(`/tools/${textAt(act, 'id')}/review`);
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+ d-', 'o- d+', '', '']);
  });

  it('still applies after a change of text only, which waits for a review', async () => {
    const world = await openOwn(QUIET);
    await world.put(READ_ONLY);
    world.server.have([REWORDED]);
    await world.refresh();
    const act = await world.act();
    expect([at(act, 'drift', 'severity'), claimsIn(at(act, 'hints'))]).toEqual([
      'review',
      ['o+ d-', 'd-', '', ''],
    ]);
    const again = await reopened(world, { ASSAY_DRIFT_PROSE: 'suspend' });
    await again.assay.settled();
    await again.refresh();
    const strict = await again.act();
    expect([at(strict, 'drift', 'severity'), claimsIn(at(strict, 'hints'))]).toEqual([
      'dangerous',
      ['o+! d-', 'd-', '', ''],
    ]);
  });

  it('survives text that changes at each start, which is noted and not reported forever', async () => {
    const world = await openWorld(QUIET);
    await world.put(READ_ONLY);
    const kinds: unknown[] = [];
    for (const start of [1, 2, 3, 4, 5]) {
      world.server.have([{ ...ACT, description: `Does act, as process ${start}.` }]);
      kill(world.eventLog.read('start').at(-1)!.pid, 'SIGKILL');
      const act = await until(`start ${start} is compared`, async () => {
        const found = await world.act();
        return at(found, 'drift', 'changes', 0, 'after') === `"Does act, as process ${start}."`
          ? found
          : undefined;
      });
      kinds.push([at(act, 'drift', 'severity'), at(act, 'drift', 'isVolatile')]);
      expect(claimsIn(at(act, 'hints'))[0]).toBe('o+ d-');
      if (start === 4) await world.admin.post(`/tools/${textAt(act, 'id')}/review`);
    }
    expect(kinds).toEqual([
      ['review', false],
      ['review', false],
      ['review', true],
      ['review', true],
      // It was accepted as one whose prose changes.
      ['harmless', true],
    ]);
    expect((await auditEventsOf(world)).filter(({ action }) => action === 'tool.drift')).toHaveLength(2);
    // Volatile prose hides nothing else.
    world.server.have([REWRITTEN]);
    await world.refresh();
    const act = await world.act();
    expect([at(act, 'drift', 'severity'), claimsIn(at(act, 'hints'))[0]]).toEqual(['dangerous', 'o+! d-']);
  });

  it('applies at once if set while the change waits for a review, which still waits', async () => {
    const world = await openWorld(QUIET);
    await world.put({ annotations: { readOnlyHint: true, openWorldHint: false } });
    world.server.have([REWRITTEN]);
    await world.refresh();
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+! d-', 'd-', '', 'o-!']);
    const { id } = await world.act();
    await world.admin.ask('PATCH', `/tools/${String(id)}`, { body: READ_ONLY });
    const act = await world.act();
    expect([claimsIn(at(act, 'hints')), at(act, 'drift', 'suspends')]).toEqual([
      ['o+ d-', 'd-', '', 'o-!'],
      ['openWorldHint'],
    ]);
    expect(await listed(world, await world.meet())).toMatchObject({ hints: '+-..' });
  });

  it('applies again once somebody has reviewed the change, also after a restart, until the next change', async () => {
    const world = await openOwn(QUIET);
    await world.put(READ_ONLY);
    world.server.have([REWRITTEN]);
    await world.refresh();
    const { id } = await world.act();
    const reviewed = await world.admin.post(`/tools/${String(id)}/review`);
    expect([reviewed.status, at(reviewed.json(), 'drift'), claimsIn(at(reviewed.json(), 'hints'))]).toEqual([
      200,
      undefined,
      ['o+ d-', 'd-', '', ''],
    ]);
    expect((await auditEventsOf(world)).at(-1)).toMatchObject({ action: 'tool.review', subject: 'boss' });
    await world.refresh();
    expect(kindOf(at(await world.act(), 'drift'))).toBe('none');
    const again = await reopened(world);
    await again.assay.settled();
    await again.refresh();
    expect(claimsIn(at(await again.act(), 'hints'))).toEqual(['o+ d-', 'd-', '', '']);
    // The accepted definition is the reviewed one: the first definition is a change from it.
    world.server.have([ACT]);
    await again.refresh();
    expect(claimsIn(at(await again.act(), 'hints'))).toEqual(['o+! d-', 'd-', '', '']);
  });

  it('applies again once the definition equals the accepted one, and the drift is gone', async () => {
    const world = await openWorld();
    await world.put(READ_ONLY);
    world.server.have([REWRITTEN]);
    await world.drifted('dangerous');
    world.server.have([ACT]);
    await world.drifted('none');
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+ d-', 'd-', '', '']);
    expect((await auditEventsOf(world)).map(({ action }) => action)).toEqual([
      'tool.update',
      'tool.drift',
      'tool.undrift',
    ]);
  });

  it('waits for a review if it was set for a change that its server reverted', async () => {
    const world = await openWorld();
    world.server.have([REWRITTEN]);
    await world.drifted('dangerous');
    await world.put(READ_ONLY);
    world.server.have([ACT]);
    await world.drifted('none');
    // The override does not apply to the current definition.
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+! d-', 'd-', '', '']);
    const { id } = await world.act();
    expect(verdictOf(await world.admin.post(`/tools/${String(id)}/review`))).toBe('200');
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+ d-', 'd-', '', '']);
  });

  it('stays suspended while the change cannot be stored', async () => {
    const world = await openOwn(QUIET);
    await world.put({ annotations: { readOnlyHint: true, openWorldHint: true } });
    const release = lockStore(world.home);
    world.server.have([FRANKER]);
    const refreshed = world.refresh();
    await until('the change is read', async () =>
      at(await world.act(), 'annotations', 'destructiveHint') === true ? true : undefined,
    );
    await sleep(500);
    const held = await world.act();
    // Not reviewed yet. Overrides that raise caution always apply.
    expect(claimsIn(at(held, 'hints'))).toEqual(['o+! d-', 'd+', '', 'o+']);
    expect(textAt(held, 'hints', 'readOnlyHint', 'claims', 0, 'suspended')).toContain('is being compared');
    expect(await listed(world, await world.meet())).toMatchObject({ hints: '-+.+' });
    release();
    await refreshed;
    await until(
      'it is compared',
      async () => (kindOf(at(await world.act(), 'drift')) === 'dangerous' ? true : undefined),
      15_000,
    );
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+! d-', 'd+', '', 'o+']);
  });
});

describe.concurrent('a review', () => {
  it('is refused if the definition is not the one that was read', async () => {
    const world = await openWorld(QUIET);
    await world.put(READ_ONLY);
    world.server.have([REWRITTEN]);
    await world.refresh();
    const { id } = await world.act();
    const read = await world.admin.get(`/tools/${String(id)}`);
    const tag = { 'if-match': String(read.headers.etag) };
    world.server.have([{ ...REWRITTEN, description: 'Does worse.', outputSchema: { type: 'object' } }]);
    await world.refresh();
    const refused = await world.admin.post(`/tools/${String(id)}/review`, undefined, tag);
    expect(verdictOf(refused)).toBe('412 PRECONDITION_FAILED');
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+! d-', 'd-', '', '']);
    const now = await world.admin.get(`/tools/${String(id)}`);
    expect(refused.headers.etag).toBe(now.headers.etag);
    const again = { 'if-match': String(now.headers.etag) };
    expect(verdictOf(await world.admin.post(`/tools/${String(id)}/review`, undefined, again))).toBe('200');
    expect(claimsIn(at(await world.act(), 'hints'))).toEqual(['o+ d-', 'd-', '', '']);
  });

  it('of a tool that equals the accepted definition changes and records nothing', async () => {
    const world = await openWorld(QUIET);
    const { id } = await world.act();
    const before = await world.admin.get(`/tools/${String(id)}`);
    const reviewed = await world.admin.post(`/tools/${String(id)}/review`);
    expect([reviewed.status, reviewed.headers.etag]).toEqual([200, before.headers.etag]);
    expect(await auditEventsOf(world)).toEqual([]);
  });
});

describe.concurrent('a tool that keeps changing', () => {
  it('is reported a few times, however often it changes', async () => {
    const world = await openWorld();
    await world.act();
    for (let time = 0; time < 100; time += 1) {
      world.server.have([{ ...REWRITTEN, description: `Does it ${time}.` }]);
      await sleep(60);
    }
    await world.refresh();
    expect(at(await world.drifted('dangerous'), 'changes', 0, 'after')).toBe('"Does it 99."');
    expect(await auditEventsOf(world)).toHaveLength(1);
  });

  it('is reported a few times if it keeps returning to the accepted definition', async () => {
    const world = await openWorld();
    await world.act();
    for (let time = 0; time < 8; time += 1) {
      world.server.have([time % 2 === 0 ? REWRITTEN : ACT]);
      await world.drifted(time % 2 === 0 ? 'dangerous' : 'none');
    }
    expect((await auditEventsOf(world)).map(({ action }) => action)).toEqual(['tool.drift', 'tool.undrift']);
  });

  it('hides no dangerous change behind a harmless one', async () => {
    const world = await openWorld();
    await world.act();
    world.server.have([REWORDED]);
    await world.drifted('harmless');
    world.server.have([REWRITTEN]);
    await world.drifted('dangerous');
    expect((await auditEventsOf(world)).map(({ after }) => at(after, 'dangers'))).toEqual([
      ['its description was rewritten'],
      ['its input schema changed', 'its description was rewritten'],
    ]);
    await isLogged(world, 'changed in a dangerous way');
  });
});

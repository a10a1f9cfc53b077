// Tools that a rule refuses to a caller do not exist for it: not in lists, searches, answers or errors.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { sleep, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type JsonObject, listAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { meet, overStdio } from '../support/toolsets.ts';

const SERVERS = { plain: fixture('plain') };
const RULE: JsonObject = { effect: 'refuse', tool: 'plain.counter', token: 'ci*', name: 'no counting' };
const CONFIG: JsonObject = {
  settings: { 'mcp.access': 'token', 'activity.arguments': 'none' },
  policy: { rules: [RULE, { effect: 'refuse', toolset: 'narrow', tool: 'plain.echo' }] },
};

let assay: Gateway;
let admin: AdminClient;
let tokens: Readonly<Record<'ci' | 'ada', string>>;
const home = tempDir();
const config = writeConfig(SERVERS, CONFIG);

const at_ = (path: string): string => `http://127.0.0.1:${assay.port}/mcp${path}`;

beforeAll(async () => {
  const boss = await keepToken(home, 'boss', { scopes: ['admin'] });
  tokens = { ci: await keepToken(home, 'ci-1'), ada: await keepToken(home, 'ada') };
  assay = await startGateway({ home, config });
  admin = adminClient(assay, boss);
  await until('the tools are listed', async () =>
    (await admin.get('/tools')).text.includes('plain_counter') ? true : undefined,
  );
  await admin.post('/toolsets', { name: 'narrow', tools: ['plain.echo', 'plain.counter'] });
});

type Who = keyof typeof tokens;

async function namesAt(path: string, who: Who): Promise<readonly string[]> {
  const headers = bearer(tokens[who]);
  const legacy = await (await openSession(at_(path), { headers })).ask('tools/list', {});
  const modern = await modernAsk(at_(path), 'tools/list', { headers });
  const [one, other] = [legacy, modern].map((answer) =>
    listAt(answer, 'result', 'tools').map((tool) => String(at(tool, 'name'))),
  );
  expect(one).toEqual(other);
  return one ?? [];
}

/** The whole answer to a call, in both eras, with the name replaced. */
async function answersTo(
  path: string,
  who: Who,
  name: string,
  params: JsonObject,
): Promise<readonly string[]> {
  const headers = bearer(tokens[who]);
  const session = await openSession(at_(path), { headers });
  const legacy = await session.ask('tools/call', params);
  const modern = await modernAsk(at_(path), 'tools/call', { headers, params });
  return [legacy, modern].map((answer) => {
    const { id: _, ...rest } = answer as JsonObject;
    return JSON.stringify(rest).replaceAll(name, 'NAME');
  });
}

describe('a tool that a rule refuses to the caller', () => {
  it('is missing from the lists of every endpoint, for this caller alone', async () => {
    for (const [path, name] of [
      ['/all', 'plain_counter'],
      ['/servers/plain', 'counter'],
      ['/toolsets/narrow', 'plain_counter'],
    ] as const) {
      expect([path, await namesAt(path, 'ada')]).toEqual([path, expect.arrayContaining([name])]);
      expect([path, await namesAt(path, 'ci')]).toEqual([path, expect.not.arrayContaining([name])]);
    }
    // This rule is about a toolset, whoever calls.
    expect(await namesAt('/toolsets/narrow', 'ada')).not.toContain('plain_echo');
    expect(await namesAt('/all', 'ada')).toContain('plain_echo');
  });

  it('is answered like an unknown one, byte for byte, at every endpoint and in both eras', async () => {
    for (const [path, hidden, unknown] of [
      ['/all', 'plain_counter', 'plain_nothing'],
      ['/servers/plain', 'counter', 'nothing'],
      ['/toolsets/narrow', 'plain_counter', 'plain_nothing'],
      ['', 'plain_counter', 'plain_nothing'],
      ['/search', 'plain_counter', 'plain_nothing'],
      ['/configuration', 'plain_counter', 'plain_nothing'],
    ] as const)
      for (const more of [{}, { task: {} }]) {
        const [one, other] = await Promise.all(
          [hidden, unknown].map((name) => answersTo(path, 'ci', name, { name, arguments: {}, ...more })),
        );
        expect([path, one]).toEqual([path, other]);
      }
  });

  it('is not found, described or called through the search tools', async () => {
    const headers = bearer(tokens.ci);
    const called = async (name: string, args: JsonObject): Promise<string> =>
      JSON.stringify(
        await modernAsk(at_('/search'), 'tools/call', { headers, params: { name, arguments: args } }),
      );
    expect(await called('search_tools', { query: 'counter' })).not.toContain('plain_counter');
    for (const tool of ['describe_tool', 'call_tool'])
      for (const name of ['plain_counter', 'plain.counter']) {
        const other = name.replace('counter', 'xxxxxxx');
        const [hidden, unknown] = await Promise.all([
          answersTo('/search', 'ci', name, { name: tool, arguments: { name } }),
          answersTo('/search', 'ci', other, { name: tool, arguments: { name: other } }),
        ]);
        expect(hidden).toEqual(unknown);
      }
  });

  it('is not in the answers of the configuration tools', async () => {
    const headers = bearer(tokens.ci);
    const ask = async (name: string, args: JsonObject): Promise<string> =>
      JSON.stringify(
        await modernAsk(at_('/configuration'), 'tools/call', { headers, params: { name, arguments: args } }),
      );
    expect(await ask('list-available-tools', { query: 'counter' })).not.toContain('counter:');
    expect(await ask('list-available-tools', { server: 'plain' })).not.toContain('plain.counter');
    expect(await ask('list-saved-toolsets', {})).not.toContain('plain.counter');
    expect(await ask('list-available-tools', { tools: ['plain.counter'] })).toContain('REF_UNKNOWN');
    const built = await ask('build-toolset', { name: 'mine', tools: ['plain.counter'] });
    expect(built).toContain('REF_UNKNOWN');
    await admin.post('/toolsets/narrow/equip', {});
    expect(await ask('get-active-toolset', {})).not.toContain('counter');
    const note = { toolRef: 'plain.counter', notes: [{ name: 'a', note: 'b' }] };
    expect(await ask('add-tool-annotation', note)).toContain('REF_UNKNOWN');
  });

  it('is recorded with the rule, also if it was called through call_tool', async () => {
    const headers = bearer(tokens.ci);
    // Calls of other tests may be recorded only now.
    const since = new Date().toISOString();
    await modernAsk(at_('/all'), 'tools/call', { headers, params: { name: 'plain_counter', arguments: {} } });
    const params = { name: 'call_tool', arguments: { name: 'plain_counter' } };
    await modernAsk(at_('/search'), 'tools/call', { headers, params });
    const entries = await until('both are recorded', async () => {
      const all = await refusals(since);
      return all.length === 2 ? all : undefined;
    });
    for (const entry of entries) {
      expect(entry).toMatchObject({ outcome: 'CALL_REFUSED', decision: { kind: 'refuse' }, subject: 'ci-1' });
      expect(JSON.stringify(entry)).toContain('no counting');
    }
  });

  it('is seen by operators, whose calls are refused with the rule', async () => {
    const tools = JSON.stringify((await admin.get('/tools')).json());
    expect(tools).toContain('plain.counter');
    const place = tempDir();
    const own = writeConfig(SERVERS, {
      policy: { rules: [{ effect: 'refuse', tool: 'plain.counter', name: 'none' }] },
    });
    await startGateway({ home: place, config: own });
    for (const here of [place, tempDir()]) {
      const run = await runAssay(['call', 'plain.counter', '--config', own, '--home', here]);
      expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('rule "none" refuses it')]);
      expect((await runAssay(['tools', '--config', own, '--home', here])).stdout).toContain('counter');
    }
  });
});

async function refusals(since: string): Promise<readonly JsonObject[]> {
  const { calls } = (await admin.get(`/activity/calls?outcome=CALL_REFUSED&since=${since}`)).json() as {
    calls: JsonObject[];
  };
  return calls;
}

it.each(['legacy', 'modern'] as const)(
  'changed rules are announced to callers whose lists change, %s',
  async (era) => {
    const [ci, ada] = await Promise.all(
      (['ci', 'ada'] as const).map((who) => meet({ url: at_('/all'), headers: bearer(tokens[who]) }, era)),
    );
    if (ci === undefined || ada === undefined) throw new Error('no clients');
    expect(await ci.tools()).toContain('plain_echo');
    await ada.tools();
    await admin.put('/policy/rules', { rules: [{ effect: 'refuse', tool: 'plain.echo', token: 'ci*' }] });
    await until('it is told', () => (ci.changes() === 1 ? true : undefined));
    expect(await ci.tools()).not.toContain('plain_echo');
    await admin.put('/policy/rules', { rules: [] });
    await until('it is told again', () => (ci.changes() === 2 ? true : undefined));
    expect(await ci.tools()).toContain('plain_echo');
    await sleep(100);
    expect([ci.changes(), ada.changes()]).toEqual([2, 0]);
  },
);

it.each(['legacy', 'modern'] as const)('over stdio a rule for "local" hides as well, %s', async (era) => {
  const rules = [
    { effect: 'refuse', tool: 'plain.counter', token: 'local' },
    { effect: 'ask', tool: 'plain.echo' },
  ];
  const model = await overStdio(
    { servers: SERVERS, config: { policy: { rules } }, view: { all: true } },
    era,
  );
  const names = await until('the tools are listed', async () => {
    const all = await model.tools();
    return all.includes('plain_add') ? all : undefined;
  });
  expect(names).not.toContain('plain_counter');
  expect(names).toContain('plain_echo');
  await expect(model.call('plain_counter')).rejects.toThrow(/plain_counter/);
});

describe('a rule that refuses everything to a caller', () => {
  let gateway: Gateway;
  let token: string;
  const place = tempDir();

  beforeAll(async () => {
    token = await keepToken(place, 'mallory');
    const rules = [{ effect: 'refuse', token: 'mallory' }];
    gateway = await startGateway({ home: place, config: writeConfig(SERVERS, { policy: { rules } }) });
  });

  it('hides the tools of Assay as well, in either mode and at every endpoint', async () => {
    const headers = bearer(token);
    for (const path of ['', '/all', '/configuration', '/search', '/servers/plain'])
      for (const era of ['legacy', 'modern'] as const) {
        const model = await meet({ url: `http://127.0.0.1:${gateway.port}/mcp${path}`, headers }, era);
        expect([path, era, await model.tools()]).toEqual([path, era, []]);
        const messages = await Promise.all(
          [
            'enter-configuration-mode',
            'equip-toolset',
            'search_tools',
            'call_tool',
            'plain_echo',
            'echo',
            'zzz',
          ].map(async (name) =>
            model.call(name).then(
              ({ text }) => text,
              (error: unknown) => String(error).replaceAll(name, 'NAME'),
            ),
          ),
        );
        expect([path, era, new Set(messages).size, messages[0]]).toEqual([path, era, 1, messages[6]]);
        await model.client.close();
      }
  });
});

it('a stored rule is cached for the first list of the next process over stdio', async () => {
  const place = tempDir();
  const boss = await keepToken(place, 'boss', { scopes: ['admin'] });
  const own = writeConfig(SERVERS);
  const gateway = await startGateway({ home: place, config: own });
  const client = adminClient(gateway, boss);
  await client.put('/policy/rules', { rules: [{ effect: 'refuse', tool: 'plain.counter', token: 'local' }] });
  await gateway.settled();
  await gateway.stop();
  const model = await overStdio({ servers: SERVERS, home: place, view: { all: true } }, 'modern');
  for (let count = 0; count < 20; count += 1) expect(await model.tools()).not.toContain('plain_counter');
  await until('the tools are listed', async () =>
    (await model.tools()).includes('plain_echo') ? true : undefined,
  );
  expect(await model.tools()).not.toContain('plain_counter');
});

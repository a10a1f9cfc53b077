// What an operator stops stays stopped: on every replica, on every way to a server, and after a restart.
import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf, type AdminClient } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';
import { newDatabase } from '../support/postgres.ts';
import {
  callText,
  listedTool,
  openRestWorld,
  sayJson,
  serveApi,
  type RestWorld,
} from '../support/rest-tools.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { meet } from '../support/toolsets.ts';

const KEY = Buffer.alloc(32, 5).toString('base64');
/** An answer of a replica that has heard of the stop. */
const STOPPED = /^error: The request was refused, and it had no effect\. "boss-\d+" stopped /;
const ALL = { allCalls: true };

async function stop(admin: AdminClient, body: JsonObject): Promise<Json> {
  const stopped = await admin.post('/stops', body);
  expect(verdictOf(stopped)).toBe('200');
  return stopped.json();
}

async function end(admin: AdminClient, id: string): Promise<void> {
  expect(verdictOf(await admin.delete(`/stops/${id}`))).toBe('204');
}

describe.each(['SQLite', 'PostgreSQL'] as const)('two replicas on one store in %s', (kind) => {
  let one: RestWorld;
  let two: RestWorld;
  const isShared = kind === 'PostgreSQL';
  beforeAll(async () => {
    const env: Record<string, string> = isShared
      ? { ASSAY_DATABASE_URL: await newDatabase(), ASSAY_ENCRYPTION_KEY: KEY }
      : {};
    const home = tempDir();
    const start = (own: string): Promise<RestWorld> =>
      openRestWorld({ servers: { plain: fixture('plain') }, home: own, env });
    one = await start(home);
    two = await start(isShared ? tempDir() : home);
  });

  it('refuse calls within a second after one of them was told, and allow them again', async () => {
    const isStopped = async (): Promise<true | undefined> =>
      STOPPED.test(await callText(two.assay, 'plain_label')) ? true : undefined;
    expect(await callText(two.assay, 'plain_label')).toBe('plain');
    await stop(one.admin, { ...ALL, reason: 'it misbehaves' });
    const toldMs = performance.now();
    await until('the other replica refuses', isStopped);
    expect(performance.now() - toldMs).toBeLessThan(scaledMs(1_000));
    expect(await callText(one.assay, 'plain_label')).toMatch(STOPPED);
    await end(two.admin, 'all_calls');
    await until('the first replica calls again', async () =>
      (await callText(one.assay, 'plain_label')) === 'plain' ? true : undefined,
    );
  });
});

describe('a stop', () => {
  let world: RestWorld;
  const held: ServerResponse[] = [];
  let api: Awaited<ReturnType<typeof serveApi>>;
  const home = tempDir();
  const config = writeConfig(
    { plain: fixture('plain') },
    { settings: { 'limits.requestsPerServer': 1, 'limits.approvalWaitMs': 60_000 } },
  );

  beforeAll(async () => {
    api = await serveApi(({ target }, response) =>
      target === '/hold' ? void held.push(response) : sayJson(response, { target }),
    );
    world = await openRestWorld({ home, config });
    const make = async (name: string): Promise<void> => {
      const made = await world.admin.post('/tools', { name, url: `${api.url}/${name}`, method: 'POST' });
      expect(verdictOf(made)).toBe('201');
    };
    await make('hold');
    await make('quick');
    await until('the tools are listed', () => listedTool(world.assay.url, 'quick'));
  });

  const reached = (target: string): number => api.seen.filter((one) => one.target === target).length;

  it('of a tool refuses its calls alone, says who, when and why, and keeps it listed', async () => {
    const { admin, assay } = world;
    const before = await modernAsk(assay.url, 'tools/list');
    const made = await stop(admin, { tool: 'plain_echo', reason: 'it echoes' });
    expect(made).toMatchObject({
      kind: 'tool',
      server: 'plain',
      tool: 'plain.echo',
      reason: 'it echoes',
      releases: {
        tools: 1,
        names: ['plain.echo'],
        destructive: ['plain.echo'],
        destructiveCount: 1,
        unlisted: [],
      },
    });
    expect(await modernAsk(assay.url, 'tools/list')).toEqual(before);
    const session = await openSession(assay.url);
    const answer = await session.ask('tools/call', { name: 'plain_echo', arguments: {} });
    expect(textOf(answer)).toBe(
      `The request was refused, and it had no effect. "${textAt(made, 'by')}" stopped the tool "plain.echo" at ${textAt(made, 'at')}: "it echoes". Do not retry it; tell the user. An operator can allow it again with \`assay enable plain.echo\`.`,
    );
    expect(at(answer, 'result', '_meta', 'assay/refusal', 'code')).toBe('CALL_STOPPED');
    expect(await callText(assay, 'plain_label')).toBe('plain');
    const decision = await admin.get('/tools/plain_echo/decision');
    expect(decision.json()).toMatchObject({
      decision: 'refuse',
      isCarriedOut: false,
      reasons: [{ code: 'stopped' }],
    });
    expect(await stop(admin, { tool: 'plain.echo', reason: 'again' })).toEqual(made);
    await end(admin, textAt(made, 'id'));
    expect(await callText(assay, 'plain_echo')).toBe('{}');
    const { activity } = (await admin.get('/activity?limit=2')).json() as { readonly activity: Json };
    expect(listAt(activity).map((event) => [at(event, 'action'), at(event, 'target', 'name')])).toEqual([
      ['stop.delete', 'plain.echo'],
      ['stop.create', 'plain.echo'],
    ]);
  });

  it('of a server also refuses its resources, prompts and completions, and reaches it on no other way', async () => {
    const { admin, assay } = world;
    const seen = await callText(assay, 'plain_seen');
    const made = await stop(admin, { server: 'plain' });
    const session = await openSession(assay.url);
    const resource = { uri: 'plain://plain/readme' };
    const requests: readonly (readonly [string, JsonObject])[] = [
      ['resources/read', resource],
      ['resources/subscribe', resource],
      ['prompts/get', { name: 'plain_greet', arguments: {} }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'plain_greet' }, argument: { name: 'x', value: '' } },
      ],
    ];
    for (const [method, params] of requests) {
      const answer = await session.ask(method, params);
      expect([method, at(answer, 'error', 'data', 'code')]).toEqual([method, 'CALL_STOPPED']);
    }
    for (const path of ['/mcp/search', '/mcp/servers/plain']) {
      const client = await meet({ url: assay.url.replace('/mcp/all', path) }, 'modern');
      const called =
        path === '/mcp/search'
          ? await client.call('call_tool', { name: 'plain.label', arguments: {} })
          : await client.call('label');
      expect(called).toMatchObject({
        isError: true,
        text: expect.stringContaining('stopped the server "plain"') as string,
      });
    }
    expect((await admin.post('/tools/plain_label/run', { arguments: {} })).text).toContain('stopped');
    expect(verdictOf(await admin.post('/gateways/plain/verify'))).toMatch(/^403 /);
    const command = await runAssay(['call', 'plain.label', '--config', config, '--home', home]);
    expect([command.code, command.stderr]).toEqual([
      1,
      expect.stringContaining('stopped the server "plain"'),
    ]);
    await end(admin, textAt(made, 'id'));
    const now = JSON.parse(await callText(assay, 'plain_seen')) as Readonly<Record<string, number>>;
    const then = JSON.parse(seen) as Readonly<Record<string, number>>;
    const asked = (counts: Readonly<Record<string, number>>): readonly unknown[] =>
      ['resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete'].map(
        (method) => counts[method],
      );
    expect(asked(now)).toEqual(asked(then));
    expect(now['tools/call']).toBe((then['tools/call'] ?? 0) + 1);
  });

  it('reaches a call that waits in the queue, and does not cut the one that was sent', async () => {
    const { admin, assay } = world;
    const sent = callText(assay, 'hold');
    await until('the first call is at its server', () => (held.length > 0 ? true : undefined));
    const waiting = callText(assay, 'quick');
    await until('the second call waits', async () =>
      (await admin.get('/metrics')).text.includes('assay_queue_length{server="local"} 1') ? true : undefined,
    );
    const made = await stop(admin, { server: 'local' });
    sayJson(held.pop()!, { done: true });
    expect(await sent).toBe('{"done":true}');
    expect(await waiting).toMatch(STOPPED);
    expect(reached('/quick')).toBe(0);
    await end(admin, textAt(made, 'id'));
  });

  it('reaches a call that waits for approval, which is not sent even if it is then approved', async () => {
    const { admin, assay } = world;
    await admin.ask('PATCH', '/preferences', { body: { approvals: 'gateway' } });
    const waiting = callText(assay, 'quick');
    const id = await until('it waits', async () => {
      const [first] = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
      return first === undefined ? undefined : textAt(first, 'id');
    });
    await stop(admin, ALL);
    await admin.post(`/approvals/${id}/approve`, {});
    expect(await waiting).toMatch(STOPPED);
    expect(reached('/quick')).toBe(0);
    await end(admin, 'all_calls');
    await admin.ask('PATCH', '/preferences', { body: { approvals: null } });
  });

  it('of all calls leaves the tools of Assay itself usable', async () => {
    const { admin, assay } = world;
    await stop(admin, ALL);
    const search = await meet({ url: assay.url.replace('/mcp/all', '/mcp/search') }, 'modern');
    expect(await search.call('search_tools', { query: 'label' })).toMatchObject({ isError: false });
    expect(await search.call('call_tool', { name: 'plain.label', arguments: {} })).toMatchObject({
      isError: true,
    });
    await end(admin, 'all_calls');
  });

  it('refuses what it cannot mean', async () => {
    const { admin } = world;
    const verdict = async (body: JsonObject): Promise<string> => verdictOf(await admin.post('/stops', body));
    expect(await verdict({ server: 'plan' })).toBe('404 SERVER_UNKNOWN');
    expect(await verdict({ tool: 'plain.ech' })).toBe('404 TOOL_UNKNOWN');
    expect(await verdict({})).toBe('422 BODY_INVALID');
    expect(await verdict({ server: 'plain', allCalls: true })).toBe('422 BODY_INVALID');
    expect(await verdict({ server: 'plain', reason: 'a\nb' })).toBe('422 BODY_INVALID');
    expect(await verdict({ server: 'plain', reason: 'x'.repeat(301) })).toBe('422 BODY_INVALID');
    expect(verdictOf(await admin.delete('/stops/all_calls'))).toBe('404 STOP_UNKNOWN');
  });
});

it('`assay disable` and `assay enable` work without a running gateway, and a gateway that starts obeys', async () => {
  const home = tempDir();
  const config = writeConfig({ plain: fixture('plain') });
  const place = ['--config', config, '--home', home];
  const disabled = await runAssay(['disable', '--all-calls', '--reason', 'an incident', ...place]);
  expect([disabled.code, disabled.stderr]).toEqual([0, '']);
  expect(disabled.stdout).toContain('Stopped all calls');
  const { assay } = await openRestWorld({ home, config });
  expect(await callText(assay, 'plain_label')).toContain('"local" stopped all calls at');
  const status = await runAssay(['status', ...place]);
  expect(status.stdout).toContain('stopped   all calls, by local');
  expect(await assay.health()).toMatchObject({ stops: [{ kind: 'all_calls', reason: 'an incident' }] });
  expect(await readGauge(assay, 'assay_stops', { kind: 'all_calls' })).toBe(1);
  const unasked = await runAssay(['enable', '--all-calls', ...place]);
  expect([unasked.code, unasked.stdout]).toEqual([2, expect.stringContaining('enabling allows: 11 tools')]);
  expect(unasked.stdout).toContain('of which may be destructive (11)');
  expect(await callText(assay, 'plain_label')).toContain('stopped all calls');
  const enabled = await runAssay(['enable', '--all-calls', '--yes', '--json', ...place]);
  expect(JSON.parse(enabled.stdout)).toMatchObject({
    kind: 'all_calls',
    ended: true,
    releases: { tools: 11 },
  });
  await until('calls go again', async () =>
    (await callText(assay, 'plain_label')) === 'plain' ? true : undefined,
  );
  expect((await runAssay(['enable', 'plain', '--yes', ...place])).code).toBe(2);
});

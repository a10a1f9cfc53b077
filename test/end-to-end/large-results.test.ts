// Results above `maxResultBytes`: what clients get of them, and who may read the rest.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const LIMIT = 10_000;
const TEXT = `${'é'.repeat(10_000)}${'z'.repeat(10_000)}`;
const LARGE = JSON.stringify({ content: [{ type: 'text', text: TEXT }] });

interface World {
  readonly gateways: readonly [Gateway, Gateway];
  readonly tokens: Readonly<Record<'ada' | 'ben' | 'boss', string>>;
  readonly admin: AdminClient;
}

/** Two replicas on one store. */
async function openWorld(databaseUrl?: string): Promise<World> {
  const home = tempDir();
  const env: Record<string, string> = databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl };
  const [ada, ben, boss] = [
    await keepToken(home, 'ada', { databaseUrl }),
    await keepToken(home, 'ben', { databaseUrl }),
    await keepToken(home, 'boss', { scopes: ['admin'], databaseUrl }),
  ];
  const settings = { settings: { 'mcp.access': 'token', 'activity.arguments': 'masked' } };
  const servers = {
    odd: { ...fixture('odd'), maxResultBytes: { hear: 20_000, 's*': LIMIT } },
    plain: { ...fixture('plain'), maxResultBytes: LIMIT },
    free: fixture('plain'),
    bare: { ...filedServer([toolNamed('x')]).entry, maxResultBytes: LIMIT },
    none: filedServer([toolNamed('x')]).entry,
  };
  const start = (own: string): Promise<Gateway> => startGateway({ servers, home: own, env, settings });
  const one = await start(home);
  const two = await start(databaseUrl === undefined ? home : tempDir());
  return { gateways: [one, two], tokens: { ada, ben, boss }, admin: adminClient(one, boss) };
}

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

interface Where {
  readonly gateway?: Gateway;
  readonly token?: string;
  readonly endpoint?: string;
}

function ask(method: string, params: JsonObject, where: Where = {}): Promise<Json> {
  const { gateway = world.gateways[0], token = world.tokens.ada, endpoint = 'all' } = where;
  const url = `http://127.0.0.1:${gateway.port}/mcp/${endpoint}`;
  return modernAsk(url, method, { params, headers: bearer(token) });
}

const say = (raw: string, where?: Where): Promise<Json> =>
  ask(
    'tools/call',
    { name: where?.endpoint === 'servers/odd' ? 'say' : 'odd_say', arguments: { raw } },
    where,
  );
const read = (uri: string, where?: Where): Promise<Json> => ask('resources/read', { uri }, where);
const linkIn = (answer: Json): string => textAt(answer, 'result', 'content', 2, 'uri');

const NONE = 'assay://results/AAAAAAAAAAAAAAAAAAAAAA';
const withoutUri = (answer: Json, uri: string): string => JSON.stringify(answer).replaceAll(uri, NONE);

describe('a result above the limit of its tool', () => {
  it('is cut between characters, and its whole can be read', async () => {
    const answer = await say(LARGE);
    const [head, notice, link, tail, ...more] = listAt(answer, 'result', 'content');
    expect(more).toEqual([]);
    expect([textAt(head ?? null, 'text'), textAt(tail ?? null, 'text')]).toEqual([
      expect.stringMatching(/^é{3400,3500}$/),
      expect.stringMatching(/^z{1900,2000}$/),
    ]);
    const uri = linkIn(answer);
    expect(uri).toMatch(/^assay:\/\/results\/[\w-]{22}$/);
    expect([textAt(notice ?? null, 'text'), link]).toEqual([
      `[Assay left out the middle of this result: its ${Buffer.byteLength(LARGE)} bytes exceed the limit of 10000 (maxResultBytes). Read the full result as the resource ${uri} within 15 minutes.]`,
      { type: 'resource_link', uri, name: 'whole result', size: Buffer.byteLength(LARGE) },
    ]);
    expect(JSON.stringify(at(answer, 'result')).length).toBeLessThanOrEqual(LIMIT);
    expect(at(await read(uri), 'result')).toMatchObject({
      contents: [{ uri, mimeType: 'text/plain', text: TEXT }],
      resultType: 'complete',
      cacheScope: 'private',
    });
    expect(JSON.stringify(await ask('resources/list', {}))).not.toContain('assay://');
  });

  it.each(['legacy', 'modern'] as const)(
    'reaches the official %s client, which reads the whole',
    async (era) => {
      const url = `http://127.0.0.1:${world.gateways[0].port}/mcp/all`;
      const client = await connectClient({ url, headers: bearer(world.tokens.ada) }, era);
      const { content } = await client.callTool({ name: 'odd_say', arguments: { raw: LARGE } });
      const link = content.find((one) => one.type === 'resource_link');
      const { contents } = await client.readResource({ uri: String(link?.uri) });
      expect(contents).toEqual([{ uri: link?.uri, mimeType: 'text/plain', text: TEXT }]);
    },
  );

  it('has no link for clients that do not know links', async () => {
    const url = `http://127.0.0.1:${world.gateways[0].port}/mcp/all`;
    const headers = bearer(world.tokens.ada);
    const session = await openSession(url, { version: '2025-03-26', headers });
    const answer = await session.ask('tools/call', { name: 'odd_say', arguments: { raw: LARGE } });
    expect(listAt(answer, 'result', 'content').map((item) => at(item, 'type'))).toEqual([
      'text',
      'text',
      'text',
    ]);
    const uri = /assay:\S+/.exec(textAt(answer, 'result', 'content', 1, 'text'))?.[0] ?? '';
    expect(textAt(await session.ask('resources/read', { uri }), 'result', 'contents', 0, 'text')).toBe(TEXT);
  });

  it('is an error that says how to go on if it is structured or cannot be cut', async () => {
    for (const [raw, why] of [
      [JSON.stringify({ content: [], structuredContent: { TEXT } }), ', as it is structured'],
      [JSON.stringify({ content: [], _meta: { TEXT } }), ''],
    ] as const) {
      const answer = await say(raw);
      expect([at(answer, 'result', 'isError'), textAt(answer, 'result', 'content', 0, 'text')]).toEqual([
        true,
        `The tool "odd_say" was called, but its result of ${Buffer.byteLength(raw)} bytes exceeds the limit of 10000 and cannot be cut${why}. Request less data, or raise "maxResultBytes" in the config entry of the server "odd".`,
      ]);
    }
  });

  it('stays as it is below the limit, and where there is none', async () => {
    const small = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(9_000) }] });
    expect(at(await say(small), 'result', 'content')).toEqual(at(JSON.parse(small) as Json, 'content'));
    const args = { text: 'x'.repeat(30_000) };
    const answer = await ask('tools/call', { name: 'free_echo', arguments: args });
    expect(JSON.stringify(answer)).toContain(args.text);
    expect(JSON.stringify(await ask('tools/call', { name: 'plain_echo', arguments: args }))).not.toContain(
      args.text,
    );
  });
});

describe('the whole of a result', () => {
  it('is unknown to everyone else, like one that never was', async () => {
    const uri = linkIn(await say(LARGE));
    const unknown = JSON.stringify(await read(NONE));
    expect(unknown).toContain('-32602');
    for (const where of [
      { token: world.tokens.ben },
      { endpoint: 'servers/odd' },
      { endpoint: 'servers/plain' },
      { token: world.tokens.ben, endpoint: 'servers/odd' },
    ])
      expect(withoutUri(await read(uri, where), uri)).toBe(unknown);
    const own = linkIn(await say(LARGE, { endpoint: 'servers/odd' }));
    expect(withoutUri(await read(own), own)).toBe(unknown);
    expect(textAt(await read(own, { endpoint: 'servers/odd' }), 'result', 'contents', 0, 'text')).toBe(TEXT);
  });

  it('is offered as a resource also where no server has any', async () => {
    for (const [server, hasResources] of [
      ['bare', true],
      ['none', false],
    ] as const) {
      const endpoint = `servers/${server}`;
      await ask('tools/call', { name: 'x', arguments: {} }, { endpoint });
      const { capabilities } = at(await ask('server/discover', {}, { endpoint }), 'result') as JsonObject;
      expect(Object.hasOwn(capabilities as JsonObject, 'resources')).toBe(hasResources);
      const listed = await ask('resources/list', {}, { endpoint });
      expect(at(listed, 'result', 'resources')).toEqual(hasResources ? [] : undefined);
    }
  });

  it('is deleted with the token, and another token of that name does not get it', async () => {
    const { gateways, admin } = world;
    const first = await keepToken(gateways[0].home, 'cleo');
    const uri = linkIn(await say(LARGE, { token: first }));
    expect(verdictOf(await admin.delete(`/tokens/${first.split('_')[1] ?? ''}`))).toBe('204');
    const second = await keepToken(gateways[0].home, 'cleo');
    expect(withoutUri(await read(uri, { token: second }), uri)).toBe(JSON.stringify(await read(NONE)));
  });

  it('labels its reader like the call', async () => {
    const { admin } = world;
    const uri = linkIn(await say(LARGE));
    expect(verdictOf(await admin.delete('/labels/ada'))).toBe('204');
    await read(uri);
    const labels = listAt((await admin.get('/labels')).json(), 'labels');
    expect(labels.filter((label) => at(label, 'subject') === 'ada')).toMatchObject([
      { label: 'saw-untrusted', source: 'odd.say' },
    ]);
  });

  it('follows the rules, and is recorded', async () => {
    const { admin } = world;
    const uri = linkIn(await say(LARGE));
    await read(uri);
    const calls = await until('the read is recorded', async () => {
      const shown = listAt((await admin.get('/activity/calls?limit=1')).json(), 'calls');
      return JSON.stringify(shown).includes('assay://results') ? shown : undefined;
    });
    expect(calls[0]).toMatchObject({ subject: 'ada', outcome: 'ok', endpoint: 'all' });
    const rule = { effect: 'refuse', tool: 'odd.say', because: 'no more' };
    expect(verdictOf(await admin.put('/policy/rules', { rules: [rule] }))).toBe('200');
    expect(withoutUri(await read(uri), uri)).toBe(JSON.stringify(await read(NONE)));
    // What an operator wants to approve first is not read either, unless the call was approved.
    await admin.put('/policy/rules', { rules: [{ ...rule, effect: 'ask' }] });
    await admin.put('/preferences', { approvals: 'gateway' });
    expect(at(await read(uri), 'error', 'data', 'code')).toBe('CALL_REFUSED');
    await admin.put('/preferences', { approvals: null });
    await admin.put('/policy/rules', { rules: [] });
    expect(textAt(await read(uri), 'result', 'contents', 0, 'text')).toBe(TEXT);
  });
});

it.each(['SQLite', 'PostgreSQL'] as const)('another replica has the whole as well, in %s', async (kind) => {
  const { gateways, tokens } = await openWorld(kind === 'SQLite' ? undefined : await newDatabase());
  const [one, two] = gateways;
  const uri = linkIn(await say(LARGE, { gateway: one, token: tokens.ada }));
  expect(textAt(await read(uri, { gateway: two, token: tokens.ada }), 'result', 'contents', 0, 'text')).toBe(
    TEXT,
  );
});

// Verification of a server in a running gateway: where its observations apply, and for how long.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { toolIn } from '../support/hints.ts';
import { openStream } from '../support/http.ts';
import { at, listAt, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { lockedServer, lyingServer, type Lying } from '../support/lying.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { meet, type Model } from '../support/toolsets.ts';

const home = tempDir();
let server: Lying;
let place: readonly string[];
let token: string;
let assay: Assay;
let admin: AdminClient;
let model: Omit<Model, 'home'>;
beforeAll(async () => {
  server = lyingServer();
  const config = writeConfig(
    { lying: server.entry, locked: lockedServer() },
    { settings: { 'activity.arguments': 'full' } },
  );
  place = ['--config', config, '--home', home];
  token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  assay = await startAssay({ config, home });
  await assay.settled();
  admin = adminClient(assay, token);
  model = await meet({ url: assay.url }, 'modern');
});

const peek = (): Promise<JsonObject> => toolIn(admin, 'lying', 'peek');

async function listedHints(name: string): Promise<unknown> {
  const { tools } = await model.client.listTools();
  return tools.find((tool) => tool.name === name)?.annotations;
}

/** Resolves when clients of the gateway see this value. */
const seen = (readOnlyHint: boolean): Promise<unknown> =>
  until(`peek has readOnlyHint ${readOnlyHint}`, async () => {
    const hints = await listedHints('lying_peek');
    return at(hints as Json, 'readOnlyHint') === readOnlyHint ? hints : undefined;
  });

it('a contradiction reaches clients, decisions, the API, events and the activity log, with its evidence', async () => {
  const events = await openStream(`http://127.0.0.1:${assay.port}/events`, {
    method: 'GET',
    headers: bearer(token),
  });
  expect(await seen(true)).toMatchObject({ readOnlyHint: true });
  const changes = model.changes();
  const { code, stdout } = await runAssay(['verify', 'lying', '--sets', '1', '--repeats', '2', ...place]);
  expect(code).toBe(1);
  expect(stdout).toContain('CONTRADICTED peek: readOnlyHint is true');
  expect(existsSync(server.written)).toBe(false);

  expect(await seen(false)).toEqual({ readOnlyHint: false, openWorldHint: false });
  await until('the client is told', () => model.changes() > changes || undefined);
  expect(await listedHints('lying_look')).toEqual({ readOnlyHint: true, openWorldHint: false });

  const tool = await peek();
  const message = `created ${server.written}`;
  expect(tool).toMatchObject({
    hints: {
      readOnlyHint: {
        effective: false,
        decidedBy: 'observed',
        reasonCode: 'observed',
        decision: false,
        isContradicted: true,
      },
    },
    verification: {
      isCurrent: true,
      by: 'local',
      server: { name: 'lying' },
      hints: {
        readOnlyHint: { verdict: 'contradicted', evidence: [{ message, target: server.written, call: 1 }] },
        // Two calls, and one while it is watched for late effects.
        openWorldHint: { verdict: 'consistent', calls: 3 },
      },
    },
  });
  const listed = (await admin.get('/tools?summary=true&text=peek')).json();
  expect(listAt(listed, 'tools')).toMatchObject([{ hints: { readOnlyHint: { isContradicted: true } } }]);
  const decision = (await admin.get(`/tools/${textAt(tool, 'id')}/decision`)).json();
  expect(at(decision, 'hints', 0)).toMatchObject({
    hint: 'readOnlyHint',
    value: false,
    reason: `observed by "local": ${message}`,
    reasonCode: 'observed',
  });
  const event = await events.next('tool.contradict', (one) => at(one, 'action') === 'tool.contradict');
  expect(event).toMatchObject({
    target: { kind: 'tool', name: 'lying.peek' },
    after: { contradicted: { readOnlyHint: message } },
  });
  const activity = (await admin.get('/activity?targetKind=gateway&limit=1')).json();
  expect(listAt(activity, 'activity')).toMatchObject([
    { action: 'gateway.verify', target: { name: 'lying' }, after: { tools: 2, contradictions: 1 } },
  ]);
});

it('an observation lapses when the definition changes, and applies again when the definition is restored', async () => {
  server.describe('Peeks again.');
  await admin.post('/gateways/lying/refresh');
  expect(await seen(true)).toMatchObject({ readOnlyHint: true });
  const { hints, verification } = (await peek()) as { readonly hints: Json; readonly verification: Json };
  expect(at(hints, 'readOnlyHint', 'isContradicted')).toBe(false);
  expect(at(verification, 'isCurrent')).toBe(false);

  server.describe('Peeks.');
  await admin.post('/gateways/lying/refresh');
  await seen(false);
});

it('a verification through the API reports its progress, and requires the scope `execute`', async () => {
  const verification = await openStream(`http://127.0.0.1:${assay.port}/gateways/lying/verify`, {
    method: 'POST',
    headers: bearer(token),
  });
  await verification.next('progress', (one) => at(one, 'done') === 1, 60_000);
  expect(verdictOf(await admin.post('/gateways/lying/verify'))).toBe('409 VERIFICATION_RUNNING');
  await verification.ended;
  expect(verification.messages().at(-1)).toMatchObject({
    ...{ server: 'lying', tools: 2, toolsWithSuccess: 2 },
    contradictions: [{ tool: 'peek', hint: 'readOnlyHint', message: `created ${server.written}` }],
  });
  expect(await peek()).toMatchObject({ verification: { by: 'boss', isCurrent: true } });
  const limited = adminClient(assay, await keepToken(home, 'limited', { scopes: ['admin'] }));
  expect(verdictOf(await limited.post('/gateways/lying/verify'))).toBe('403 SCOPE_MISSING');
  expect(verdictOf(await admin.post('/gateways/nothing/verify'))).toBe('404 SERVER_UNKNOWN');
});

it('arguments of recorded calls are used on request, with secrets masked', async () => {
  const args = { code: 'sesame', password: 'hunter2!' };
  await model.client.callTool({ name: 'locked_unlock', arguments: args });
  await until('the call is recorded', async () => {
    const calls = listAt((await admin.get('/activity/calls?server=locked')).json(), 'calls');
    return calls.length > 0 || undefined;
  });
  const unlock = [
    'verify',
    'locked',
    '--json',
    '--sets',
    '1',
    '--repeats',
    '2',
    '--tool',
    'unlock',
    ...place,
  ];
  const before = await runAssay(unlock);
  expect(before).toMatchObject({ code: 0, stderr: '' });
  expect(before.stdout).not.toContain('sesame');

  const { code, stdout } = await runAssay([...unlock, '--recorded']);
  expect(code).toBe(1);
  expect(at(parseJson(stdout), 'tools', 0, 'coverage')).toMatchObject({
    shapes: 2,
    origins: expect.arrayContaining(['recorded', 'example']),
  });
  expect(at(parseJson(stdout), 'tools', 0, 'verdicts', 'readOnlyHint', 'evidence', 0, 'args')).toEqual({
    code: 'sesame',
    password: '[masked]',
  });

  const missing = ['--fixtures', '/nonexistent'];
  const { stderr } = await runAssay(['verify', 'lying', '--recorded', ...missing, ...place]);
  expect(stderr).toContain('warning: no arguments of calls of "lying" are recorded. Set activity.arguments');
  const command = await runAssay(['verify', '--recorded', '--', 'node', 'server.js']);
  expect([command.code, command.stderr]).toEqual([2, expect.stringContaining('--recorded is for servers')]);
});

it('the API uses arguments of recorded calls only on request', async () => {
  const contradicted = async (query: string): Promise<readonly Json[]> => {
    const url = `http://127.0.0.1:${assay.port}/gateways/locked/verify${query}`;
    const verification = await openStream(url, { method: 'POST', headers: bearer(token) });
    await verification.ended;
    return listAt(verification.messages().at(-1), 'contradictions');
  };
  expect(await contradicted('')).toEqual([]);
  expect(await contradicted('?recorded=true')).toMatchObject([{ tool: 'unlock', hint: 'readOnlyHint' }]);
  expect(verdictOf(await admin.post('/gateways/locked/verify?recorded=yes'))).toBe('400 QUERY_INVALID');
});

it('closing the connection cancels a verification, which stores nothing and lets another start', async () => {
  const verification = (): ReturnType<typeof openStream> =>
    openStream(`http://127.0.0.1:${assay.port}/gateways/lying/verify`, {
      method: 'POST',
      headers: bearer(token),
    });
  const verifiedAt = async (): Promise<string> => textAt(await peek(), 'verification', 'at');
  const before = await verifiedAt();
  const first = await verification();
  await first.next('a tool is done', (one) => at(one, 'done') === 1, 60_000);
  first.cut();
  await until('another can start', async () => {
    const second = await verification();
    second.cut();
    return second.status === 200 || undefined;
  });
  expect(await verifiedAt()).toBe(before);
});

it('a remote server, an unknown one, and a command without "--" are refused with the reason', async () => {
  const config = writeConfig({ far: { url: 'http://127.0.0.1:9/mcp' }, own: fixture('plain') });
  const there = ['--config', config, '--home', tempDir()];
  const far = await runAssay(['verify', 'far', ...there]);
  expect([far.code, far.stderr]).toEqual([
    2,
    expect.stringContaining('Server "far" cannot be verified: it runs elsewhere'),
  ]);
  const unknown = await runAssay(['verify', 'farr', ...there]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('The config has no server named "farr". There are: "far", "own".'),
  ]);
  const two = await runAssay(['verify', 'node', join('no', 'server.js'), ...there]);
  expect([two.code, two.stderr]).toEqual([2, expect.stringContaining('assay verify -- COMMAND ARGUMENTS')]);
});

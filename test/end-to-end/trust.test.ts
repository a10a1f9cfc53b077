// Trust in the hints of a server: what it changes, what it holds for, and how it is given and withdrawn.
import { beforeAll, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const HOSTILE = 'read<b>\u202e\u0007';
const reading = (name: string): JsonObject => toolNamed(name, { annotations: { readOnlyHint: true } });
const files = filedServer([
  reading('read'),
  reading(HOSTILE),
  toolNamed('write', { annotations: { destructiveHint: true } }),
]);
const many = filedServer(Array.from({ length: 500 }, (_, at) => reading(`read_${at}`)));

const home = tempDir();
const config = writeConfig(
  { many: many.entry },
  {
    settings: { approvals: 'gateway', 'limits.approvalWaitMs': 60_000 },
  },
);
const inHome = ['--home', home, '--config', config];
let assay: Gateway;
let admin: AdminClient;
let reader: AdminClient;
beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  assay = await startGateway({
    home,
    config,
  });
  await assay.settled();
  admin = adminClient(assay, token);
  await prefer(true);
  reader = adminClient(assay, await keepToken(home, 'reader', { scopes: ['read'] }));
  expect(verdictOf(await admin.post('/gateways', { name: 'files', ...files.entry }))).toBe('201');
});

const trustOf = async (server: string): Promise<Json> =>
  (await admin.get(`/gateways/${server}/trust`)).json();
const change = async (server: string, body: JsonObject): Promise<string> =>
  verdictOf(await admin.put(`/gateways/${server}/trust`, body));

/** Whether read-only tools run without a question. */
async function prefer(autoApproves: boolean): Promise<void> {
  const body = { 'policy.autoApproveReadOnly': autoApproves };
  expect(verdictOf(await admin.ask('PATCH', '/preferences', { body }))).toBe('200');
}

it('what would no longer be asked is listed with what trust holds for', async () => {
  expect(await trustOf('files')).toMatchObject({
    name: 'files',
    trust: { value: false, origin: 'default' },
    target: expect.stringContaining('filed') as string,
    toolCount: 3,
    notAsked: { total: 2, names: ['read', HOSTILE] },
    askedLess: { total: 0, names: [] },
    verified: 0,
    contradicted: { total: 0, names: [] },
  });
});

it('of 500 tools, 50 are named and all are counted', async () => {
  const notAsked = at(await trustOf('many'), 'notAsked');
  expect([at(notAsked, 'total'), listAt(notAsked, 'names').length]).toEqual([500, 50]);
});

it('the command line names a few, escapes what a terminal would interpret, and asks before it trusts', async () => {
  const { stdout, stderr, code } = await runAssay(['trust', 'files', ...inHome]);
  expect(stdout).toContain('no longer asked about (2): read, read<b>\\u202e\\u0007');
  expect(stderr).toContain('there is no terminal to ask on; use --yes');
  expect(code).toBe(2);
  expect((await runAssay(['trust', 'many', ...inHome])).stdout).toContain('read_11 and 488 more');
  expect(at(await trustOf('files'), 'trust')).toEqual({ value: false, origin: 'default' });
});

it('a token that may only read cannot trust', async () => {
  const identity = textAt(await trustOf('files'), 'identity');
  expect(verdictOf(await reader.put('/gateways/files/trust', { trust: true, identity }))).toBe(
    '403 SCOPE_MISSING',
  );
});

it('a call that waits says why, and is sent once its server is trusted and it is approved', async () => {
  // Then a call is still the first of its session, which who approves it has approved, too.
  await prefer(false);
  expect(await trustOf('files')).toMatchObject({ notAsked: { total: 0 }, askedLess: { total: 2 } });
  const session = await openSession(assay.url);
  const called = session.ask('tools/call', { name: 'files_read', arguments: {} });
  const waiting = await until('the call waits', async () => {
    const [first] = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
    return first;
  });
  expect(waiting).toMatchObject({
    why: [
      'files says that this tool only reads.',
      "You have not trusted files's hints yet.",
      'This tool may reach outside: no trusted source says otherwise.',
    ],
    distrusted: 'files',
  });
  const identity = textAt(await trustOf('files'), 'identity');
  expect(await change('files', { trust: true, identity })).toBe('200');
  expect(verdictOf(await admin.post(`/approvals/${textAt(waiting, 'id')}/approve`, {}))).toBe('200');
  expect(textOf(await called)).not.toMatch(/approval/);
});

it('a call of a server that an operator decided not to trust does not offer trust', async () => {
  const identity = textAt(await trustOf('files'), 'identity');
  expect(await change('files', { trust: false, identity })).toBe('200');
  const session = await openSession(assay.url);
  const called = session.ask('tools/call', { name: 'files_read', arguments: {} });
  const waiting = await until('the call waits', async () => {
    const [first] = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
    return first;
  });
  expect([at(waiting, 'distrusted'), at(waiting, 'why')]).toEqual([
    undefined,
    expect.not.arrayContaining(["You have not trusted files's hints yet."]),
  ]);
  expect(verdictOf(await admin.post(`/approvals/${textAt(waiting, 'id')}/deny`, {}))).toBe('200');
  expect(textOf(await called)).toMatch(/denied/);
  expect(await change('files', { trust: true, identity })).toBe('200');
});

it('a swapped command is untrusted, and cannot be trusted by who saw the former one', async () => {
  const seen = textAt(await trustOf('files'), 'identity');
  const { args = [] } = files.swapped as { readonly args?: readonly string[] };
  expect(verdictOf(await admin.ask('PATCH', '/gateways/files', { body: { args } }))).toBe('200');
  const now = await trustOf('files');
  expect(at(now, 'trust')).toEqual({ value: false, origin: 'default' });
  expect(await change('files', { trust: true, identity: seen })).toBe('409 SERVER_CHANGED');
  expect(at(await trustOf('files'), 'trust')).toEqual({ value: false, origin: 'default' });
});

it('the command line trusts, lists and withdraws', async () => {
  const trusted = await runAssay(['trust', 'files', '--yes', ...inHome]);
  expect(trusted.stdout).toContain('To undo: assay trust files --undo');
  expect((await runAssay(['trust', ...inHome])).stdout).toMatch(/files\s+yes\s+set by you\s+3/);
  const undone = await runAssay(['trust', 'files', '--undo', ...inHome]);
  expect(undone.stdout).toBe('The hints of files are not trusted.\n');
  expect(at(await trustOf('files'), 'trust')).toEqual({ value: false, origin: 'default' });
});

// Approvals for the session and destination server, given over REST and on the command line.
import { expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { type Filed, filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type JsonObject, listAt, textAt } from '../support/json.ts';
import { type LegacySession, openSession } from '../support/legacy.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

/** Only session labels lead to questions, and calls do not wait for an approval. */
const SETTINGS = {
  ...{ approvals: 'gateway', 'limits.approvalWaitMs': 0, 'policy.confirm': 'never' },
  'policy.alwaysConfirmDestructive': false,
};
const READ = toolNamed('read');
const SEND = toolNamed('send');
const POST = toolNamed('post');
const TOOLS = [READ, SEND, POST];

interface Place {
  readonly home: string;
  readonly admin: AdminClient;
  readonly server: Filed;
  readonly session: LegacySession;
  /** Makes a call that needs an approval, of `send` unless named; returns the id of the approval. */
  readonly request: (args: JsonObject, name?: string) => Promise<string>;
}

/** A caller that has read private and untrusted content from the server `out`. */
async function open(more: JsonObject = {}): Promise<Place> {
  const home = tempDir();
  const server = filedServer(TOOLS);
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const servers = { out: { ...server.entry, tags: ['private'] } };
  const assay = await startGateway({ servers, settings: { settings: { ...SETTINGS, ...more } }, home });
  await assay.settled();
  const admin = adminClient(assay, token);
  const session = await openSession(assay.url);
  const request = async (args: JsonObject, name = 'out_send'): Promise<string> => {
    const answer = await session.ask('tools/call', { name, arguments: args });
    return textAt(at(answer, 'result', '_meta', 'assay/refusal') ?? null, 'approval');
  };
  if (more['policy.confirm'] === 'first')
    await admin.post(`/approvals/${await request({}, 'out_read')}/approve`, { scope: 'session' });
  expect(await session.call('out_read')).toBe('read');
  return { home, admin, server, session, request };
}

it('over REST, only the offered scopes can be chosen, and other calls to the server are then not asked about', async () => {
  const { admin, session, request } = await open();
  const id = await request({ to: 'ann' });
  expect((await admin.get(`/approvals/${id}`)).json()).toMatchObject({
    ...{ state: 'pending', namespacedName: 'out.send', server: 'out', scopes: ['once', 'server'] },
    reasons: [{ code: 'session_labels' }],
  });
  for (const scope of ['session', 'always'])
    expect(verdictOf(await admin.post(`/approvals/${id}/approve`, { scope }))).toBe(
      '422 APPROVAL_SCOPE_INVALID',
    );
  expect((await admin.post(`/approvals/${id}/approve`, { scope: 'server' })).json()).toMatchObject({
    ...{ state: 'approved', scope: 'server' },
  });
  expect(await session.call('out_send', { to: 'bob' })).toBe('send');
  expect(await session.call('out_read', { what: 'all' })).toBe('read');
});

it('on the command line, the scope is offered, chosen and revoked', async () => {
  const { home, session, request } = await open();
  const id = await request({ to: 'ann' });
  const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
    runAssay(['approvals', ...args, '--home', home]);
  expect((await run()).stdout).toContain(
    `or for this session and destination server "out": assay approvals approve ${id} --scope server\n`,
  );
  expect(await run('approve', id, '--scope', 'session')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      `The approval "${id}" cannot have that scope. Choose one of: once, server.`,
    ) as string,
  });
  expect(await run('approve', id, '--scope', 'server')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Approved "out\.send" for this session and destination server\./,
    ) as string,
  });
  expect(await session.call('out_send', { to: 'bob' })).toBe('send');
  expect((await run('revoke', id)).code).toBe(0);
  expect(await session.call('out_send', { to: 'bob' })).toMatch(/needs approval/);
});

it.each([
  ['of the tool itself', [READ, toolNamed('send', { description: 'Sends it to everybody.' }), POST]],
  ['of another tool', [toolNamed('read', { description: 'Reads more.' }), SEND, POST]],
  ['by a new tool', [...TOOLS, toolNamed('forward')]],
])('it ends when the definitions of the server change: %s', async (_, changed) => {
  const { admin, server, session, request } = await open();
  const id = await request({ to: 'ann' });
  expect(verdictOf(await admin.post(`/approvals/${id}/approve`, { scope: 'server' }))).toBe('200');
  expect(await session.call('out_send', { to: 'bob' })).toBe('send');
  const listed = async (): Promise<string> =>
    JSON.stringify(at(await session.ask('tools/list', {}), 'result', 'tools'));
  const before = await listed();
  server.have(changed);
  await until('the change is listed', async () => ((await listed()) === before ? undefined : true));
  expect(await session.call('out_send', { to: 'bob' })).toMatch(/needs approval/);
  const pending = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
  expect(pending).toMatchObject([{ namespacedName: 'out.send', arguments: '{"to":"bob"}' }]);
});

it('other reasons to ask still count, but not again for the tool that was asked about', async () => {
  const { admin, session, request } = await open({ 'policy.confirm': 'first' });
  const id = await request({ to: 'ann' });
  expect((await admin.get(`/approvals/${id}`)).json()).toMatchObject({ scopes: ['once', 'server'] });
  await admin.post(`/approvals/${id}/approve`, { scope: 'server' });
  expect(await session.call('out_send', { to: 'bob' })).toBe('send');
  expect(await session.call('out_read', { what: 'all' })).toBe('read');
  const other = await request({}, 'out_post');
  expect((await admin.get(`/approvals/${other}`)).json()).toMatchObject({
    scopes: ['once', 'session', 'always'],
    reasons: [{ code: 'default_confirm' }],
  });
});

// Another program changes one cell of each list while Assay is not running.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream } from '../support/http.ts';
import { at, listAt, numberAt, parseJson } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { openAt, rawRows } from '../support/stores.ts';
import {
  approval,
  APPROVAL_LIMITS,
  auditEvent,
  saveRecords,
  settingChange,
  toolChange,
  valueOf,
} from '../support/store-values.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const place = { home: tempDir(), databaseUrl: undefined };
const servers = { plain: fixture('plain') };
const damage = (statement: string): Promise<unknown> => rawRows(place, `update ${statement}`);
let token: string;
let assay: Gateway;
let admin: AdminClient;
/** Id of the damaged audit event. */
let damaged: number;

beforeAll(async () => {
  token = await keepToken(place.home, 'boss', { scopes: ['admin'] });
  await keepToken(place.home, 'ci', { scopes: ['read'] });
  const store = await openAt(place);
  for (const id of ['a', 'b', 'c'])
    valueOf(await saveRecords(store, [toolChange(id, 1, { event: auditEvent(id) })]));
  valueOf(await saveRecords(store, [settingChange('limits.drainMs', 7)]));
  for (const id of ['aaa', 'bbb'])
    valueOf(await store.requestApproval(approval(id), { ...APPROVAL_LIMITS, nowMs: Date.now() }));
  await store.close();
  await damage(`assay_audit set after_json = 'x' where target_id_json = '"b"'`);
  damaged = Number(at((await rawRows(place, 'select max(id) - 1 as id from assay_audit')) as never, 0, 'id'));
  await damage("assay_tokens set scopes_json = 'x' where name = 'ci'");
  await damage("assay_approvals set request_json = 'x' where id = 'aaa'");
  await damage(`assay_records set body_json = 'x' where id_json = '"limits.drainMs"'`);
  assay = await startGateway({ servers, home: place.home });
  await assay.settled();
  admin = adminClient(assay, token);
});

const UNREADABLE = { kind: 'unreadable', reason: 'its column after_json is not JSON' };

describe('beside a damaged cell', () => {
  it('all other audit events are listed and sent', async () => {
    const shown = listAt((await admin.get('/activity')).json(), 'activity');
    expect(shown.map((one) => at(one, 'target', 'id') ?? one).slice(0, 3)).toEqual([
      'c',
      { id: damaged, ...UNREADABLE },
      'a',
    ]);
    const url = `http://127.0.0.1:${assay.port}/events?lastEventId=${damaged - 2}`;
    const stream = await openStream(url, { method: 'GET', headers: bearer(token) });
    await stream.next('the last event', (one) => at(one, 'target', 'id') === 'c');
    const sent = stream.messages().filter((one) => at(one, 'id') !== undefined);
    expect(sent.map((one) => numberAt(one, 'id'))).toEqual([damaged - 1, damaged, damaged + 1]);
    stream.cut();
  });

  it('the command line lists changes, tokens and approvals', async () => {
    const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
      runAssay(args, { env: { ASSAY_HOME: place.home } });
    const table = await run('activity', '--changes');
    expect([table.code, table.stdout]).toEqual([0, expect.stringContaining('name of c')]);
    expect(table.stdout).toMatch(new RegExp(`^ *${damaged} .*cannot be read.*after_json`, 'm'));
    const json = parseJson((await run('activity', '--changes', '--json')).stdout);
    expect(listAt(json, 'activity').find((one) => at(one, 'id') === damaged)).toEqual({
      id: damaged,
      ...UNREADABLE,
    });
    expect((await run('token', 'list')).stdout).toMatch(/^ci +\w+ +unreadable /m);
    const waiting = (await run('approvals')).stdout;
    expect(waiting).toMatch(/^aaa +unreadable/m);
    expect(waiting).toMatch(/^bbb +pending/m);
    expect((await run('approvals', 'approve', 'aaa')).stderr).toContain('it is unreadable');
  });

  it('tokens and approvals are listed, and the damaged ones permit nothing', async () => {
    const tokens = listAt((await admin.get('/tokens')).json(), 'tokens');
    expect(tokens.map((one) => [at(one, 'name'), at(one, 'state')])).toEqual([
      ['boss', 'valid'],
      ['ci', 'unreadable'],
    ]);
    const approvals = listAt((await admin.get('/approvals')).json(), 'approvals');
    const states = approvals.map((one) => `${String(at(one, 'id'))} ${String(at(one, 'state'))}`);
    expect(states.sort()).toEqual(['aaa unreadable', 'bbb pending']);
    expect(at((await admin.get('/approvals/aaa')).json(), 'state')).toBe('unreadable');
    expect(verdictOf(await admin.post('/approvals/aaa/approve', {}))).toBe('409 APPROVAL_CLOSED');
    expect(verdictOf(await admin.post('/approvals/bbb/deny', {}))).toBe('200');
  });

  it('calls continue, but not if the damaged cell decides on them', async () => {
    const call = async (gateway: Gateway): Promise<string> => {
      const client = await connectClient({ url: gateway.url }, 'modern');
      const done = await client.callTool({ name: 'plain_echo', arguments: { text: 'hello' } });
      await client.close();
      return JSON.stringify(done);
    };
    expect(await call(assay)).toContain('hello');
    await assay.stop();
    await damage(`assay_records set id_json = '"policy.confirm"' where id_json = '"limits.drainMs"'`);
    const again = await startGateway({ servers, home: place.home });
    await again.settled();
    expect(await call(again)).toContain('Rules or preferences in the store could not be read');
    expect(again.stderr()).toContain('its column body_json is not JSON');
  });
});

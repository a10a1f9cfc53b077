// The record of calls, as operators read it over HTTP and on the command line.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream } from '../support/http.ts';
import { at, listAt, numberAt, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir, writeConfig, writeText } from '../support/paths.ts';
import { rawRows } from '../support/stores.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const home = tempDir();
const config = writeConfig(
  { plain: fixture('plain') },
  {
    policy: { rules: [{ effect: 'refuse', tool: 'plain.counter', name: 'no counting' }] },
    settings: { 'activity.arguments': 'masked' },
  },
);
let assay: Gateway;
let admin: AdminClient;
let reader: AdminClient;
let boss: string;

beforeAll(async () => {
  boss = await keepToken(home, 'boss', { scopes: ['admin'] });
  const only = await keepToken(home, 'reader', { scopes: ['read'] });
  assay = await startGateway({ home, config });
  admin = adminClient(assay, boss);
  reader = adminClient(assay, only);
  await assay.settled();
  const session = await openSession(assay.url);
  const echo = { name: 'plain_echo', arguments: { text: 'hi', password: 'hunter2!' } };
  await session.ask('tools/call', echo);
  await session.ask('tools/call', { name: 'plain_counter', arguments: {} });
  await session.ask('tools/call', { name: 'plain_gone', arguments: {} });
  await until('the calls are recorded', async () => ((await calls()).length === 3 ? true : undefined));
});

const calls = async (query = '', client = admin): Promise<readonly Json[]> =>
  listAt((await client.get(`/activity/calls${query}`)).json(), 'calls');
const outcomes = async (query: string): Promise<readonly unknown[]> =>
  (await calls(query)).map((call) => at(call, 'outcome'));

describe('/activity/calls', () => {
  it('shows who called what, the decision with its reasons, and the outcome, newest first', async () => {
    const found = await calls();
    expect(found.map((call) => [at(call, 'tool', 'publicName'), at(call, 'outcome')])).toEqual([
      ['plain_gone', 'TOOL_UNKNOWN'],
      ['plain_counter', 'CALL_REFUSED'],
      ['plain_echo', 'ok'],
    ]);
    expect(found[1]).toMatchObject({
      kind: 'call',
      subject: 'local',
      endpoint: 'all',
      tool: { namespacedName: 'plain.counter', server: 'plain' },
      decision: {
        kind: 'refuse',
        reasons: [
          { code: 'rule', rule: 'no counting', text: expect.stringContaining('no counting') as string },
        ],
      },
    });
    expect(found[0]).not.toHaveProperty('decision');
  });

  it('masks secrets in arguments, and shows no arguments to a read-only token', async () => {
    const args = at((await calls('?outcome=ok'))[0], 'arguments');
    expect(args).toMatchObject({ form: 'masked', text: '{"text":"hi","password":"[masked]"}' });
    const [shown] = await calls('?outcome=ok', reader);
    expect(at(shown, 'outcome')).toBe('ok');
    expect(shown).not.toHaveProperty('arguments');
    const one = await reader.get(`/activity/calls/${numberAt(shown ?? null, 'id')}`);
    expect(one.text).not.toContain('"arguments"');
    expect(verdictOf(await reader.get('/activity/calls/export'))).toBe('403 SCOPE_MISSING');
    expect(verdictOf(await adminClient(assay).get('/activity/calls'))).toBe('401 TOKEN_REQUIRED');
  });

  it('is paged and filtered by what calls are about', async () => {
    const first = (await admin.get('/activity/calls?limit=2')).json();
    expect(listAt(first, 'calls')).toHaveLength(2);
    const rest = (await admin.get(`/activity/calls?cursor=${String(at(first, 'nextCursor'))}`)).json();
    expect(listAt(rest, 'calls').map((call) => at(call, 'outcome'))).toEqual(['ok']);
    expect(rest).not.toHaveProperty('nextCursor');
    expect(await outcomes('?decision=refuse')).toEqual(['CALL_REFUSED']);
    expect(await outcomes('?tool=plain.echo&server=plain&subject=local')).toEqual(['ok']);
    expect(await outcomes('?subject=nobody')).toEqual([]);
    expect(await outcomes('?until=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await outcomes('?since=2020-01-01T00:00:00%2B02:00')).toHaveLength(3);
    for (const query of ['?decision=maybe', '?since=yesterday', '?since_ms=1'])
      expect(verdictOf(await admin.get(`/activity/calls${query}`))).toBe('400 QUERY_INVALID');
    expect(verdictOf(await admin.get('/activity/calls?cursor=x'))).toBe('400 CURSOR_INVALID');
  });

  it('refuses an unknown call id', async () => {
    for (const id of ['0', '999', 'x', '9'.repeat(30)])
      expect(verdictOf(await admin.get(`/activity/calls/${id}`))).toBe('404 CALL_UNKNOWN');
  });

  it('is exported as lines that anyone can check, with the lines of batches unless it is filtered', async () => {
    const { type, text } = await admin.get('/activity/calls/export');
    expect(type).toBe('application/x-ndjson');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, Json>);
    expect(lines.flatMap(({ id }) => (id === undefined ? [] : [id]))).toEqual([1, 2, 3]);
    expect(lines[0]).toMatchObject({ kind: 'batch', number: 1, first: 1 });
    const refused = await admin.get('/activity/calls/export?decision=refuse');
    expect(refused.text.match(/\n/g)).toHaveLength(1);
    expect((await runAssay(['activity', 'export', '--home', home])).stdout).toBe(text);
    const verify = async (content: string): Promise<unknown> => {
      const { code, stdout, stderr } = await runAssay([
        'activity',
        'verify',
        writeText(content, 'calls.jsonl'),
      ]);
      return [code, stdout, stderr];
    };
    expect(await verify(text)).toEqual([
      0,
      expect.stringMatching(
        /^Checked 3 entries in \d batch(es)? of 1 process: nothing was changed/,
      ) as string,
      '',
    ]);
    const changed = text.replace('"outcome":"ok"', '"outcome":"error"');
    expect(await verify(changed)).toEqual([1, expect.stringMatching(/Batch 1 .* was changed/) as string, '']);
    expect(await verify(refused.text)).toEqual([
      2,
      '',
      expect.stringContaining('line 1: the line of its batch is missing') as string,
    ]);
    expect(await verify('x')).toEqual([2, '', expect.stringContaining('line 1: ') as string]);
    expect(await runAssay(['activity', 'verify', '/no/such.jsonl'])).toMatchObject({
      code: 3,
      stderr: 'The file "/no/such.jsonl" cannot be read: there is no such file or folder.\n',
    });
  });
});

describe('/events', () => {
  it('announces recorded calls', async () => {
    const stream = await openStream(`http://127.0.0.1:${assay.port}/events`, {
      method: 'GET',
      headers: bearer(boss),
    });
    const session = await openSession(assay.url);
    await session.ask('tools/call', { name: 'plain_echo', arguments: { text: 'hi' } });
    // No tool changes here, so this is the only kind of notice without content.
    await until('the stream tells', () => stream.events.some(({ data }) => data === '{}') || undefined);
    stream.cut();
  });
});

describe('assay activity', () => {
  it('lists, shows and verifies calls, and fails once one was altered', async () => {
    const list = await runAssay(['activity', '--decision', 'refuse', '--home', home]);
    expect(list.stdout).toMatch(
      /^ID +TIME +WHO +TOOL +DECISION +OUTCOME +MS\n2 .*plain\.counter +refuse +CALL_REFUSED +\d+\n$/,
    );
    const shown = await runAssay(['activity', 'show', '2', '--home', home]);
    expect(shown.stdout).toContain('The operator\'s rule "no counting" refuses it.');
    expect((await runAssay(['activity', 'show', '999', '--home', home])).code).toBe(2);
    const changes = await runAssay(['activity', '--changes', '--json', '--home', home]);
    expect(listAt(JSON.parse(changes.stdout) as Json, 'activity').map((one) => at(one, 'action'))).toEqual([
      'token.create',
      'token.create',
    ]);
    const whole = await runAssay(['activity', 'verify', '--home', home]);
    expect(whole).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing was changed') as string,
    });
    await rawRows(
      { home, databaseUrl: undefined },
      "update assay_call_contexts set context_json = replace(context_json, 'no counting', 'counting')",
    );
    const broken = await runAssay(['activity', 'verify', '--home', home]);
    expect(broken).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Batch \d+ \(.*\) was changed/) as string,
    });
  });
});

// How rules in the config file and stored preferences decide on calls from real clients.
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, type JsonObject, listAt } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';
import { keepToken } from '../support/tokens.ts';
import { meet, overStdio } from '../support/toolsets.ts';

const NO_COUNTING = {
  effect: 'refuse',
  tool: 'plain.counter',
  name: 'no counting',
  because: 'count by hand',
};
const SERVERS = { plain: fixture('plain') };
const policy = (...rules: readonly JsonObject[]): JsonObject => ({ policy: { rules } });

let assay: Gateway;
let admin: AdminClient;
const home = tempDir();
/** Calls that need approval are answered without waiting for it. */
const ANSWERED: JsonObject = { settings: { 'limits.approvalWaitMs': 0 } };
const config = writeConfig(SERVERS, { ...ANSWERED, ...policy(NO_COUNTING) });

beforeAll(async () => {
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({ home, config });
  admin = adminClient(assay, token);
  await assay.settled();
});

const REFUSED =
  /^The call of "[\w.]+" was refused, and it had no effect\. The operator's rule "no counting" refuses it: "count by hand"\. Do not retry it\./;
const decisions = (decision: string): Promise<number> =>
  readGauge(assay, 'assay_decisions_total', { decision });

/** A rule that refuses every call of a tool hides it: the answer does not tell it from an unknown one. */
const UNKNOWN = { code: 'TOOL_UNKNOWN', name: 'plain_counter' };

describe('a call refused by a rule', () => {
  it('is answered as that of an unknown tool, in both eras, and counted as refused', async () => {
    const before = await decisions('refuse');
    const session = await openSession(assay.url);
    const legacy = await session.ask('tools/call', { name: 'plain_counter', arguments: {} });
    const modern = await modernAsk(assay.url, 'tools/call', {
      params: { name: 'plain_counter', arguments: {} },
    });
    for (const answer of [legacy, modern]) expect(at(answer, 'error', 'data')).toMatchObject(UNKNOWN);
    expect(await decisions('refuse')).toBe(before + 2);
  });

  it("is also refused through call_tool and at its server's endpoint", async () => {
    const before = await decisions('refuse');
    const search = await meet({ url: assay.url.replace('/mcp/all', '/mcp/search') }, 'modern');
    const found = await search.call('call_tool', { name: 'plain.counter', arguments: {} });
    expect(found).toMatchObject({
      isError: true,
      text: expect.stringContaining('"plain.counter"') as string,
    });
    expect(found.text).not.toContain('count by hand');
    const single = await meet({ url: assay.url.replace('/mcp/all', '/mcp/servers/plain') }, 'modern');
    await expect(single.call('counter')).rejects.toThrow(/"counter"/);
    expect(await decisions('refuse')).toBe(before + 2);
  });

  it('is refused for `assay call`, with and without a running gateway', async () => {
    const alone = tempDir();
    for (const place of [home, alone]) {
      const { code, stdout, stderr } = await runAssay([
        ...['call', 'plain.counter', '--config', config, '--home', place],
      ]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr.replace(/^assay: /m, '')).toMatch(new RegExp(REFUSED.source, 'm'));
    }
  });
});

describe('`assay policy test`', () => {
  const test = (place: string, ...args: readonly string[]): ReturnType<typeof runAssay> =>
    runAssay(['policy', 'test', ...args, '--config', config, '--home', place]);

  it('explains a decision, with and without a running gateway', async () => {
    for (const args of [['plain.counter'], ['plain_add', '{"a":1}', '--token', 'ci']]) {
      const [through, alone] = [await test(home, ...args), await test(tempDir(), ...args)];
      expect(through.stdout).toBe(alone.stdout);
      expect(through.code).toBe(0);
    }
    const { stdout } = await test(home, 'plain.counter');
    expect(stdout).toContain('plain.counter: refuse\n');
    expect(stdout).toMatch(/^no counting +refuse +yes$/m);
    expect(stdout).toMatch(/^readOnlyHint +false +no +not stated: the specification's default$/m);
  });

  it('prints the same JSON as the REST API, and reports unknown tools and invalid arguments', async () => {
    const { stdout } = await test(home, 'plain.add', '--json');
    expect(JSON.parse(stdout)).toEqual((await admin.get('/tools/plain_add/decision')).json());
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ namespacedName: 'plain.add', decision: 'ask', per: 'call', isCarriedOut: true },
      reasons: [{ code: 'destructive', origin: 'default' }],
      rules: [{ rule: 'no counting', effect: 'refuse', applies: false }],
    });
    expect(verdictOf(await admin.get('/tools/plain_nothing/decision'))).toBe('404 TOOL_UNKNOWN');
    const unknown = await test(home, 'plain.ad');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('"plain.add"')]);
    expect((await test(home, 'plain.add', '[]')).code).toBe(2);
  });
});

describe('a stored preference', () => {
  const set = async (changes: object): Promise<void> => {
    expect(verdictOf(await admin.ask('PATCH', '/preferences', { body: changes }))).toBe('200');
  };

  it('applies at once: if Assay handles approvals, a call that needs approval has no effect', async () => {
    const session = await openSession(assay.url);
    const before = await decisions('ask');
    expect(await session.call('plain_add', { a: 1, b: 2 })).toBe('3');
    expect(await decisions('ask')).toBe(before + 1);
    await set({ approvals: 'gateway' });
    const answer = await session.ask('tools/call', { name: 'plain_add', arguments: { a: 1, b: 2 } });
    expect(textOf(answer)).toMatch(
      /^The call of "plain_add" needs approval, and it had no effect\. This tool may make destructive changes: no trusted source says otherwise\. Calls of tools that may make destructive changes are always confirmed\. This tool may reach outside: no trusted source says otherwise\. Ask the user to approve it with `assay approvals approve [0-9a-f]{12}`, then send the same call again\.$/,
    );
    expect(at(answer, 'result', '_meta', 'assay/refusal', 'code')).toBe('APPROVAL_REQUIRED');
    await set({ 'policy.alwaysConfirmDestructive': false, 'policy.confirm': 'never' });
    expect(await session.call('plain_add', { a: 1, b: 2 })).toBe('3');
    await set({ 'policy.alwaysConfirmDestructive': null, 'policy.confirm': null });
  });

  it('applies to `assay stdio` and `assay call` too', async () => {
    await set({ approvals: 'gateway' });
    const model = await overStdio(
      { servers: SERVERS, home, config: ANSWERED, view: { all: true } },
      'legacy',
    );
    expect((await model.call('plain_add', { a: 1, b: 2 })).text).toMatch(/needs approval/);
    await model.client.close();
    const other = writeConfig(SERVERS, ANSWERED);
    const { code, stderr } = await runAssay(['call', 'plain_add', '{}', '--config', other, '--home', home]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('needs approval')]);
    await set({ approvals: null });
    expect((await session(assay.url)).text).toBe('3');
  });

  it('is shown with its current value and where it comes from', async () => {
    await set({ approvals: 'gateway' });
    const shown = (await admin.get('/preferences')).json();
    const all = at(shown, 'preferences') as readonly Record<string, unknown>[];
    expect(all.find(({ key }) => key === 'approvals')).toMatchObject({
      ...{ value: 'gateway', running: 'gateway', origin: 'store', takesEffect: 'now' },
    });
    await set({ approvals: null });
  });
});

async function session(url: string): Promise<{ readonly text: string }> {
  return { text: await (await openSession(url)).call('plain_add', { a: 1, b: 2 }) };
}

describe('an edit of the rules in the config file', () => {
  it('applies at once; an invalid rule changes nothing, and its position is logged', async () => {
    const client = await openSession(assay.url);
    const save = (more: object): void =>
      writeFileSync(config, JSON.stringify({ mcpServers: SERVERS, ...ANSWERED, ...more }));
    save(policy({ effect: 'refuze', tool: 'plain.*' }));
    await until('the log says what is wrong', () =>
      assay.stderr().includes('policy.rules[0].effect: it must be one of allow, ask, refuse')
        ? true
        : undefined,
    );
    const counter = { name: 'plain_counter', arguments: {} };
    expect(at(await client.ask('tools/call', counter), 'error', 'data')).toMatchObject(UNKNOWN);
    save({});
    // The counter of the server starts at 1, so no earlier call reached it.
    expect(
      await until('the rule is gone', async () => {
        const answer = await client.ask('tools/call', counter);
        return at(answer, 'error') === undefined ? textOf(answer) : undefined;
      }),
    ).toBe('1');
    save(policy({ ...NO_COUNTING, token: 'local' }));
    await until('the rule is back', async () =>
      at(await client.ask('tools/call', counter), 'error') === undefined ? undefined : true,
    );
    expect(await client.call('plain_label')).toBe('plain');
  });
});

describe('stored rules', () => {
  it('apply at once alongside those of the config file, and a stale edit is refused', async () => {
    const label = { name: 'plain_label', arguments: {} };
    const isRefused = async (): Promise<boolean> =>
      at(await (await openSession(assay.url)).ask('tools/call', label), 'error') !== undefined;
    const before = await admin.get('/policy/rules');
    const configFileRules = at(before.json(), 'configFileRules');
    const rule = { effect: 'refuse', name: 'no labels', tool: ['plain.lab*'], token: ['local'] };
    const put = await admin.ask('PUT', '/policy/rules', {
      body: { rules: [{ ...rule, tool: 'plain.lab*', token: 'local' }] },
      headers: { 'if-match': String(before.headers.etag) },
    });
    expect(put.json()).toEqual({ rules: [rule], configFileRules });
    expect(await isRefused()).toBe(true);
    const listed = await runAssay(['policy', 'rules', '--home', home, '--config', config]);
    expect(listed.stdout).toContain('no labels    refuse  store        tool: plain.lab*; token: local');
    expect(listed.stdout).toContain('no counting  refuse  config file  tool: plain.counter; token: local');
    // The ETag is stale: the list has changed since.
    const late = { body: { rules: [] }, headers: { 'if-match': String(before.headers.etag) } };
    expect(verdictOf(await admin.ask('PUT', '/policy/rules', late))).toBe('412 PRECONDITION_FAILED');
    expect(verdictOf(await admin.put('/policy/rules', { rules: [] }))).toBe('200');
    expect(await isRefused()).toBe(false);
    const { activity } = (await admin.get('/activity?limit=2')).json() as { readonly activity: Json };
    expect(listAt(activity).map((event) => [at(event, 'action'), at(event, 'before', 0, 'name')])).toEqual([
      ['policy.rules', 'no labels'],
      ['policy.rules', undefined],
    ]);
  });

  it('are refused, with the position of each error, if any of them is invalid', async () => {
    const wrong = {
      rules: [
        { effect: 'refuse', tool: 'delete' },
        { effect: 'ask', hints: {} },
      ],
    };
    const refused = await admin.put('/policy/rules', wrong);
    expect(verdictOf(refused)).toBe('422 BODY_INVALID');
    expect(listAt(refused.json(), 'errors').map((one) => at(one, 'pointer'))).toEqual([
      '/rules/0/tool',
      '/rules/1/hints',
    ]);
    expect(at((await admin.get('/policy/rules')).json(), 'rules')).toEqual([]);
  });
});

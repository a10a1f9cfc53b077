// Everything that operators created, from one Assay to another.
import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import {
  actionsOf,
  bodiesIn,
  bundleOfSettings,
  bundleWith,
  countsOf,
  exportOf,
  lasting,
  makeEverything,
  openInstance,
  PASSPHRASE,
  sealedExportOf,
  SECRETS,
  type Instance,
} from '../support/bundles.ts';
import { startHttp } from '../fixtures/http.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { at, isObject, listAt, textAt, type JsonObject } from '../support/json.ts';
import { newDatabase } from '../support/postgres.ts';
import { toolsOf } from '../support/hints.ts';

endAfterEach();

const NOTHING = { create: 0, update: 0, unchanged: 0, kept: 0, omitted: 0 };

let full: Instance;
let bundle: JsonObject;
/** Of the tests that change nothing. */
let empty: Instance;
beforeAll(async () => {
  full = await openInstance();
  empty = await openInstance();
  await makeEverything(full);
  bundle = await sealedExportOf(full);
});

describe('an export', () => {
  it('is the same file while nothing changes, as its ETag says', async () => {
    const [one, two] = [await full.admin.get('/export'), await full.admin.get('/export')];
    expect(one.headers['content-disposition']).toMatch(
      /^attachment; filename="assay-\d{4}-\d\d-\d\d\.json"$/,
    );
    expect(one.headers.etag).toBe(two.headers.etag);
    const text = (answer: typeof one): string => answer.text.replace(/"exportedAt":"[^"]+"/, '');
    expect(text(one)).toBe(text(two));
    expect(Object.keys(one.json() as JsonObject)).toEqual(['assay', 'exportedAt', 'records']);
    const kinds = new Set(listAt(one.json(), 'records').map((record) => at(record, 'kind')));
    expect([...kinds]).toEqual([
      ...['gateway', 'rest_tool', 'function_module', 'trust', 'tool', 'toolset', 'equipped', 'setting'],
      'policy_rules',
    ]);
  });

  it('has no plaintext secrets, and lists what was removed', async () => {
    const texts = [(await full.admin.get('/export')).text, JSON.stringify(bundle)];
    expect(SECRETS.filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([]);
    const withheld = (kind: string): readonly unknown[] =>
      bodiesIn(bundle, kind).map((one) => [at(one, 'name'), at(one, 'withheld')]);
    expect(withheld('gateway')).toEqual([
      ['far', ['headers', 'url']],
      ['made', ['env']],
    ]);
    expect(withheld('rest_tool')).toEqual([['weather', ['auth', 'headers']]]);
    expect(withheld('function_module')).toEqual([[expect.stringMatching(/sums\.mjs$/), ['env']]]);
  });

  it('requires a token with the admin scope, and a passphrase of 12 characters', async () => {
    expect(verdictOf(await full.admin.post('/export', { passphrase: 'short' }))).toBe('422 BODY_INVALID');
    expect(verdictOf(await full.limited.get('/export'))).toBe('200');
  });
});

describe('an import', () => {
  it('starts as a dry run, which changes nothing and reports what would change', async () => {
    const before = await exportOf(empty);
    const planned = await empty.admin.post('/import', { bundle, passphrase: PASSPHRASE });
    expect([planned.status, at(planned.json(), 'applied')]).toEqual([200, false]);
    expect(countsOf(planned.json())).toEqual({ ...NOTHING, create: 13 });
    expect(await exportOf(empty)).toEqual(before);
    expect((await empty.admin.get('/activity')).json()).toEqual({ activity: expect.any(Array) as unknown });
    expect(planned.text).not.toMatch(/s3cr3t/);
  });

  it('recreates everything in an empty Assay, identically, and repeating it changes nothing', async () => {
    const empty = await openInstance();
    const input = { bundle, passphrase: PASSPHRASE, apply: true };
    const done = await empty.admin.post('/import', input);
    expect([done.status, at(done.json(), 'applied'), countsOf(done.json())]).toEqual([
      200,
      true,
      { ...NOTHING, create: 13 },
    ]);
    expect(await exportOf(empty)).toEqual(await exportOf(full));
    const auditEvents = (await empty.admin.get('/activity?limit=1000')).text;
    expect(SECRETS.filter((secret) => auditEvents.includes(secret))).toEqual([]);
    const again = await empty.admin.post('/import', input);
    expect(countsOf(again.json())).toEqual({ ...NOTHING, unchanged: 13 });
    expect((await empty.admin.get('/activity?limit=1000')).text).toBe(auditEvents);
    // The tools run with the secrets that came along.
    await empty.assay.settled();
    const acts = await toolsOf(empty.admin, 'server=made');
    expect([...acts.keys()].sort()).toEqual(['act', 'look']);
    expect(at(acts.get('act'), 'title')).toBe('Acts');
    const sealed = await sealedExportOf(empty);
    const other = await openInstance();
    const third = await other.admin.post('/import', { ...input, bundle: sealed });
    expect(countsOf(third.json())).toEqual({ ...NOTHING, create: 13 });
    expect(await exportOf(other)).toEqual(lasting(bundle));
  });

  it('moves from SQLite to PostgreSQL and back without a difference', async () => {
    const elsewhere = await openInstance(await newDatabase());
    const back = await openInstance();
    const input = { passphrase: PASSPHRASE, apply: true };
    expect(verdictOf(await elsewhere.admin.post('/import', { ...input, bundle }))).toBe('200');
    const over = await sealedExportOf(elsewhere);
    expect(lasting(over)).toEqual(lasting(bundle));
    expect(verdictOf(await back.admin.post('/import', { ...input, bundle: over }))).toBe('200');
    expect(await exportOf(back)).toEqual(lasting(bundle));
    const known = await back.admin.post('/import', { ...input, bundle });
    expect(countsOf(known.json())).toEqual({ ...NOTHING, unchanged: 13 });
  });

  it('without the passphrase skips what is useless without secrets, and lists what the rest needs', async () => {
    const empty = await openInstance();
    const done = (await empty.admin.post('/import', { bundle, apply: true })).json();
    expect(countsOf(done)).toEqual({ ...NOTHING, create: 12, omitted: 1 });
    expect(actionsOf(done)).toContain('gateway far omitted');
    const warnings = listAt(done, 'items').flatMap((item) => listAt(item, 'warnings'));
    expect(warnings).toContain('It needs env: give them with PUT /gateways/{id}.');
    expect(warnings).toContain('It needs auth, headers: give them with PUT /tools/{id}.');
    expect(warnings).toContain(
      'It cannot be made without headers, url: give the passphrase of the bundle, or make it anew.',
    );
    const again = (await empty.admin.post('/import', { bundle, apply: true })).json();
    expect(countsOf(again)).toEqual({ ...NOTHING, unchanged: 12, omitted: 1 });
  });

  it('without the passphrase keeps the existing secrets for the same target', async () => {
    const done = (await full.admin.post('/import', { bundle: lasting(bundle), apply: true })).json();
    expect(countsOf(done)).toEqual({ ...NOTHING, unchanged: 13 });
  });

  it('with a wrong passphrase is refused entirely', async () => {
    const before = await exportOf(empty);
    const refused = await empty.admin.post('/import', {
      bundle,
      passphrase: 'another passphrase',
      apply: true,
    });
    expect(verdictOf(refused)).toBe('422 BUNDLE_LOCKED');
    const { sealed } = bundle;
    const torn = { ...bundle, sealed: { ...(isObject(sealed) ? sealed : {}), p: 2 } };
    const changed = await empty.admin.post('/import', { bundle: torn, passphrase: PASSPHRASE, apply: true });
    expect(verdictOf(changed)).toBe('422 BUNDLE_LOCKED');
    expect(await exportOf(empty)).toEqual(before);
  });

  it('sends no secret to a target for which it was not meant', async () => {
    const [here, there] = [await startHttp('legacy'), await startHttp('legacy')];
    const from = await openInstance();
    const headers = { Authorization: 'Bearer s3cr3t-of-one-place-0123456789' };
    await from.admin.post('/gateways', { name: 'kept', url: here.url, headers });
    const exported = await sealedExportOf(from);
    const [gateway] = bodiesIn(exported, 'gateway');
    const entry = { ...(at(gateway ?? null, 'entry') as JsonObject), url: there.url };
    const moved = { ...(gateway as JsonObject), entry };
    const swapped = { ...exported, ...bundleWith({ gateway: [moved] }) };
    const empty = await openInstance();
    const refused = await empty.admin.post('/import', {
      bundle: swapped,
      passphrase: PASSPHRASE,
      apply: true,
    });
    expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 BODY_INVALID',
      '/bundle/records/0/body/entry',
    ]);
    // Nor do those of one that is here already go there.
    const done = (await from.admin.post('/import', { bundle: lasting(swapped), apply: true })).json();
    expect(actionsOf(done)).toContain('gateway kept update');
    await from.assay.settled();
    expect(there.seen.filter((seen) => seen.headers['authorization'] !== undefined)).toEqual([]);
    await Promise.all([here.close(), there.close()]);
  });

  it('of commands, modules and documents in files requires the scope execute, and otherwise imports nothing', async () => {
    const before = await exportOf(empty);
    const input = { bundle, passphrase: PASSPHRASE, apply: true };
    expect(verdictOf(await empty.limited.post('/import', input))).toBe('403 SCOPE_MISSING');
    expect(await exportOf(empty)).toEqual(before);
    const harmless = bundleOfSettings({ 'limits.drainMs': 5_000 });
    expect(verdictOf(await full.limited.post('/import', { bundle: harmless, apply: true }))).toBe('200');
    expect(verdictOf(await full.limited.post('/import', input))).toBe('200');
  });

  it.each<[what: string, entry: JsonObject]>([
    ['code search, which reads every folder', { type: 'codebase' }],
    ['a document in a file', { openapi: '/etc/passwd' }],
    ['a command', { command: 'node' }],
    ['a client certificate', { url: 'https://a.example', ca: '/etc/passwd' }],
    [
      'a key for signing in',
      {
        url: 'https://a.example',
        auth: { clientId: 'a', issuer: 'https://id.example', privateKeyFile: '/etc/passwd' },
      },
    ],
  ])('of %s requires the scope execute', async (_what, entry) => {
    const gateway = [{ name: 'taken', entry, createdMs: 0, author: 'me' }];
    const input = { bundle: bundleWith({ gateway }), apply: true };
    expect(verdictOf(await empty.limited.post('/import', input))).toBe('403 SCOPE_MISSING');
  });

  it('replaces what differs, or keeps it if requested, and removes nothing', async () => {
    const target = await openInstance();
    await target.admin.post('/toolsets', { name: 'both', tools: [] });
    await target.admin.post('/toolsets', { name: 'own', tools: [] });
    await target.admin.post('/toolsets/own/equip');
    const input = { bundle, passphrase: PASSPHRASE };
    const keep = (await target.admin.post('/import', { ...input, onConflict: 'keep' })).json();
    expect(actionsOf(keep).filter((line) => line.endsWith('kept'))).toEqual([
      'toolset both kept',
      'equipped both kept',
    ]);
    const replace = (await target.admin.post('/import', { ...input, apply: true })).json();
    const updates = listAt(replace, 'items').filter((item) => at(item, 'action') === 'update');
    expect(updates.map((item) => [textAt(item, 'name'), at(item, 'changed')])).toEqual([
      ['both', ['changedMs', 'createdMs', 'description', 'maker', 'toolNotes', 'tools']],
      ['both', ['toolset']],
    ]);
    const names = listAt((await target.admin.get('/toolsets')).json(), 'toolsets');
    expect(names.map((one) => [at(one, 'name'), at(one, 'isEquipped')])).toEqual([
      ['both', true],
      ['none', false],
      ['own', false],
    ]);
  });

  it('twice concurrently takes effect once', async () => {
    const empty = await openInstance();
    const input = { bundle, passphrase: PASSPHRASE, apply: true };
    const both = await Promise.all([empty.admin.post('/import', input), empty.admin.post('/import', input)]);
    expect(both.map(verdictOf)).toEqual(['200', '200']);
    const created = both.map((answer) => Number(at(answer.json(), 'counts', 'create')));
    expect(created.sort((one, other) => one - other)).toEqual([0, 13]);
    expect(await exportOf(empty)).toEqual(lasting(bundle));
    const auditEvents = listAt((await empty.admin.get('/activity?limit=1000')).json(), 'activity');
    expect(auditEvents.filter((auditEvent) => at(auditEvent, 'subject') !== 'local')).toHaveLength(13);
  });

  it('reports each fault with its position, and changes nothing', async () => {
    const before = await exportOf(empty);
    const records = [
      ...listAt(bundle, 'records'),
      { kind: 'gateway', version: 1, body: { name: 'x', entry: { url: 5 }, createdMs: 'no', author: 'me' } },
      { kind: 'trust', version: 1, body: { server: 'x', identity: 'y' } },
      { kind: 'setting', version: 1, id: 'limits.sessions', body: 'many' },
      { kind: 'setting', version: 1, id: 'no.such', body: 1 },
    ];
    const faulty = { assay: 1, records, more: true };
    const first = listAt(bundle, 'records').length;
    const refused = await empty.admin.post('/import', { bundle: faulty, apply: true });
    expect(listAt(refused.json(), 'errors').map((one) => at(one, 'pointer'))).toEqual([
      '/bundle/more',
      `/bundle/records/${first}/body/createdMs`,
      `/bundle/records/${first + 1}/body/trust`,
      `/bundle/records/${first + 2}/body`,
      `/bundle/records/${first + 3}/id`,
    ]);
    expect(verdictOf(refused)).toBe('422 BODY_INVALID');
    expect(verdictOf(await empty.admin.post('/import', { bundle: 5 }))).toBe('422 BODY_INVALID');
    expect(verdictOf(await empty.admin.post('/import', {}))).toBe('422 BODY_INVALID');
    expect(await exportOf(empty)).toEqual(before);
  });

  it('with contradictory overrides of one tool is refused at their position, and changes nothing', async () => {
    const before = await exportOf(empty);
    const hint = { value: true, author: 'me', atMs: 0, digest: 'a'.repeat(64) };
    const said = (name: string, overrides: JsonObject): JsonObject => ({
      server: 'made',
      identity: 'x',
      name,
      overrides,
    });
    const tool = [
      said('look', { readOnlyHint: hint, destructiveHint: { ...hint, value: false } }),
      said('act', { readOnlyHint: hint, destructiveHint: hint }),
    ];
    for (const apply of [false, true]) {
      const bundle = bundleWith({ tool });
      const refused = await empty.admin.post('/import', { bundle, apply });
      expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
        '422 HINTS_CONTRADICT',
        '/bundle/records/1/body/overrides',
      ]);
    }
    expect(await exportOf(empty)).toEqual(before);
  });
});

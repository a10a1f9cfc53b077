import { writeFileSync } from 'node:fs';
import { computeOriginIdentity } from '../../packages/gateway/src/core/server-identity.ts';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { bundleOfSettings, bundleWith } from '../support/bundles.ts';
import { startGateway } from '../support/gateway.ts';
import { IS_LONG } from '../support/campaign.ts';
import { at, isObject, listAt, textAt, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { Faults, MAX_WRITES } from '../support/nth-write.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir, writeText } from '../support/paths.ts';
import { bearer } from '../support/tokens.ts';
import { approval, APPROVAL_LIMITS, tryStore, valueOf } from '../support/store-values.ts';
import { DATABASES } from '../support/stores.ts';

/** A mutating request, and the actions of its audit events. */
interface Case {
  readonly path: string;
  readonly body?: Json;
  readonly actions: readonly string[];
}

const MORE = fixture('defined', ['{"name":"one","inputSchema":{"type":"object"}}']);
const MORE_IDENTITY = computeOriginIdentity({
  transport: {
    kind: 'stdio',
    command: String(MORE['command']),
    args: MORE['args'] as readonly string[],
    env: {},
    cwd: '/',
  },
});

interface World {
  readonly admin: AdminClient;
  readonly folder: string;
  /** Remembers the id in a response. */
  readonly ids: Map<string, string>;
}

const ADMIN = 'the-token-of-an-administrator';
const OPERATOR = { subject: 'operator', scopes: ['admin'] } as const;
const REQUEST = { url: 'http://127.0.0.1:9/one', method: 'GET' };
const DOCUMENT = JSON.stringify({
  openapi: '3.1.0',
  servers: [{ url: 'http://127.0.0.1:9' }],
  paths: { '/x': { get: { operationId: 'x' } } },
});

/** In this order, as each builds on the ones before it; by `METHOD path` of the API's document. */
const CASES: ReadonlyMap<string, (world: World) => Case> = new Map<string, (world: World) => Case>([
  ['POST /tools', () => ({ path: '/tools', body: { name: 'made', ...REQUEST }, actions: ['tool.create'] })],
  [
    'PUT /tools/{id}',
    ({ ids }) => ({
      path: `/tools/${ids.get('POST /tools')}`,
      body: { url: 'http://127.0.0.1:9/two', annotations: { openWorldHint: false }, enabled: false },
      actions: ['tool.change', 'tool.update'],
    }),
  ],
  [
    'PATCH /tools/{id}',
    ({ ids }) => ({
      path: `/tools/${ids.get('POST /tools')}`,
      body: { enabled: true },
      actions: ['tool.update'],
    }),
  ],
  [
    'POST /tools/{id}/review',
    ({ ids }) => ({ path: `/tools/${ids.get('POST /tools')}/review`, actions: [] }),
  ],
  [
    'POST /stops',
    () => ({ path: '/stops', body: { allCalls: true, reason: 'x' }, actions: ['stop.create'] }),
  ],
  ['DELETE /stops/{id}', () => ({ path: '/stops/all_calls', actions: ['stop.delete'] })],
  [
    'POST /toolsets',
    () => ({
      path: '/toolsets',
      body: { name: 'one', tools: ['local.made'], equip: true },
      actions: ['toolset.create', 'toolset.equip'],
    }),
  ],
  [
    'POST /tools/{id}/notes',
    ({ ids }) => ({
      path: `/tools/${ids.get('POST /tools')}/notes`,
      body: { toolset: 'one', name: 'a', note: 'Ask first.' },
      actions: ['toolset.update'],
    }),
  ],
  [
    'PUT /tools/{id}/notes/{toolset}/{name}',
    ({ ids }) => ({
      path: `/tools/${ids.get('POST /tools')}/notes/one/a`,
      body: { note: 'Ask twice.' },
      actions: ['toolset.update'],
    }),
  ],
  [
    'DELETE /tools/{id}/notes/{toolset}/{name}',
    ({ ids }) => ({ path: `/tools/${ids.get('POST /tools')}/notes/one/a`, actions: ['toolset.update'] }),
  ],
  [
    'POST /tools/{id}/notes/{toolset}/{name}/accept',
    () => ({ path: '/tools/plain.echo/notes/held/a/accept', actions: ['toolset.update'] }),
  ],
  [
    'DELETE /tools/{id}',
    ({ ids }) => ({ path: `/tools/${ids.get('POST /tools')}`, actions: ['tool.delete'] }),
  ],
  [
    'PUT /toolsets/{name}',
    () => ({ path: '/toolsets/one', body: { name: 'two' }, actions: ['toolset.rename'] }),
  ],
  [
    'POST /toolsets/{name}/add',
    () => ({ path: '/toolsets/two/add', body: { tools: ['plain.echo'] }, actions: ['toolset.update'] }),
  ],
  [
    'POST /notes',
    () => ({
      path: '/notes',
      body: { toolset: 'two', tool: 'plain.echo', name: 'b', note: 'Ask first.' },
      actions: ['toolset.update'],
    }),
  ],
  [
    'PUT /notes/{toolset}/{tool}/{name}',
    () => ({
      path: '/notes/two/plain.echo/b',
      body: { note: 'Ask twice.' },
      actions: ['toolset.update'],
    }),
  ],
  [
    'DELETE /notes/{toolset}/{tool}/{name}',
    () => ({ path: '/notes/two/plain.echo/b', actions: ['toolset.update'] }),
  ],
  [
    'POST /notes/{toolset}/{tool}/{name}/accept',
    () => ({ path: '/notes/held/plain.echo/b/accept', actions: ['toolset.update'] }),
  ],
  [
    'POST /notes/{toolset}/{tool}/{name}/reject',
    () => ({ path: '/notes/held/plain.echo/c/reject', actions: ['toolset.update'] }),
  ],
  ['POST /notes/accept', () => ({ path: '/notes/accept', actions: ['toolset.update'] })],
  [
    'POST /toolsets/{name}/remove',
    () => ({ path: '/toolsets/two/remove', body: { tools: ['plain.echo'] }, actions: ['toolset.update'] }),
  ],
  ['POST /toolsets/{name}/accept', () => ({ path: '/toolsets/two/accept', body: {}, actions: [] })],
  ['POST /toolsets/unequip', () => ({ path: '/toolsets/unequip', actions: ['toolset.unequip'] })],
  ['POST /toolsets/{name}/equip', () => ({ path: '/toolsets/two/equip', actions: ['toolset.equip'] })],
  ['DELETE /toolsets/{name}', () => ({ path: '/toolsets/two', actions: ['toolset.delete'] })],
  [
    'PUT /policy/rules',
    () => ({
      path: '/policy/rules',
      body: { rules: [{ effect: 'ask', tool: 'made.*' }] },
      actions: ['policy.rules'],
    }),
  ],
  [
    'POST /functions',
    ({ folder }) => ({
      path: '/functions',
      body: { module: join(folder, 'm.mjs') },
      actions: ['function.add'],
    }),
  ],
  [
    'DELETE /functions',
    ({ folder }) => ({
      path: `/functions?path=${encodeURIComponent(join(folder, 'm.mjs'))}`,
      actions: ['function.remove'],
    }),
  ],
  [
    'POST /gateways',
    () => ({
      path: '/gateways',
      body: {
        name: 'more',
        ...MORE,
        trust: true,
      },
      actions: ['gateway.create', 'gateway.trust'],
    }),
  ],
  [
    'PUT /gateways/{id}',
    () => ({
      path: '/gateways/more',
      body: { timeoutMs: 5_000, trust: false },
      actions: ['gateway.update', 'gateway.trust'],
    }),
  ],
  [
    'PATCH /gateways/{id}',
    () => ({ path: '/gateways/more', body: { trust: true }, actions: ['gateway.trust'] }),
  ],
  [
    'PUT /gateways/{id}/trust',
    () => ({
      path: '/gateways/more/trust',
      body: { trust: false, identity: MORE_IDENTITY },
      actions: ['gateway.trust'],
    }),
  ],
  [
    'PUT /secrets/{name}',
    () => ({ path: '/secrets/KEY', body: { value: 'x', servers: ['more'] }, actions: ['secret.set'] }),
  ],
  ['DELETE /secrets/{name}', () => ({ path: '/secrets/KEY', actions: ['secret.remove'] })],
  [
    'POST /openapi',
    () => ({
      path: '/openapi',
      body: { name: 'read', openapi: writeText(DOCUMENT, 'api.json') },
      actions: ['gateway.create'],
    }),
  ],
  [
    'POST /openapi/preview',
    () => ({
      path: '/openapi/preview',
      body: { document: DOCUMENT },
      actions: [],
    }),
  ],
  ['POST /gateways/{id}/restart', () => ({ path: '/gateways/more/restart', actions: [] })],
  // The stream has begun before anything is written, so failures are reported in it.
  ['POST /notices/test', () => ({ path: '/notices/test', actions: [] })],
  ['POST /gateways/{id}/verify', () => ({ path: '/gateways/more/verify', actions: [] })],
  ['POST /gateways/{id}/refresh', () => ({ path: '/gateways/more/refresh', actions: [] })],
  [
    'POST /gateways/{id}/instructions/review',
    () => ({ path: '/gateways/plain/instructions/review', actions: [] }),
  ],
  // A call changes no records of operators.
  ['POST /tools/{id}/run', () => ({ path: '/tools/plain.label/run', body: {}, actions: [] })],
  [
    'POST /approvals/{id}/approve',
    () => ({ path: '/approvals/one/approve', body: { scope: 'always' }, actions: ['approval.approve'] }),
  ],
  [
    'POST /approvals/{id}/deny',
    () => ({ path: '/approvals/two/deny', body: { reason: 'no' }, actions: ['approval.deny'] }),
  ],
  ['DELETE /approvals/{id}', () => ({ path: '/approvals/one', actions: ['approval.revoke'] })],
  ['DELETE /gateways/{id}', () => ({ path: '/gateways/more', actions: ['gateway.delete'] })],
  ['POST /tokens', () => ({ path: '/tokens', body: { name: 'more' }, actions: ['token.create'] })],
  [
    'PATCH /tokens/{id}/preferences',
    ({ ids }) => ({
      path: `/tokens/${ids.get('POST /tokens')}/preferences`,
      body: { 'policy.confirm': 'never' },
      actions: ['token.preferences'],
    }),
  ],
  [
    'DELETE /tokens/{id}',
    ({ ids }) => ({ path: `/tokens/${ids.get('POST /tokens')}`, actions: ['token.revoke'] }),
  ],
  ['POST /sign-in-links', () => ({ path: '/sign-in-links', body: {}, actions: ['session.link'] })],
  ['DELETE /sessions/{id}', () => ({ path: '/sessions/browser', actions: ['session.close'] })],
  ['DELETE /labels/{subject}', () => ({ path: '/labels/operator', actions: ['labels.clear'] })],
  [
    'PUT /preferences',
    () => ({
      path: '/preferences',
      body: { 'limits.drainMs': 5_000, 'limits.sessions': 500 },
      actions: ['preference.update', 'preference.update'],
    }),
  ],
  [
    'PATCH /preferences',
    () => ({
      path: '/preferences',
      body: { 'limits.drainMs': null, 'limits.sessions': 600 },
      actions: ['preference.update', 'preference.update'],
    }),
  ],
  [
    'POST /export',
    () => ({ path: '/export', body: { passphrase: 'a long enough passphrase' }, actions: [] }),
  ],
  [
    'POST /import',
    () => ({
      path: '/import',
      body: {
        bundle: bundleOfSettings({ 'limits.drainMs': 7_000, 'limits.sessions': 700 }),
        apply: true,
      },
      actions: ['preference.update', 'preference.update'],
    }),
  ],
]);

const SHOWN = [
  '/approvals',
  '/tools',
  '/toolsets',
  '/tokens',
  '/labels',
  '/preferences',
  '/activity',
  '/functions',
];

/** A toolset with notes that wait for a review. */
async function importHeldNotes(admin: AdminClient): Promise<void> {
  const note = { note: 'Ask.', author: 'ci', by: 'model', writtenMs: 0, isHeld: true };
  const namespacedName = 'plain.echo';
  const toolNotes = [{ namespacedName, notes: ['a', 'b', 'c', 'd'].map((name) => ({ ...note, name })) }];
  const held = { name: 'held', createdMs: 0, changedMs: 0, tools: [{ namespacedName }], toolNotes };
  const bundle = bundleWith({ toolset: [held] });
  const imported = await admin.post('/import', { bundle, apply: true });
  expect([imported.status, imported.text.slice(0, 500)]).toEqual([200, expect.any(String)]);
}

async function shown(admin: AdminClient): Promise<string> {
  const answers = await Promise.all(SHOWN.map(async (path) => [path, (await admin.get(path)).text]));
  return JSON.stringify(answers);
}

/** Calls of different tools that wait for approval. */
async function requestApprovals(
  place: Parameters<typeof tryStore>[0],
  ids: readonly string[],
): Promise<void> {
  const store = valueOf(await tryStore(place));
  for (const id of ids) valueOf(await store.requestApproval(approval(id), APPROVAL_LIMITS));
  await store.close();
}

async function signInBrowser(place: Parameters<typeof tryStore>[0]): Promise<void> {
  const store = valueOf(await tryStore(place));
  const nowMs = Date.now();
  const times = { createdMs: nowMs, usedMs: nowMs, expiresMs: nowMs + 3_600_000 };
  const session = {
    id: 'browser',
    kind: 'session',
    hash: 'h',
    credential: 'link',
    ...OPERATOR,
    ...times,
  } as const;
  const event = {
    atMs: nowMs,
    subject: 'operator',
    action: 'session.open',
    target: { kind: 'session', id: 'browser', name: 'operator' },
  } as const;
  valueOf(await store.addSession({ session, nowMs, idleSinceMs: 0, keep: 8 }, event));
  await store.close();
}

async function mutatingRoutes(admin: AdminClient): Promise<readonly string[]> {
  const paths = at((await admin.get('/openapi.json')).json(), 'paths');
  if (!isObject(paths)) throw new Error('no paths');
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(isObject(methods) ? methods : {})
      .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

async function actionsIn(admin: AdminClient): Promise<readonly string[]> {
  const items = listAt((await admin.get('/activity?limit=200')).json(), 'activity');
  // Changes by servers are recorded at any time, and an operator's own change is reviewed after it.
  return items
    .filter((one) => !textAt(one, 'subject').startsWith('server:'))
    .map((one) => textAt(one, 'action'))
    .filter((action) => action !== 'tool.review');
}

describe.each(DATABASES)('a mutating request in %s', (database, newPlace) => {
  // The steps of a change are the same in both: the short form tries each write of SQLite, and the first of PostgreSQL.
  const faultAt: readonly (number | undefined)[] =
    IS_LONG || database === 'SQLite' ? Array.from({ length: MAX_WRITES }, (_, at) => at + 1) : [1, undefined];

  it(
    'changes nothing if any of its writes fails, and otherwise is audited in the same transaction',
    async () => {
      const place = await newPlace();
      const env: Record<string, string> = {
        ASSAY_TOKEN: ADMIN,
        ...(place.databaseUrl !== undefined && { ASSAY_DATABASE_URL: place.databaseUrl }),
      };
      const assay = await startGateway({ servers: { plain: fixture('plain') }, home: place.home, env });
      const admin = adminClient(assay, ADMIN);
      await requestApprovals(place, ['one', 'two']);
      await signInBrowser(place);
      const folder = tempDir();
      writeFileSync(join(folder, 'm.mjs'), 'export default [];\n');
      const world: World = { admin, folder, ids: new Map() };
      expect((await mutatingRoutes(admin)).toSorted()).toEqual([...CASES.keys()].toSorted());
      await admin.get('/tools');
      // A tool without hints labels every caller.
      await (await openSession(assay.url, { headers: bearer(ADMIN) })).call('plain_label');
      // A server's texts for models are stored when first seen.
      const seen = async (): Promise<string> =>
        textAt((await admin.get('/gateways/plain/instructions')).json(), 'text');
      await expect.poll(seen, { timeout: scaledMs(10_000), interval: 20 }).not.toBe('');
      await importHeldNotes(admin);
      const faults = new Faults(place);
      await faults.install();
      for (const [route, caseOf] of CASES) {
        const [method = ''] = route.split(' ');
        const { path, body, actions } = caseOf(world);
        const before = [await faults.content(), await shown(admin)];
        const toldBefore = await actionsIn(admin);
        let isDone = false;
        for (const nth of faultAt) {
          if (isDone) break;
          await faults.fail(nth);
          const answer = await admin.ask(method, path, { ...(body !== undefined && { body }) });
          await faults.fail(undefined);
          isDone = answer.status < 400;
          if (isDone) {
            const id = answer.type === 'application/json' ? at(answer.json(), 'id') : undefined;
            if (typeof id === 'string') world.ids.set(route, id);
          } else {
            expect([route, nth, verdictOf(answer).slice(0, 1)]).toEqual([route, nth, '5']);
            const now = [await faults.content(), await shown(admin)];
            expect([route, nth, now]).toEqual([route, nth, before]);
          }
        }
        expect([route, isDone]).toEqual([route, true]);
        const told = (await actionsIn(admin)).slice(0, -toldBefore.length || undefined);
        expect([route, told.toReversed()]).toEqual([route, actions]);
      }
    },
    scaledMs(400_000),
  );
});

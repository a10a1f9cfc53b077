import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminClient, type AdminClient } from './admin.ts';
import type { Gateway } from './assay.ts';
import { startGateway, type GatewayOptions } from './gateway.ts';
import { filedServer, toolNamed } from './filed.ts';
import { toolIn } from './hints.ts';
import { at, isObject, listAt, textAt, type Json, type JsonObject } from './json.ts';
import { tempDir } from './paths.ts';
import { keepToken } from './tokens.ts';

export const PASSPHRASE = 'correct horse battery staple';

/** A running Assay with two subjects: one that may do everything, and one that may not run tools. */
export interface Instance {
  readonly assay: Gateway;
  readonly home: string;
  readonly admin: AdminClient;
  readonly limited: AdminClient;
}

interface Place {
  readonly home?: string;
  readonly servers?: JsonObject;
}

export function openInstance(databaseUrl?: string, place?: Place): Promise<Instance> {
  return startInstance(startGateway, databaseUrl, place);
}

export async function startInstance<T extends Gateway>(
  start: (options: GatewayOptions) => Promise<T>,
  databaseUrl?: string,
  { home = tempDir(), servers = {} }: Place = {},
): Promise<Instance & { readonly assay: T }> {
  const [token, less] = [
    await keepToken(home, `boss-${Date.now()}`, { scopes: ['admin', 'execute'], databaseUrl }),
    await keepToken(home, `limited-${Date.now()}`, { scopes: ['admin'], databaseUrl }),
  ];
  const env = databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl };
  const assay = await start({ servers, home, env });
  await assay.settled();
  return { assay, home, admin: adminClient(assay, token), limited: adminClient(assay, less) };
}

/** Secrets that no export may contain in plain text. */
export const SECRETS: readonly string[] = [
  's3cr3t-of-the-variable-0123456789',
  's3cr3t-of-the-request-0123456789',
  's3cr3t-of-the-header-0123456789',
  's3cr3t-of-the-module-0123456789',
  's3cr3t-of-the-url-Zx81Qw92Er73',
];
const [OF_VARIABLE = '', OF_REQUEST = '', OF_HEADER = '', OF_MODULE = '', OF_URL = ''] = SECRETS;

/** Creates one item of each kind through the REST API, or two if that tests more. */
export async function makeEverything({ admin }: Instance): Promise<void> {
  const done = async (asked: ReturnType<AdminClient['post']>): Promise<Json> => {
    const answer = await asked;
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    return answer.status === 204 ? null : answer.json();
  };
  const { entry } = filedServer([toolNamed('act'), toolNamed('look')], {
    env: { TOKEN_OF_IT: OF_VARIABLE },
  });
  await done(admin.post('/gateways', { name: 'made', trust: true, ...entry }));
  await done(
    admin.post('/gateways', {
      name: 'far',
      url: `http://127.0.0.1:9/mcp?api_key=${OF_URL}`,
      headers: { Authorization: `Bearer ${OF_HEADER}` },
    }),
  );
  await done(
    admin.post('/tools', {
      name: 'weather',
      url: 'http://127.0.0.1:9/weather/{city}',
      method: 'GET',
      auth: { type: 'bearer', token: OF_REQUEST },
      headers: { 'X-Api-Key': OF_HEADER },
      description: 'Tells the weather.',
    }),
  );
  const module = join(tempDir(), 'sums.mjs');
  writeFileSync(module, 'export function sum({ a, b }) { return a + b; }\n');
  await done(admin.post('/functions', { module, env: { API_TOKEN: OF_MODULE }, memoryMb: 64 }));
  const { id } = await toolIn(admin, 'made', 'act');
  const said = { annotations: { readOnlyHint: true }, title: 'Acts', reason: 'I have read its code.' };
  await done(admin.put(`/tools/${String(id)}`, said));
  await done(
    admin.post('/toolsets', { name: 'both', description: 'Of two', tools: ['made.act', 'made.look'] }),
  );
  await done(admin.post('/toolsets', { name: 'none', tools: [] }));
  await done(
    admin.post(`/tools/${String(id)}/notes`, { toolset: 'both', name: 'team', note: 'Our team is "ÄÖ".' }),
  );
  await done(admin.post('/toolsets/both/equip'));
  const look = await toolIn(admin, 'made', 'look');
  await done(admin.put(`/tools/${textAt(look, 'id')}`, { enabled: false }));
  await done(admin.put('/preferences', { 'limits.drainMs': 5_000, 'notes.review': 'never' }));
  const rule = { effect: 'ask', name: 'mail', tool: ['gmail.*'], hints: { readOnlyHint: false } };
  await done(admin.put('/policy/rules', { rules: [rule] }));
}

/** The exported document without its time and its encrypted secrets, which are random. */
export async function exportOf({ admin }: Instance): Promise<JsonObject> {
  const answer = await admin.get('/export');
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return lasting(answer.json());
}

export async function sealedExportOf({ admin }: Instance): Promise<JsonObject> {
  const answer = await admin.post('/export', { passphrase: PASSPHRASE });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const bundle = answer.json();
  if (!isObject(bundle)) throw new Error(answer.text);
  return bundle;
}

export function lasting(bundle: Json): JsonObject {
  if (!isObject(bundle)) throw new Error('no bundle');
  const { exportedAt, sealed, ...rest } = bundle;
  return rest;
}

/** The bodies of the records of a kind. */
export function bodiesIn(bundle: Json, kind: string): readonly Json[] {
  return listAt(bundle, 'records').flatMap((one) =>
    at(one, 'kind') === kind ? [at(one, 'body') ?? null] : [],
  );
}

/** A bundle of records, each with its kind. */
export function bundleWith(records: Readonly<Record<string, readonly unknown[]>>): JsonObject {
  const list = Object.entries(records).flatMap(([kind, bodies]) =>
    bodies.map((body) => ({ kind, version: 1, body })),
  );
  return { assay: 1, records: list as Json[] };
}

/** A bundle of stored settings. */
export function bundleOfSettings(settings: Readonly<Record<string, unknown>>): JsonObject {
  const records = Object.entries(settings).map(([id, body]) => ({ kind: 'setting', version: 1, id, body }));
  return { assay: 1, records: records as Json[] };
}

/** `gateway made create`: the planned action for each item. */
export function actionsOf(plan: Json): readonly string[] {
  return listAt(plan, 'items').map(
    (item) => `${textAt(item, 'kind')} ${textAt(item, 'name')} ${textAt(item, 'action')}`,
  );
}

export function countsOf(plan: Json): Json | undefined {
  return at(plan, 'counts');
}

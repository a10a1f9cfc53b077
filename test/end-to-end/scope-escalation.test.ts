import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SETTINGS, type SettingKey } from '../../packages/gateway/src/core/settings.ts';
import { verdictOf } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import {
  bundleOfSettings,
  bundleWith,
  makeEverything,
  openInstance,
  type Instance,
} from '../support/bundles.ts';
import { send } from '../support/http.ts';
import { at, isObject, listAt, textAt, type Json } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { saveSetting, tryStore, valueOf } from '../support/store-values.ts';
import { until, untilLogged } from '../support/endings.ts';

/** A valid value for each setting that can be changed only at startup. */
const WANTED: Readonly<Partial<Record<SettingKey, string | number | boolean>>> = {
  'mcp.access': 'token',
  'mcp.sse': true,
  'mcp.allowedOrigins': 'https://attacker.example',
  'auth.issuer': 'https://attacker.example',
  'auth.audience': 'attacker',
  'auth.jwksUri': 'https://attacker.example/keys',
  'auth.publicUrl': 'https://attacker.example',
  'background.idleMs': 0,
  'http.allowLoopback': true,
  'http.allowPrivate': true,
  'log.events': '/tmp/attack.log',
  'approvals.notify': '["sh","-c","id"]',
  'overrides.notify': '["sh","-c","id"]',
  'servers.notify': 'https://attacker.example',
};

const MODULE = join(tempDir(), 'attack.mjs');
writeFileSync(MODULE, 'export function attack() { return 1; }\n');
const STDIO = { command: 'sh', args: ['-c', 'true'] };
const FILE = '/etc/hostname';
/** An uploaded document that refers to a file of this machine. */
const FILE_REFERENCE = JSON.stringify({
  openapi: '3.1.0',
  servers: [{ url: 'https://a.example' }],
  paths: { '/x': { $ref: `file://${FILE}` } },
});
const ENTRY = { createdMs: 0, author: 'attacker' };

/** References that read a secret or a file of this machine, or run a program. */
const REFERENCES = ['${secret:TOKEN}', `x \${file:${FILE}}`, '${command:["id"]}'];

/** A proxy sees the traffic of an entry, and without the one of the environment nothing filters it. */
const PROXIES = [{ proxy: 'http://attacker.example:3128' }, { proxy: false }, { proxyResolves: true }];
/** Members of an entry that read files of this machine, or run a program. */
const FILE_MEMBERS = [
  { clientCertificate: { certFile: FILE, keyFile: FILE } },
  { ca: FILE },
  { headerCommand: ['id'] },
];

type Attack = readonly [method: string, path: string, body: unknown, verdict: string];

/** Every write operation, with the bodies through which a token with only `admin` might gain more rights. */
const ATTACKS: Readonly<Record<string, readonly Attack[] | 'gains nothing'>> = {
  registerGateway: [
    ['POST', '/gateways', { name: 'x', ...STDIO }, '403 SCOPE_MISSING'],
    ['POST', '/gateways', { name: 'x', transport: 'STDIO' }, '403 SCOPE_MISSING'],
    ['POST', '/gateways', { name: 'x', url: 'https://a.example', env: { A: 'b' } }, '403 SCOPE_MISSING'],
    ['POST', '/gateways', { name: 'x', url: 'https://a.example', cwd: '/' }, '403 SCOPE_MISSING'],
    ...PROXIES.map((proxy): Attack => {
      const body = { name: 'x', url: 'https://a.example', ...proxy };
      return ['POST', '/gateways', body, '403 SCOPE_MISSING'];
    }),
    ['POST', '/gateways', { name: 'x', openapi: FILE }, '403 SCOPE_MISSING'],
    ['POST', '/gateways', { name: 'x', openapi: `http:${FILE}` }, '403 SCOPE_MISSING'],
    ['POST', '/gateways', { name: 'x', openapi: `file://${FILE}` }, '403 SCOPE_MISSING'],
    ['POST', '/gateways', { name: 'x', document: FILE_REFERENCE }, '422 BODY_INVALID'],
    ...REFERENCES.map((value): Attack => {
      const body = { name: 'x', url: 'https://a.example', headers: { A: value } };
      return ['POST', '/gateways', body, '403 SCOPE_MISSING'];
    }),
    ...FILE_MEMBERS.map((members): Attack => {
      const body = { name: 'x', url: 'https://a.example', ...members };
      return ['POST', '/gateways', body, '403 SCOPE_MISSING'];
    }),
    // Expanding the environment variable would reveal the operator's token to the server.
    ['POST', '/gateways', { name: 'x', url: 'https://a.example/${ASSAY_TOKEN}' }, '422 BODY_INVALID'],
  ],
  previewDocument: [
    ['POST', '/openapi/preview', { openapi: FILE }, '403 SCOPE_MISSING'],
    ['POST', '/openapi/preview', { openapi: `file://${FILE}` }, '403 SCOPE_MISSING'],
    ['POST', '/openapi/preview', STDIO, '403 SCOPE_MISSING'],
    ...PROXIES.map((proxy): Attack => {
      const body = { openapi: 'https://a.example/x.json', ...proxy };
      return ['POST', '/openapi/preview', body, '403 SCOPE_MISSING'];
    }),
    ...REFERENCES.map((value): Attack => {
      const body = { openapi: 'https://a.example/x.json', headers: { A: value } };
      return ['POST', '/openapi/preview', body, '403 SCOPE_MISSING'];
    }),
    ['POST', '/openapi/preview', { document: FILE_REFERENCE }, '422 BODY_INVALID'],
  ],
  importDocument: [
    ['POST', '/openapi', { name: 'x', openapi: FILE }, '403 SCOPE_MISSING'],
    ['POST', '/openapi', { name: 'x', openapi: `file://${FILE}` }, '403 SCOPE_MISSING'],
    ['POST', '/openapi', { name: 'x', openapi: 'https://a.example/${ASSAY_TOKEN}' }, '422 BODY_INVALID'],
    ...REFERENCES.map((value): Attack => {
      const body = { name: 'x', openapi: 'https://a.example/x.json', headers: { A: value } };
      return ['POST', '/openapi', body, '403 SCOPE_MISSING'];
    }),
    // A source with a command is not replaced by a document.
    ['POST', '/openapi', { name: 'made', openapi: 'https://a.example/x.json' }, '409 GATEWAY_EXISTS'],
  ],
  updateGateway: [
    ['PUT', '/gateways/made', { args: ['-c', 'true'] }, '403 SCOPE_MISSING'],
    ['PUT', '/gateways/made', { timeoutMs: 1 }, '403 SCOPE_MISSING'],
    ['PUT', '/gateways/made', { command: null, url: 'https://a.example' }, '403 SCOPE_MISSING'],
    ['PUT', '/gateways/far', { url: null, ...STDIO }, '403 SCOPE_MISSING'],
    ['PUT', '/gateways/far', { url: null, openapi: FILE }, '403 SCOPE_MISSING'],
    ...REFERENCES.map((value): Attack => [
      ...(['PUT', '/gateways/far', { headers: { A: value } }, '403 SCOPE_MISSING'] as const),
    ]),
    ...PROXIES.map((proxy): Attack => ['PUT', '/gateways/far', proxy, '403 SCOPE_MISSING']),
    // Another URL would be looked up by the proxy, too, and without the proxy requests would go directly.
    ['PUT', '/gateways/proxied', { url: 'https://inner.example/mcp' }, '403 SCOPE_MISSING'],
    ['PUT', '/gateways/proxied', { proxy: null }, '403 SCOPE_MISSING'],
    // A credential for one server must not be sent to another.
    ['PUT', '/gateways/far', { url: 'https://attacker.example/mcp' }, '422 BODY_INVALID'],
  ],
  patchGateway: [
    ['PATCH', '/gateways/made', { env: { NODE_OPTIONS: '--require=/tmp/x' } }, '403 SCOPE_MISSING'],
    ...REFERENCES.map((value): Attack => [
      ...(['PATCH', '/gateways/far', { headers: { A: value } }, '403 SCOPE_MISSING'] as const),
    ]),
    ...FILE_MEMBERS.map((members): Attack => ['PATCH', '/gateways/far', members, '403 SCOPE_MISSING']),
    // A certificate must not be shown to another server.
    ['PATCH', '/gateways/certified', { url: 'https://attacker.example/mcp' }, '403 SCOPE_MISSING'],
    // What a reference reads must not be sent to another server.
    ['PATCH', '/gateways/referring', { url: 'https://attacker.example/mcp' }, '403 SCOPE_MISSING'],
    ['PATCH', '/gateways/referring', { timeoutMs: 1 }, '403 SCOPE_MISSING'],
    ['PATCH', '/gateways/far', { url: 'https://attacker.example/mcp' }, '422 BODY_INVALID'],
  ],
  testNotices: [['POST', '/notices/test', undefined, '403 SCOPE_MISSING']],
  verifyGateway: [['POST', '/gateways/made/verify', undefined, '403 SCOPE_MISSING']],
  setSecret: [
    ['PUT', '/secrets/TOKEN', { value: 'of the attacker' }, '403 SCOPE_MISSING'],
    ['PUT', '/secrets/TOKEN', { servers: ['far'] }, '403 SCOPE_MISSING'],
  ],
  removeSecret: [['DELETE', '/secrets/TOKEN', undefined, '403 SCOPE_MISSING']],
  addFunctions: [['POST', '/functions', { module: MODULE }, '403 SCOPE_MISSING']],
  createTool: [['POST', '/tools', { name: 'x', url: 'file:///etc/hostname' }, '422 BODY_INVALID']],
  updateTool: [['PUT', '/tools/WEATHER', { url: 'https://attacker.example/x' }, '422 BODY_INVALID']],
  patchTool: [['PATCH', '/tools/WEATHER', { url: 'https://attacker.example/x' }, '422 BODY_INVALID']],
  createToken: [
    ['POST', '/tokens', { name: 'x', scopes: ['execute'] }, '403 SCOPE_MISSING'],
    ['POST', '/tokens', { name: 'x', scopes: ['admin', 'execute'] }, '403 SCOPE_MISSING'],
    ['POST', '/tokens', { name: 'operator' }, '422 BODY_INVALID'],
    ['POST', '/tokens', { name: 'local' }, '422 BODY_INVALID'],
    ['POST', '/tokens', { name: 'https://id.example#ada' }, '422 BODY_INVALID'],
  ],
  createSignInLink: [
    ['POST', '/sign-in-links', {}, '403 SCOPE_MISSING'],
    ['POST', '/sign-in-links', { scopes: ['execute'] }, '403 SCOPE_MISSING'],
  ],
  changePreferences: Object.entries(WANTED).map(([key, value]) => [
    'PUT',
    '/preferences',
    { [key]: value },
    '403 SETTING_READ_ONLY',
  ]),
  patchPreferences: Object.entries(WANTED).map(([key, value]) => [
    'PATCH',
    '/preferences',
    { [key]: value },
    '403 SETTING_READ_ONLY',
  ]),
  import: [
    ...[STDIO, { type: 'stdio', ...STDIO }, { openapi: FILE }],
    ...PROXIES.map((proxy) => ({ url: 'https://a.example', ...proxy })),
    ...[...REFERENCES, { command: ['id'] }].map((value) => ({
      url: 'https://a.example',
      headers: { A: value },
    })),
  ].map((entry): Attack => {
    const bundle = bundleWith({ gateway: [{ name: 'x', entry, ...ENTRY }] });
    return ['POST', '/import', { bundle, apply: true }, '403 SCOPE_MISSING'];
  }),
  // These only delete, switch, describe or read.
  createStop: 'gains nothing',
  endStop: 'gains nothing',
  deleteGateway: 'gains nothing',
  refreshGateway: 'gains nothing',
  restartGateway: 'gains nothing',
  removeFunctions: 'gains nothing',
  deleteTool: 'gains nothing',
  reviewTool: 'gains nothing',
  acceptNewTools: 'gains nothing',
  addToolsetTools: 'gains nothing',
  removeToolsetTools: 'gains nothing',
  addNote: 'gains nothing',
  changeNote: 'gains nothing',
  deleteNote: 'gains nothing',
  acceptNote: 'gains nothing',
  rejectNote: 'gains nothing',
  acceptNotes: 'gains nothing',
  reviewInstructions: 'gains nothing',
  changeGatewayTrust: 'gains nothing',
  runTool: 'gains nothing',
  approveCall: 'gains nothing',
  denyCall: 'gains nothing',
  revokeApproval: 'gains nothing',
  revokeToken: 'gains nothing',
  endSession: 'gains nothing',
  clearLabels: 'gains nothing',
  patchTokenPreferences: 'gains nothing',
  putPolicyRules: 'gains nothing',
  exportWithSecrets: 'gains nothing',
  createToolset: 'gains nothing',
  changeToolset: 'gains nothing',
  addToolNote: 'gains nothing',
  updateToolNote: 'gains nothing',
  deleteToolNote: 'gains nothing',
  acceptToolNote: 'gains nothing',
  deleteToolset: 'gains nothing',
  equipToolset: 'gains nothing',
  unequipToolset: 'gains nothing',
};

let instance: Instance;
let weather = '';
beforeAll(async () => {
  instance = await openInstance();
  await makeEverything(instance);
  const referring = { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: `\${file:${FILE}}` } };
  await instance.admin.post('/gateways', { name: 'referring', ...referring });
  const proxied = { url: 'http://127.0.0.1:9/mcp', proxy: 'http://127.0.0.1:9', proxyResolves: true };
  await instance.admin.post('/gateways', { name: 'proxied', ...proxied });
  const certified = { url: 'https://127.0.0.1:9/mcp', clientCertificate: { certFile: FILE, keyFile: FILE } };
  await instance.admin.post('/gateways', { name: 'certified', ...certified });
  const { tools } = (await instance.admin.get('/tools')).json() as { readonly tools: Json };
  weather = textAt(listAt(tools).find((tool) => at(tool, 'originalName') === 'weather') ?? null, 'id');
});

const rows = Object.entries(ATTACKS).flatMap(([id, attacks]) =>
  attacks === 'gains nothing'
    ? []
    : attacks.map(([method, path, body, verdict]) => ({ id, method, path, body, verdict })),
);

describe('a token with only the scope admin', () => {
  it.each(rows)('gains nothing through $id: $method $path $body', async ({ method, path, body, verdict }) => {
    const before = await lastingState();
    const answer = await instance.limited.ask(method, path.replace('WEATHER', weather), { body });
    expect(verdictOf(answer)).toBe(verdict);
    expect(await lastingState()).toEqual(before);
  });

  it('is tested against every write operation', async () => {
    const document = (await instance.admin.get('/openapi.json')).json();
    const paths = at(document, 'paths');
    const ids = Object.values(isObject(paths) ? paths : {}).flatMap((item) =>
      Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]) =>
        method === 'get' ? [] : [textAt(operation, 'operationId')],
      ),
    );
    expect(ids.toSorted()).toEqual(Object.keys(ATTACKS).toSorted());
  });

  it('is tested with every startup setting', () => {
    const startup = Object.entries(SETTINGS).filter(([, { changedBy }]) => changedBy === 'startup');
    expect(startup.map(([key]) => key)).toEqual(Object.keys(WANTED));
  });

  it('is refused a startup setting, with an error that says where to set it', async () => {
    const answer = await instance.limited.put('/preferences', { 'auth.issuer': 'https://attacker.example' });
    expect(at(answer.json(), 'detail')).toBe(
      'The setting "auth.issuer" controls access to Assay or the addresses it may reach, so it cannot be stored. Set ASSAY_AUTH_ISSUER, or settings["auth.issuer"] in the config file, and restart Assay.',
    );
  });

  it('cannot import startup settings in a bundle; the plan shows the current and the requested value', async () => {
    for (const apply of [false, true]) {
      const answer = await instance.limited.post('/import', {
        bundle: bundleOfSettings({ ...WANTED, 'limits.drainMs': 1_234 }),
        apply,
      });
      expect(verdictOf(answer)).toBe('200');
      const items = listAt(answer.json(), 'items');
      expect(items[0]).toMatchObject({
        name: 'limits.drainMs',
        action: 'update',
        before: 5_000,
        after: 1_234,
      });
      expect(items.slice(1).map((item) => [at(item, 'name'), at(item, 'action'), at(item, 'after')])).toEqual(
        Object.entries(WANTED).map(([key, value]) => [key, 'omitted', value]),
      );
      expect(items[1]).toMatchObject({ before: 'open' });
      const issuer = items.find((item) => at(item, 'name') === 'auth.issuer');
      expect(at(issuer ?? null, 'warnings', 0)).toContain(
        'Set ASSAY_AUTH_ISSUER, or settings["auth.issuer"]',
      );
    }
    const { preferences } = (await instance.admin.get('/preferences')).json() as {
      readonly preferences: Json;
    };
    const stored = listAt(preferences).filter((one) => at(one, 'origin') === 'store' || at(one, 'ignored'));
    expect(stored.map((one) => at(one, 'key'))).toEqual(['notes.review', 'limits.drainMs']);
  });
});

it('a startup setting stored by an earlier version is ignored with a warning, and can be deleted', async () => {
  const home = tempDir();
  const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
  const auditEvent = { atMs: 1, subject: 'x', action: 'preference.update', before: 0, after: 1 } as const;
  const target = { kind: 'preference', id: 'mcp.access', name: 'mcp.access' } as const;
  valueOf(await saveSetting(store, 'mcp.access', 'token', { ...auditEvent, target }));
  await store.close();
  const { assay, limited } = await openInstance(undefined, { home });
  const warning =
    'The stored value of mcp.access is ignored: this setting is read from the environment and the config file only. Set ASSAY_MCP_ACCESS, or settings[\\"mcp.access\\"] in the config file if you want it, and delete the stored value with `assay settings unset mcp.access`.';
  await untilLogged(assay, warning);
  // The endpoint is open because nothing restricted it at startup.
  const ping = await send(assay.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  expect(ping.status).not.toBe(401);
  const preference = async (): Promise<Json | undefined> =>
    listAt((await limited.get('/preferences')).json(), 'preferences').find(
      (one) => at(one, 'key') === 'mcp.access',
    );
  expect(await preference()).toMatchObject({ value: 'open', origin: 'default', ignored: 'token' });
  const config = join(home, 'mcp.json');
  writeFileSync(config, '{"mcpServers":{"none":{"command":"true"}}}');
  const shown = await runAssay(['settings', '--config', config, '--home', home]);
  expect(shown.stderr).toContain(warning.replaceAll('\\', ''));
  const doctor = await runAssay(['doctor', '--offline', '--config', config, '--home', home]);
  expect(doctor.stdout).toContain('The stored value of mcp.access is ignored');
  await runAssay(['settings', 'unset', 'mcp.access', '--config', config, '--home', home]);
  await until('the stored value is gone', async () =>
    at(await preference(), 'ignored') === undefined ? true : undefined,
  );
});

/** All persistent state that the API shows. */
async function lastingState(): Promise<readonly string[]> {
  const { admin } = instance;
  const paths = ['/export', '/tokens', '/preferences', '/activity?limit=1'];
  const answers = await Promise.all(paths.map((path) => admin.get(path)));
  return answers.map(({ text }) => text.replace(/"exportedAt":"[^"]+"/, ''));
}

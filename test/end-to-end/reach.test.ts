// Which addresses a source may connect to, depending on who chose its URL. An address that an operator may not
// use is refused at once, and nothing is sent there.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, textAt, type Json, type JsonObject } from '../support/json.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { serveWeb } from '../support/web-server.ts';
import { startHttp } from '../fixtures/http.ts';

interface Instance {
  readonly assay: Gateway;
  /** Has the scope admin, but not execute. */
  readonly admin: AdminClient;
}

async function openInstance(host: string, servers: JsonObject = {}): Promise<Instance> {
  const home = tempDir();
  const token = await keepToken(home, 'admin', { scopes: ['admin', 'mcp'] });
  const assay = await startGateway({ servers: { plain: fixture('plain'), ...servers }, home, host });
  return { assay, admin: adminClient(assay, token) };
}

const CAUSE = 'it leads to a metadata address, so nothing was sent there: no setting allows that';

/** Each way for an operator to specify a URL, with its position in the request. */
const WAYS: readonly (readonly [
  string,
  string,
  (name: string, url: string) => readonly [string, JsonObject],
])[] = [
  ['a gateway', '/url', (name, url) => ['/gateways', { name, url }]],
  ['a gateway over SSE', '/url', (name, url) => ['/gateways', { name, url, transport: 'sse' }]],
  ['an OpenAPI document', '/openapi', (name, url) => ['/gateways', { name, openapi: url }]],
  [
    'a base URL',
    '/baseUrl',
    (name, url) => ['/gateways', { name, openapi: 'https://nobody.invalid/', baseUrl: url }],
  ],
  ['a REST tool', '/url', (name, url) => ['/tools', { name, url, method: 'GET' }]],
];

function faultIn(body: Json): string {
  return `${textAt(body, 'errors', 0, 'pointer')} ${textAt(body, 'errors', 0, 'detail')}`;
}

describe('an Assay that listens on loopback only', () => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await openInstance('127.0.0.1');
  });

  it.each(WAYS)(
    'refuses %s at a metadata or private address at once, naming the setting',
    async (_, place, input) => {
      for (const [url, reason] of [
        ['http://169.254.169.254/latest/', /metadata address: no setting allows that/],
        ['http://[::ffff:a9fe:a9fe]/', /metadata address: no setting allows that/],
        ['http://2852039166/', /metadata address: no setting allows that/],
        [
          'http://10.1.2.3:8080/',
          /private address: to allow it, set http\.allowPrivate \(ASSAY_HTTP_ALLOW_PRIVATE=true\)/,
        ],
      ] as const) {
        const [path, body] = input('refused', url);
        const answer = await instance.admin.post(path, body);
        expect([answer.status, faultIn(answer.json())]).toEqual([422, expect.stringMatching(reason)]);
        expect(faultIn(answer.json()).startsWith(`${place} `)).toBe(true);
      }
    },
  );

  it('accepts an MCP server and a REST tool on this machine without any setting', async () => {
    const upstream = await startHttp('legacy');
    const url = upstream.url.replace('127.0.0.1', 'localhost');
    const made = await instance.admin.post('/gateways', { name: 'here', url });
    expect([made.status, at(made.json(), 'state')]).toEqual([201, 'up']);
    await upstream.close();
    const port = await serveWeb((_, response) => response.end('hello'));
    await instance.admin.post('/tools', { name: 'local', url: `http://localhost:${port}/`, method: 'GET' });
    const answer = await modernAsk(instance.assay.url, 'tools/call', {
      params: { name: 'local', arguments: {} },
    });
    expect(textAt(answer, 'result', 'content', 0, 'text')).toBe('hello');
  });

  it('refuses an update or an import with a metadata address, and changes nothing', async () => {
    const url = 'http://169.254.169.254/';
    await instance.admin.post('/gateways', { name: 'moved', url: 'https://nobody.invalid/mcp' });
    const changed = await instance.admin.put('/gateways/moved', { url });
    expect([changed.status, faultIn(changed.json())]).toEqual([
      422,
      expect.stringContaining('/url It leads to a metadata'),
    ]);
    expect(textAt((await instance.admin.get('/gateways/moved')).json(), 'url')).toBe(
      'https://nobody.invalid/mcp',
    );
    const exported = (await instance.admin.get('/export')).json() as JsonObject;
    const text = JSON.stringify(exported).replace('https://nobody.invalid/mcp', url);
    const imported = await instance.admin.post('/import', {
      bundle: JSON.parse(text) as Json,
      onConflict: 'replace',
      apply: true,
    });
    expect([imported.status, imported.text]).toEqual([
      422,
      expect.stringContaining('leads to a metadata address'),
    ]);
  });

  it('refuses a metadata address from the config file too, at any port', async () => {
    const servers = Object.fromEntries(
      [80, 1].map((port) => [`at-${port}`, { url: `http://169.254.169.254:${port}/` }]),
    );
    const { admin } = await openInstance('127.0.0.1', servers);
    for (const name of Object.keys(servers))
      await until('the gateway says why it is down', async () => {
        const cause = at((await admin.get(`/gateways/${name}`)).json(), 'cause');
        return cause === CAUSE || undefined;
      });
  });
});

describe('an Assay reachable by other machines', () => {
  it('refuses loopback addresses from an operator, over the API or the CLI, and sends nothing there', async () => {
    const visits: string[] = [];
    const port = await serveWeb((request, response) => {
      visits.push(request.url ?? '');
      response.end();
    });
    const { assay, admin } = await openInstance('0.0.0.0');
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f.1',
      '127.0.0.1.',
    ])
      for (const [, place, input] of WAYS) {
        const [path, body] = input('refused', `http://${host}:${port}/`);
        const answer = await admin.post(path, body);
        expect([host, path, answer.status, faultIn(answer.json())]).toEqual([
          host,
          path,
          422,
          expect.stringContaining(
            `${place} It leads to a loopback address: to allow it, set http.allowLoopback`,
          ),
        ]);
      }
    const command = await runAssay([
      'rest',
      'add',
      'refused',
      `http://127.0.0.1:${port}/`,
      '--method',
      'GET',
      '--home',
      assay.home,
    ]);
    expect([command.code, command.stderr]).toEqual([2, expect.stringContaining('http.allowLoopback')]);
    expect(visits).toEqual([]);
  });
});

it('an edit that keeps the URL is accepted even if that address is no longer allowed', async () => {
  const home = tempDir();
  const token = await keepToken(home, 'admin', { scopes: ['admin', 'mcp'] });
  const url = 'http://127.0.0.1:9/';
  const first = await startGateway({ servers: {}, home });
  const before = adminClient(first, token);
  const tool = await before.post('/tools', { name: 'kept', url, method: 'GET' });
  const gateway = await before.post('/gateways', { name: 'kept', url });
  expect([tool.status, gateway.status]).toEqual([201, 201]);
  await first.stop();

  const { port } = await startGateway({ servers: {}, home, host: '0.0.0.0' });
  const admin = adminClient({ port }, token);
  for (const [place, edit] of [
    [`/tools/${textAt(tool.json(), 'id')}`, { description: 'Reads it.' }],
    [`/gateways/${textAt(gateway.json(), 'id')}`, { timeoutMs: 2_000 }],
  ] as const) {
    expect((await admin.ask('PATCH', place, { body: { url, ...edit } })).status).toBe(200);
    const moved = await admin.ask('PATCH', place, { body: { url: `${url}other` } });
    expect([moved.status, faultIn(moved.json())]).toEqual([422, expect.stringMatching(/^\/url .*loopback/)]);
  }
});

// Requests of a gateway go through the proxies of its environment and of its entries.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import { serverIn } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { serveConnectProxy, type ConnectProxy } from '../support/connect-proxy.ts';
import { echoWeb } from '../support/echo-web.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, textAt, type JsonObject } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';
import { startHttp } from '../fixtures/http.ts';

/** At a public address, so that it needs no resolver: only the proxies of this file lead anywhere. */
const PLACE = '203.0.114.1';
const PASSWORD = 'hidden-password-of-the-proxy';
const OTHER = 'hidden-password-of-the-entry';

const urlOf = ({ port }: ConnectProxy, credentials = ''): string => `http://${credentials}127.0.0.1:${port}`;

async function openAdmin(
  servers: JsonObject,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly assay: Awaited<ReturnType<typeof startGateway>>; readonly admin: AdminClient }> {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startGateway({ servers, home, env });
  await assay.settled();
  return { assay, admin: adminClient(assay, token) };
}

it('servers, documents and REST tools of all kinds are reached through them', async () => {
  const upstream = await startHttp('legacy');
  endLater(() => upstream.close());
  const { port, pathname } = new URL(upstream.url);
  const web = await echoWeb({ openapi: '3.1.0', servers: [{ url: '/' }], paths: { '/x': { get: {} } } });
  const [ofServers, ofWeb] = [
    await serveConnectProxy({ to: Number(port), credentials: `me:${PASSWORD}` }),
    await serveConnectProxy({ to: Number(new URL(web.url).port), credentials: `me:${OTHER}` }),
  ];
  const { assay, admin } = await openAdmin(
    {
      near: { url: upstream.url },
      far: { url: `http://${PLACE}${pathname}` },
      api: {
        openapi: `http://${PLACE}:81/api.json`,
        proxy: urlOf(ofWeb, 'me:${PROXY_PASSWORD}@'),
        proxyResolves: true,
      },
    },
    { http_proxy: urlOf(ofServers, `me:${PASSWORD}@`), NO_PROXY: 'no.example', PROXY_PASSWORD: OTHER },
  );
  const health = await assay.health();
  expect(['near', 'far', 'api'].map((name) => at(serverIn(health, name), 'state'))).toEqual(
    Array(3).fill('up'),
  );
  expect(new Set(ofServers.targets)).toEqual(new Set([`${PLACE}:80`]));
  expect(new Set(ofWeb.targets)).toEqual(new Set([`${PLACE}:81`]));
  const tool = { name: 'look', url: `http://${PLACE}:82/look`, method: 'GET' };
  expect((await admin.post('/tools', tool)).status).toBe(201);
  const { tools } = (await admin.get('/tools?server=local')).json() as { readonly tools: readonly object[] };
  const run = await admin.post(`/tools/${textAt(tools[0] as never, 'id')}/run`, { arguments: {} });
  expect([run.status, ofServers.targets.includes(`${PLACE}:82`)]).toEqual([200, true]);
  const shown = (await admin.get('/gateways/api')).json();
  expect([at(shown, 'proxy'), at(shown, 'proxyResolves')]).toEqual([urlOf(ofWeb), true]);
});

it('a proxy that refuses is named as the cause, and its credentials are shown nowhere', async () => {
  const proxy = await serveConnectProxy({ credentials: 'someone:else' });
  const entry = { url: `http://${PLACE}/mcp`, proxy: urlOf(proxy, `me:${OTHER}@`) };
  const { assay, admin } = await openAdmin(
    { far: entry, farther: { url: `http://${PLACE}/mcp` } },
    { http_proxy: urlOf(proxy, `me:${PASSWORD}@`) },
  );
  expect((await admin.post('/gateways', { ...entry, name: 'made' })).status).toBe(201);
  const cause = `cannot be reached: the proxy ${urlOf(proxy)} answers HTTP 407, so its credentials are missing or wrong`;
  await until('all of them were refused', async () => {
    const states = ['far', 'farther', 'made'].map(async (name) =>
      at(serverIn(await assay.health(), name), 'cause'),
    );
    return (await Promise.all(states)).every((one) => one === cause) ? true : undefined;
  });
  const config = join(tempDir(), 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { far: entry } }));
  const doctor = await runAssay(['doctor', '--json', '--config', config, '--home', tempDir()]);
  const texts = [
    JSON.stringify(await assay.health()),
    ...(await Promise.all(['/gateways', '/export', '/activity?limit=50'].map((path) => admin.get(path)))).map(
      ({ text }) => text,
    ),
    assay.stderr(),
    doctor.stdout,
    doctor.stderr,
  ];
  expect(doctor.stdout).toContain('PROXY_CREDENTIALS_REFUSED');
  const encoded = [`me:${OTHER}`, `me:${PASSWORD}`].map((one) => Buffer.from(one).toString('base64'));
  for (const text of texts)
    for (const secret of [PASSWORD, OTHER, ...encoded]) expect(text).not.toContain(secret);
});

it('an entry that is sent back as it is shown keeps the credentials of its proxy', async () => {
  const proxy = await serveConnectProxy({ status: 502 });
  const { admin } = await openAdmin({}, {});
  const body = { name: 'made', url: `http://${PLACE}/mcp`, proxy: urlOf(proxy, `me:${OTHER}@`) };
  expect((await admin.post('/gateways', body)).status).toBe(201);
  const shown = (await admin.get('/gateways/made')).json();
  expect((await admin.put('/gateways/made', { ...(shown as object), timeoutMs: 1_234 })).status).toBe(200);
  const before = proxy.credentials.length;
  await admin.post('/gateways/made/restart');
  await until('the proxy is asked again', async () => proxy.credentials.length > before || undefined);
  expect(new Set(proxy.credentials)).toEqual(new Set([`me:${OTHER}`]));
});

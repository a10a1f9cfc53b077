// Requests of a sign-in leave through the proxy of the entry, or else that of the environment.
import { expect, it } from 'vitest';
import { openFetchFor } from '../../../src/adapters/auth/authorization-server.ts';
import type { ServerUrl } from '../../../src/adapters/auth/server-url.ts';
import { createReachRules } from '../../../src/core/reach-rules.ts';
import { readProxyEnvironment } from '@assay-mcp/kit/platform/proxy-environment';
import { serveConnectProxy, type ConnectProxy } from '../../../../../test/support/connect-proxy.ts';
import { endLater } from '../../../../../test/support/endings.ts';

const urlOf = ({ port }: ConnectProxy): string => `http://me:hidden-password@127.0.0.1:${port}`;

/** Why nothing was fetched from `target` for an entry. The proxy of the environment is `ofAll`. */
async function faultOf(
  target: string,
  entry: Omit<ServerUrl, 'chooser'>,
  ofAll: ConnectProxy,
): Promise<string> {
  const findProxy = readProxyEnvironment({ HTTPS_PROXY: urlOf(ofAll) });
  const rules = createReachRules({
    ...{ isOnNetwork: false, allowLoopback: true, allowPrivate: false, findProxy },
  });
  const fetching = await openFetchFor({ ...entry, chooser: 'config' }, rules);
  endLater(() => fetching.close());
  const error: unknown = await fetching.fetch(target).catch((thrown: unknown) => thrown);
  return error instanceof Error ? error.message : 'fetched';
}

it('those to the issuer take the way of its server', async () => {
  const [own, ofAll] = [await serveConnectProxy({ status: 403 }), await serveConnectProxy({ status: 502 })];
  const url = new URL('https://203.0.114.1/mcp');
  const refused = (proxy: ConnectProxy, status: number): string =>
    `"https://203.0.114.2/token" cannot be reached: the proxy http://127.0.0.1:${proxy.port} refused the connection with HTTP ${status}`;
  const ask = (proxySpec: ServerUrl['proxySpec']): Promise<string> =>
    faultOf('https://203.0.114.2/token', { url, proxySpec }, ofAll);
  expect(await ask(undefined)).toBe(refused(ofAll, 502));
  expect(await ask({ proxy: urlOf(own) })).toBe(refused(own, 403));
  expect([own.targets, ofAll.targets]).toEqual([['203.0.114.2:443'], ['203.0.114.2:443']]);
});

it('a name that cannot be resolved here is left to the proxy only if the entry itself names it', async () => {
  const ofAll = await serveConnectProxy({ status: 502 });
  const entry = {
    url: new URL('https://server.invalid/mcp'),
    auth: { authorizationServer: 'https://issuer.invalid' },
    proxySpec: { proxyResolves: true },
  };
  const refused = 'refused the connection with HTTP 502';
  const ask = (target: string): Promise<string> => faultOf(target, entry, ofAll);
  expect(await ask('https://server.invalid/.well-known/x')).toContain(refused);
  expect(await ask('https://issuer.invalid/token')).toContain(refused);
  expect(await ask('https://inner.invalid/')).toMatch(
    /^"https:\/\/inner\.invalid\/" has a host name that cannot be resolved here \(\w+\), so its address cannot be checked before the proxy http:\/\/127\.0\.0\.1:\d+ connects to it$/,
  );
  expect(ofAll.targets).toEqual(['server.invalid:443', 'issuer.invalid:443']);
});

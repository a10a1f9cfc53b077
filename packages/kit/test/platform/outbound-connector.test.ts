// Connections through proxies: what is checked before them, and who gets to see what.
import { createServer as createSecureServer } from 'node:https';
import { createServer as createListener, type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outbound } from '../../src/outbound.ts';
import type { Reach } from '../../src/reach.ts';
import { Cancellation } from '../../src/cancellation.ts';
import { openCarefulFetch } from '../../src/platform/careful-fetch.ts';
import { ForbiddenAddress, type ResolveName } from '../../src/platform/checked-lookup.ts';
import { HttpClient, type ConnectionFault } from '../../src/platform/http-client.ts';
import { openPinnedAgent } from '../../src/platform/pinned-agent.ts';
import { createOutboundConnector } from '../../src/platform/outbound-connector.ts';
import { openTunnel, ProxyError } from '../../src/platform/tunnel.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../../../test/fixtures/certificate.ts';
import { SITE_CERTIFICATE, SITE_CERTIFICATE_KEY } from '../../../../test/fixtures/site-certificate.ts';
import { freePort } from '../../../../test/support/assay.ts';
import { serveConnectProxy, type ConnectProxy } from '../../../../test/support/connect-proxy.ts';
import { endLater } from '../../../../test/support/endings.ts';
import { serveWeb } from '../../../../test/support/web-server.ts';

const authorities = tls.getCACertificates('default');
beforeAll(() => tls.setDefaultCACertificates([CERTIFICATE, SITE_CERTIFICATE]));
// Other files are tested in the same process.
afterAll(() => tls.setDefaultCACertificates(authorities));

const PUBLIC = '203.0.114.1';
const ANYWHERE: readonly Reach[] = ['public', 'private', 'loopback'];

/** An https site whose certificate is for `site.example`; answers with the Host header. */
async function serveSite(): Promise<number> {
  const site = createSecureServer(
    { cert: SITE_CERTIFICATE, key: SITE_CERTIFICATE_KEY },
    (request, response) => response.end(`site got ${request.headers.host}`),
  );
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  endLater(() => {
    site.closeAllConnections();
    return new Promise((resolve) => site.close(() => resolve()));
  });
  return (site.address() as AddressInfo).port;
}

/** Resolves to these addresses one after the other; an empty list is an unknown name. */
function resolvingTo(...answers: readonly (readonly string[])[]): ResolveName {
  let asked = 0;
  return (_name, _options, callback) => {
    const found = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    const error = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    setImmediate(() =>
      callback(
        found.length === 0 ? error : null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
}

interface Way {
  readonly proxy: string;
  readonly resolve?: ResolveName;
  readonly reaches?: readonly Reach[];
  readonly proxyReaches?: readonly Reach[];
  readonly proxyResolves?: boolean;
}

function outboundOf({ proxy, proxyReaches = ANYWHERE, proxyResolves = false }: Way): Outbound {
  const server = { url: new URL(proxy), reaches: new Set(proxyReaches) };
  return { key: proxy, proxyResolves, findProxy: () => server };
}

type Outcome = string | (ConnectionFault & { readonly isUnreached: boolean });

/** The answer to a GET request, or why there is none. */
function get(url: string, way: Way): Promise<Outcome> {
  const { origin, pathname } = new URL(url);
  const client = new HttpClient(origin, {
    reaches: new Set(way.reaches ?? ANYWHERE),
    chosenBy: 'config',
    resolve: way.resolve ?? resolvingTo([PUBLIC]),
    outbound: outboundOf(way),
  });
  endLater(() => client.close());
  return new Promise((resolve) => {
    let text = '';
    client.call(
      { method: 'GET', path: pathname, headers: [], body: undefined },
      {
        start: () => undefined,
        data: (chunk) => void (text += chunk.toString()),
        end: () => resolve(text),
        error: (fault, isUnreached) => resolve({ ...fault, isUnreached }),
      },
    );
  });
}

const at = ({ port }: Pick<ConnectProxy, 'port'>, credentials = ''): string =>
  `http://${credentials}127.0.0.1:${port}`;

describe('an https target', () => {
  it('is asked for by its name, and proves by its certificate that it is the one', async () => {
    const proxy = await serveConnectProxy({ to: await serveSite(), credentials: 'user:p@ss word' });
    const url = 'https://site.example:8443/a';
    expect(await get(url, { proxy: at(proxy, 'user:p%40ss%20word@') })).toBe('site got site.example:8443');
    expect(proxy.targets).toEqual(['site.example:8443']);
    expect(await get('https://other.example/', { proxy: at(proxy, 'user:p%40ss%20word@') })).toMatchObject({
      code: 'CERTIFICATE_INVALID',
    });
  });

  it('is reached through a proxy that is itself reached over TLS', async () => {
    const certificate = { cert: CERTIFICATE, key: CERTIFICATE_KEY };
    const proxy = await serveConnectProxy({ to: await serveSite(), certificate });
    const way = { proxy: `https://localhost:${proxy.port}`, resolve: resolveLocally([PUBLIC]) };
    expect(await get('https://site.example/', way)).toBe('site got site.example');
    expect(proxy.targets).toEqual(['site.example:443']);
  });
});

/** `localhost` is this machine; all other names have these addresses. */
function resolveLocally(others: readonly string[]): ResolveName {
  const [own, other] = [resolvingTo(['127.0.0.1']), resolvingTo(others)];
  return (name, ...rest) => (name === 'localhost' ? own : other)(name, ...rest);
}

it('an http target is asked for by the address that was checked, as nothing else proves that it is the one', async () => {
  const site = await serveWeb((request, response) => response.end(`got ${request.headers.host}`));
  const proxy = await serveConnectProxy({ to: site });
  const resolve = resolvingTo(['2606:2800::1', PUBLIC], ['10.0.0.1']);
  expect(await get('http://site.example/', { proxy: at(proxy), resolve })).toBe('got site.example');
  expect(proxy.targets).toEqual([`${PUBLIC}:80`]);
});

describe('before the proxy hears of it', () => {
  it.each<readonly [string, readonly string[], readonly Reach[]]>([
    ['https://10.0.0.1/', [], ['private']],
    ['https://[::ffff:169.254.169.254]/', [], ['metadata']],
    ['https://0x0a.1/', [], ['private']],
    ['https://inner.example/', ['10.0.0.1'], ['private']],
    ['https://metadata.example/', ['169.254.169.254'], ['metadata']],
    ['http://inner.example/', ['10.0.0.1'], ['private']],
    // The proxy could choose the second.
    ['https://both.example/', [PUBLIC, '10.0.0.1'], ['private']],
    ['http://both.example/', [PUBLIC, 'fd00:ec2::254'], ['metadata']],
  ])('%s, which leads to %j, is refused', async (url, addresses, reaches) => {
    const proxy = await serveConnectProxy({ to: await serveSite() });
    for (const proxyResolves of [false, true]) {
      const way = { proxy: at(proxy), reaches: ['public'] as const, proxyReaches: ANYWHERE, proxyResolves };
      expect(await get(url, { ...way, resolve: resolvingTo(addresses) })).toEqual({
        ...{ code: 'ADDRESS_NOT_ALLOWED', reaches, chosenBy: 'config', isUnreached: true },
      });
    }
    expect(proxy.connections()).toBe(0);
  });

  it('an address is checked by the connector, too, whoever uses it', async () => {
    const proxy = await serveConnectProxy({});
    const outbound = outboundOf({ proxy: at(proxy), proxyResolves: true });
    const connect = createOutboundConnector({ reaches: new Set(['public']), limitMs: 10_000, outbound });
    const options = { hostname: '[fd00:ec2::254]', protocol: 'https:', port: '443' };
    const error = await new Promise((resolve) => connect(options, (...[fault]) => resolve(fault)));
    expect([error, proxy.connections()]).toEqual([new ForbiddenAddress(['metadata']), 0]);
  });

  it('a name that cannot be resolved here is refused, unless the proxy may resolve it', async () => {
    const proxy = await serveConnectProxy({ to: await serveSite() });
    const way = { proxy: at(proxy, 'user:hidden-password@'), resolve: resolvingTo([]) };
    expect(await get('https://site.example/', way)).toEqual({
      code: 'PROXY_TARGET_UNRESOLVED',
      proxy: at(proxy),
      error: 'ENOTFOUND',
      isUnreached: true,
    });
    expect(proxy.connections()).toBe(0);
    expect(await get('https://site.example/', { ...way, proxyResolves: true })).toBe('site got site.example');
    expect(proxy.targets).toEqual(['site.example:443']);
  });
});

describe('this machine is reached directly', () => {
  it.each(['http://127.0.0.1', 'http://localhost', 'http://here.localhost', 'http://here.example'])(
    'as %s',
    async (origin) => {
      const site = await serveWeb((_, response) => response.end('here'));
      const proxy = await serveConnectProxy({ to: site });
      const way = { proxy: at(proxy), resolve: resolvingTo(['127.0.0.1']), proxyResolves: true };
      expect(await get(`${origin}:${site}/`, way)).toBe('here');
      expect(proxy.connections()).toBe(0);
    },
  );

  it('and only there, whatever a second DNS answer says', async () => {
    const proxy = await serveConnectProxy({});
    const resolve = resolvingTo(['127.0.0.1'], [PUBLIC]);
    expect(await get('http://here.example/', { proxy: at(proxy), resolve })).toMatchObject({
      code: 'ADDRESS_NOT_ALLOWED',
      reaches: ['public'],
    });
  });
});

describe('a proxy that does not connect', () => {
  it.each([
    [403, { code: 'PROXY_REFUSED', status: 403 }],
    [502, { code: 'PROXY_REFUSED', status: 502 }],
    [301, { code: 'PROXY_REFUSED', status: 301 }],
    [407, { code: 'PROXY_CREDENTIALS_REFUSED' }],
  ])('and answers HTTP %i is named without credentials; nothing was sent', async (status, fault) => {
    const proxy = await serveConnectProxy({ status });
    const outcome = await get('https://site.example/', { proxy: at(proxy, 'user:hidden-password@') });
    expect(outcome).toEqual({ ...fault, proxy: at(proxy), isUnreached: true });
    expect(proxy.credentials).toEqual(['user:hidden-password']);
  });

  it('because nothing listens there is named', async () => {
    const proxy = `http://user:hidden-password@127.0.0.1:${await freePort()}`;
    const shown = proxy.replace('user:hidden-password@', '');
    const fault = { code: 'PROXY_UNREACHABLE', proxy: shown, error: 'ECONNREFUSED', isUnreached: true };
    expect(await get('https://site.example/', { proxy })).toEqual(fault);
  });

  it.each([
    ['answers with something else than HTTP', 'SSH-2.0-x\r\n', /^HPE_/],
    [
      'answers with endless headers',
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`,
      /^HPE_HEADER_OVERFLOW/,
    ],
    ['closes the connection', '', /^ECONNRESET/],
  ])('because it %s is named', async (_, bytes, error) => {
    const proxy = await listenRaw((socket) => socket.end(bytes));
    const fault = { code: 'PROXY_UNREACHABLE', error: expect.stringMatching(error) as string };
    expect(await get('https://site.example/', { proxy })).toMatchObject(fault);
  });

  it('because it never answers is given up in time, even while it sends something', async () => {
    const proxy = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x: y\r\n'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    const server = { url: new URL(proxy), reaches: new Set(ANYWHERE) };
    const opened = openTunnel(server, { host: 'site.example', port: 443 }, { limitMs: 100 });
    await expect(opened).rejects.toEqual(
      new ProxyError({ code: 'PROXY_UNREACHABLE', proxy, error: 'ETIMEDOUT' }),
    );
  });

  it.each<readonly [string, readonly string[]]>([
    ['http://169.254.169.254:80', []],
    ['http://proxy.example:80', ['169.254.169.254']],
  ])('because it may not be used, %s, is not contacted', async (proxy, addresses) => {
    const [isProxy, target] = [resolvingTo(addresses), resolvingTo([PUBLIC])];
    const resolve: ResolveName = (name, ...rest) =>
      (name === 'proxy.example' ? isProxy : target)(name, ...rest);
    expect(await get('https://site.example/', { proxy, resolve })).toEqual({
      code: 'PROXY_NOT_ALLOWED',
      proxy: new URL(proxy).origin,
      reaches: ['metadata'],
      isUnreached: true,
    });
  });

  it('because its variable is invalid is never gone around', async () => {
    const fault = { code: 'PROXY_INVALID', variable: 'HTTPS_PROXY', reason: 'it is not a URL' } as const;
    const client = new HttpClient('https://site.example', {
      reaches: new Set(ANYWHERE),
      chosenBy: 'config',
      resolve: () => expect.unreachable(),
      outbound: { key: '', proxyResolves: true, findProxy: () => fault },
    });
    endLater(() => client.close());
    const outcome = await new Promise((resolve) => {
      const nothing = (): void => undefined;
      const request = { method: 'GET', path: '/', headers: [], body: undefined } as const;
      client.call(request, { start: nothing, data: nothing, end: nothing, error: resolve });
    });
    expect(outcome).toEqual(fault);
  });
});

/** A listener on loopback that handles each connection, as the URL of a proxy. */
async function listenRaw(handle: (socket: Socket) => void): Promise<string> {
  const listener = createListener((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => handle(socket));
    endLater(async () => {
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  endLater(() => new Promise((resolve) => listener.close(() => resolve())));
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

describe('requests of tools and those to issuers', () => {
  it('take the same way, and do not share connections of different ways', async () => {
    const site = await serveWeb((request, response) => response.end(`got ${request.url}`));
    const [first, second] = [await serveConnectProxy({ to: site }), await serveConnectProxy({ to: site })];
    const agent = openPinnedAgent({ resolve: resolvingTo([PUBLIC]) });
    endLater(() => agent.close());
    const reaches = new Set(ANYWHERE);
    const ask = (proxy: ConnectProxy): Promise<unknown> =>
      agent.exchange({
        ...{ method: 'GET', url: new URL('http://site.example/x'), reaches, headers: [], body: undefined },
        ...{ maxBytes: 100, cancellation: Cancellation.following(AbortSignal.timeout(10_000)) },
        outbound: outboundOf({ proxy: at(proxy) }),
      });
    for (const proxy of [first, second, first])
      expect(await ask(proxy)).toMatchObject({ kind: 'answered', status: 200 });
    expect([first.targets, second.targets]).toEqual([[`${PUBLIC}:80`], [`${PUBLIC}:80`]]);
    expect(agent.isPublic('site.example')).toBe(true);
    const refusing = await serveConnectProxy({ status: 403 });
    expect(await ask(refusing)).toEqual({
      kind: 'failed',
      reason: `cannot be reached: the proxy ${at(refusing)} refused the connection with HTTP 403`,
    });
  });

  it('take the way that holds for their URL', async () => {
    const proxy = await serveConnectProxy({ to: await serveSite() });
    const refusing = await serveConnectProxy({ status: 407 });
    const reaches = new Set(ANYWHERE);
    const fetching = openCarefulFetch({
      ...{ reachesFor: () => reaches, remedy: () => '', allowsPlainLoopback: false },
      ...{ limitMs: 10_000, limitBytes: 1_000, resolve: resolvingTo([PUBLIC]) },
      outboundFor: ({ hostname }) =>
        outboundOf({ proxy: hostname === 'site.example' ? at(proxy) : at(refusing, 'user:password@') }),
    });
    endLater(() => fetching.close());
    expect(await (await fetching.fetch('https://site.example/')).text()).toBe('site got site.example');
    await expect(fetching.fetch('https://issuer.example/?key=secret')).rejects.toThrow(
      `"https://issuer.example/" cannot be reached: the proxy ${at(refusing)} answers HTTP 407, so its credentials are missing or wrong`,
    );
  });
});

import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guardCallback } from './guarded.ts';

/** A local URL to which the browser returns at the end of a sign-in (RFC 8252, section 7.3). */
export interface OpenRedirect {
  readonly url: string;
  /** Resolves with the query of the first request that has the right `state`. */
  readonly answer: Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** A browser that keeps its connection open must not keep the program running. */
const IDLE_MS = 5_000;

/** The wanted address, which is used exactly as it is written or, otherwise, with any free port. */
export interface RedirectRequest {
  readonly state: string;
  /** An `exact` one that is not on this machine is not listened on: its answer comes by other means. */
  readonly wanted?: { readonly url: string; readonly isExact: boolean } | undefined;
  /** The path, if there is no wanted address. */
  readonly path?: string | undefined;
}

/** Rejects if an exact address is taken: another port would be refused by the authorization server. */
export async function openRedirect({
  wanted,
  state,
  path = '/callback',
}: RedirectRequest): Promise<OpenRedirect> {
  const answer = Promise.withResolvers<URLSearchParams>();
  const url = URL.parse(wanted?.url ?? '');
  const expected = { path: url?.pathname ?? path, state };
  let isUsed = false;
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    const query = isUsed ? undefined : answerOf(request, expected);
    say(response, query);
    if (query === undefined) return;
    isUsed = true;
    answer.resolve(query);
  };
  const open = (): Server =>
    createServer({ keepAliveTimeout: IDLE_MS, headersTimeout: IDLE_MS }, (request, response) =>
      guardCallback({ name: 'browser', end: () => void response.destroy() }, receive)(request, response),
    );
  const servers =
    wanted?.isExact === true ? await listenExactly(wanted.url, open) : [await listenAnywhere(url, open)];
  const [first] = servers;
  return {
    url:
      wanted?.isExact === true
        ? wanted.url
        : `http://127.0.0.1:${(first?.address() as AddressInfo).port}${expected.path}`, // listening on a TCP port
    answer: answer.promise,
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 100).unref();
  });
}

async function listenAnywhere(url: URL | null, open: () => Server): Promise<Server> {
  const server = open();
  if ((await listens(server, Number(url?.port ?? 0))) || (await listens(server, 0))) return server;
  throw new Error('No port of this machine can be listened on.');
}

/** Browsers may resolve `localhost` to either address. */
const ADDRESSES: ReadonlyMap<string, readonly string[]> = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['[::1]', ['::1']],
]);

async function listenExactly(text: string, open: () => Server): Promise<readonly Server[]> {
  const { protocol, hostname, port } = new URL(text);
  const isHere = protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  if (!isHere) return [];
  const servers: Server[] = [];
  for (const address of ADDRESSES.get(hostname) ?? [hostname]) {
    const server = open();
    if (await listens(server, Number(port === '' ? 80 : port), address)) servers.push(server);
    // A machine without IPv6 still has the first address.
    else if (servers.length === 0)
      throw new Error(`the address ${JSON.stringify(text)} cannot be listened on: is its port in use?`);
  }
  return servers;
}

function listens(server: Server, port: number, address = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const failed = (): void => resolve(false);
    server.once('error', failed);
    server.listen(port, address, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

/** Undefined for any other request: without the state, it does not belong to this sign-in. */
function answerOf(
  { method, url = '' }: IncomingMessage,
  { path, state }: { readonly path: string; readonly state: string },
): URLSearchParams | undefined {
  const parsed = URL.parse(url, 'http://127.0.0.1');
  if (method !== 'GET' || parsed?.pathname !== path) return undefined;
  const given = Buffer.from(parsed.searchParams.get('state') ?? '');
  const right = Buffer.from(state);
  return given.length === right.length && timingSafeEqual(given, right) ? parsed.searchParams : undefined;
}

function say(response: ServerResponse, query: URLSearchParams | undefined): void {
  const text =
    query === undefined
      ? 'This does not answer a sign-in that is under way.'
      : query.has('code')
        ? 'Signed in. Assay goes on in the terminal; this page can be closed.'
        : 'The sign-in was refused. Assay tells why in the terminal; this page can be closed.';
  response.writeHead(query === undefined ? 400 : 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>Assay</title><p>${text}</p></html>`);
}

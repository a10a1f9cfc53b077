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

const PATH = '/callback';
/** A browser that keeps its connection open must not keep the program running. */
const IDLE_MS = 5_000;

/** Listens on the port of the wanted address, or on a free port if there is none or it is taken. */
export async function openRedirect({
  wanted,
  state,
}: {
  readonly wanted: string | undefined;
  readonly state: string;
}): Promise<OpenRedirect> {
  const answer = Promise.withResolvers<URLSearchParams>();
  let isUsed = false;
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    const query = isUsed ? undefined : answerOf(request, state);
    say(response, query);
    if (query === undefined) return;
    isUsed = true;
    answer.resolve(query);
  };
  const server = createServer({ keepAliveTimeout: IDLE_MS, headersTimeout: IDLE_MS }, (request, response) =>
    guardCallback({ name: 'browser', end: () => void response.destroy() }, receive)(request, response),
  );
  const port = Number(URL.parse(wanted ?? '')?.port ?? 0);
  if (!(await listens(server, port)) && !(await listens(server, 0)))
    throw new Error('No port of this machine can be listened on.');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`, // listening on a TCP port
    answer: answer.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 100).unref();
      }),
  };
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const failed = (): void => resolve(false);
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

/** Undefined for any other request: without the state, it does not belong to this sign-in. */
function answerOf({ method, url = '' }: IncomingMessage, state: string): URLSearchParams | undefined {
  const parsed = URL.parse(url, 'http://127.0.0.1');
  if (method !== 'GET' || parsed?.pathname !== PATH) return undefined;
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

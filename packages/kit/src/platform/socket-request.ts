import type { ClientRequest, IncomingMessage } from 'node:http';
import { getErrorCode } from './file-error.ts';

export interface SocketRequest {
  /** A path, or the name of a pipe on Windows. */
  readonly socket: string;
  readonly method: string;
  readonly target: string;
  /** Sent as JSON unless undefined. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export type SocketAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string; readonly etag?: string }
  /** `isSent`: the request may have been carried out. */
  | { readonly kind: 'failed'; readonly error: string; readonly isSent: boolean };

/** Longer responses are refused. Servers may send at most 64 MiB. */
const MAX_BYTES = 80 * 1024 * 1024;

/** Without it, Node compiles its patterns of IP addresses to find a name for TLS, which takes 20 ms. */
const NO_SERVER_NAME = { servername: '' };

/** There was no connection, so nothing was sent. */
const UNREACHED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT', 'EACCES', 'ENOTSOCK']);

/** Sends one HTTP request to a process of this user over its socket. `onText` receives a response with status 200 as it
 * arrives. */
export function sendOverSocket(
  { socket, method, target, body, headers, signal }: SocketRequest,
  onText?: (text: string) => Promise<void>,
): Promise<SocketAnswer> {
  // Importing node:http loads all of Node's bundled undici, for its re-exported classes.
  const { request } = process.getBuiltinModule('node:http');
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve) => {
    const fail = (error: unknown): void =>
      resolve({ kind: 'failed', error: getErrorCode(error), isSent: !UNREACHED.has(getErrorCode(error)) });
    const sent: ClientRequest = request({
      socketPath: socket,
      method,
      path: target,
      agent: false,
      ...NO_SERVER_NAME,
      ...(signal && { signal }),
      headers: {
        ...headers,
        host: 'localhost',
        ...(bytes && { 'content-type': 'application/json', 'content-length': bytes.length }),
      },
    });
    sent.once('error', fail);
    sent.once('response', (response) => {
      read(response, onText).then((text) => {
        const { etag } = response.headers;
        resolve({ kind: 'answered', status: response.statusCode ?? 0, text, ...(etag && { etag }) });
      }, fail);
    });
    sent.end(bytes);
  });
}

async function read(response: IncomingMessage, onText?: (text: string) => Promise<void>): Promise<string> {
  response.setEncoding('utf8');
  const isStreamed = onText !== undefined && response.statusCode === 200;
  let text = '';
  for await (const chunk of response as AsyncIterable<string>) {
    if (isStreamed) await onText(chunk);
    else text += chunk;
    if (text.length > MAX_BYTES) throw new Error('the response is too large');
  }
  return text;
}

import type { IncomingHttpHeaders } from 'node:http';
import { bodyOf, serveWeb } from './web-server.ts';

/** A request as received. */
export interface Seen {
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface EchoWeb {
  readonly url: string;
  /** Requests since the last call. */
  taken(): readonly Seen[];
}

/** A web server that records requests and answers with JSON. */
export async function echoWeb(answer: unknown = { done: true }, status = 200): Promise<EchoWeb> {
  let seen: Seen[] = [];
  const port = await serveWeb((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(status === 204 ? undefined : JSON.stringify(answer));
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    taken: () => {
      const all = seen;
      seen = [];
      return all;
    },
  };
}

// The ceiling: a plain reverse proxy that knows nothing of MCP. node ceiling.ts URL
import type { IncomingHttpHeaders } from 'node:http';
import { Pool } from 'undici';
import { listen } from './listen.ts';

const HOP_BY_HOP = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const upstream = new URL(process.argv[2] ?? '');
const pool = new Pool(upstream.origin, { headersTimeout: 0, bodyTimeout: 0 });

listen((request, response) => {
  pool
    .stream(
      {
        path: request.url ?? '/',
        method: 'POST',
        headers: endToEnd(request.headers),
        body: request,
      },
      ({ statusCode, headers }) => response.writeHead(statusCode, endToEnd(headers)),
    )
    .catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
});

function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !HOP_BY_HOP.has(name)) kept[name] = value;
  }
  return kept;
}

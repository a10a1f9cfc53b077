// The ceiling: a plain reverse proxy without any MCP support. node ceiling.ts URL
import { Pool } from 'undici';
import { endToEnd } from './end-to-end.ts';
import { listen } from './listen.ts';

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

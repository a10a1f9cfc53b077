// A load balancer with the behaviour of nginx's defaults: round robin, a new connection per request, request bodies read
// before they are sent, responses unbuffered (as streams need). If a replica refuses the connection, the next one is tried;
// once a request was sent, it is sent again only if it is no POST and no byte of the response has come.
import { writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../processes.ts';
import type { Place } from '../../targets.ts';
import { prepareNginx } from '../../nginx.ts';

export interface Balancer {
  readonly origin: string;
  readonly close: () => void;
}

/** Headers that belong to one connection. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade'];

export async function startRoundRobin(ports: readonly number[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn = (turn + 1) % ports.length;
    const inTurn = [...ports.slice(turn), ...ports.slice(0, turn)];
    void readBody(incoming).then(
      (body) => relay({ incoming, outgoing, body }, inTurn),
      () => outgoing.destroy(),
    );
  });
  // Streams are quiet for minutes.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly body: Buffer;
}

function relay(exchange: Exchange, [port, ...others]: readonly number[]): void {
  const { incoming, outgoing, body } = exchange;
  if (outgoing.destroyed) return;
  if (port === undefined) {
    outgoing.writeHead(502).end('no replica accepts connections; the request was not sent');
    return;
  }
  let isConnected = false;
  const { method, url: path } = incoming;
  const headers = { ...withoutConnection(incoming.headers), 'content-length': body.length };
  const upstream = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, withoutConnection(response.headers));
    outgoing.flushHeaders();
    response.on('error', () => outgoing.destroy());
    response.pipe(outgoing);
  });
  upstream.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
  upstream.on('error', () => {
    if (!isConnected || (method !== 'POST' && !outgoing.headersSent)) relay(exchange, others);
    else if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end('the connection to the replica was lost');
  });
  outgoing.on('close', () => upstream.destroy());
  upstream.end(body);
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function withoutConnection(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)));
}

/** Debian's nginx as in `deploy/nginx`, without TLS. */
export async function startNginx(place: Place, ports: readonly number[]): Promise<Balancer> {
  const port = String(await freePort());
  const folder = join(place.scratch, 'balancer');
  const { config, start } = prepareNginx(folder);
  const servers = ports.map((one) => `server 127.0.0.1:${String(one)} max_fails=0;`).join(' ');
  writeFileSync(
    config,
    `${start}
  upstream replicas { ${servers} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`,
  );
  const running = place.command('nginx', ['-e', 'stderr', '-p', folder, '-c', config]);
  return { origin: `http://127.0.0.1:${port}`, close: running.end };
}

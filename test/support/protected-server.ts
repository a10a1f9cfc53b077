import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endLater } from './endings.ts';
import type { Issuer } from './issuer.ts';
import { at, parseJson, type Json, type JsonObject } from './json.ts';

export interface ProtectedOptions {
  readonly issuer: Pick<Issuer, 'look' | 'url'>;
  /** Overrides the content of its resource metadata. */
  readonly metadata?: (own: string) => JsonObject;
  /** Redirects metadata requests to this address. */
  readonly redirectsTo?: string;
  /** The location that it claims for its metadata. */
  readonly metadataUrl?: string;
  readonly port?: number;
}

/** An MCP server (2025-11-25) that requires a token of its issuer. */
export interface ProtectedServer {
  readonly url: string;
  readonly port: number;
  /** The Authorization headers of its MCP requests, '' for none. */
  readonly authorizations: readonly string[];
  /** The status of each response. */
  readonly statuses: readonly number[];
}

/** The tool `write` requires `tools:write`, everything else `tools:read`. */
export async function startProtected(options: ProtectedOptions): Promise<ProtectedServer> {
  const authorizations: string[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    response.on('finish', () => {
      if (request.url === '/mcp') statuses.push(response.statusCode);
    });
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true)
      sendMetadata(response, { ...options, own: url });
    else if (request.url === '/mcp') {
      authorizations.push(request.headers.authorization ?? '');
      void bodyOf(request).then((body) => serve(request, response, { ...options, body, own: url }));
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  endLater(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url: `${url}/mcp`, port, authorizations, statuses };
}

interface Serving extends ProtectedOptions {
  readonly own: string;
}

function sendMetadata(response: ServerResponse, { issuer, metadata, redirectsTo, own }: Serving): void {
  if (redirectsTo !== undefined) {
    response.writeHead(302, { location: redirectsTo }).end();
    return;
  }
  const body = metadata?.(own) ?? {
    resource: `${own}/mcp`,
    authorization_servers: [issuer.url],
    scopes_supported: ['tools:read'],
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { issuer, own, body, metadataUrl }: Serving & { readonly body: string },
): Promise<void> {
  const place = metadataUrl ?? `${own}/.well-known/oauth-protected-resource/mcp`;
  const refuse = (status: number, challenge: string): void => {
    response
      .writeHead(status, {
        'www-authenticate': `Bearer resource_metadata="${place}", ${challenge}`,
        'content-type': 'application/json',
      })
      .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"not authorized"}}');
  };
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const found = token === undefined ? undefined : await issuer.look(token);
  if (found?.audience !== `${own}/mcp`) {
    refuse(401, token === undefined ? 'scope="tools:read"' : 'error="invalid_token"');
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const message = parseJson(body);
  const tool = at(message, 'params', 'name');
  if (tool === 'write' && !found.scope.includes('tools:write')) {
    refuse(403, 'error="insufficient_scope", scope="tools:write"');
    return;
  }
  const id = at(message, 'id');
  const result = resultOf(message);
  if (id === undefined) response.writeHead(202).end();
  else
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(result === undefined ? unknown(id) : { jsonrpc: '2.0', id, result }));
}

function unknown(id: Json): JsonObject {
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

function resultOf(message: Json): JsonObject | undefined {
  const inputSchema = { type: 'object' };
  switch (at(message, 'method')) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'protected', version: '1' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: ['read', 'write'].map((name) => ({ name, inputSchema })) };
    case 'tools/call':
      return { content: [{ type: 'text', text: `done: ${String(at(message, 'params', 'name'))}` }] };
    default:
      return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

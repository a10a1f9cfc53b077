import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { bodyOf, listen, type FakeIssuer } from './fake-issuer.ts';
import { at, parseJson, type Json, type JsonObject } from './json.ts';

/** The oddities of real MCP servers that need a sign-in. */
export interface GuardedOptions {
  readonly issuer: Pick<FakeIssuer, 'url' | 'look'>;
  /** Which requests need a token: all, or `tools/call` only. */
  readonly guards?: 'all' | 'calls';
  /** Tools that need none. */
  readonly openTools?: readonly string[];
  /** Where its metadata is: at the address with its path, at the root, at one for each tool, or nowhere. */
  readonly metadata?: 'path' | 'root' | 'per_tool' | 'none';
  /** What the other well-known addresses answer. */
  readonly otherAddresses?: 404 | 'html';
  /** Whether its challenge names its metadata. */
  readonly namesMetadata?: boolean;
  /** Appended to the issuer's URL in its metadata. */
  readonly issuerSuffix?: string;
  readonly authorizationServers?: readonly string[];
  /** The resource of its metadata; by default its own URL. */
  readonly resource?: string;
  /** Undefined: its metadata lists none. */
  readonly scopes?: readonly string[];
  /** The scopes that tools need beyond a valid token. */
  readonly toolScopes?: Readonly<Record<string, string>>;
  /** Serves with TLS. */
  readonly secure?: ServerOptions;
}

/** A stateless MCP server of 2025-11-25. */
export interface GuardedServer {
  readonly url: string;
  /** Paths of all requests to addresses other than its endpoint. */
  readonly lookups: readonly string[];
  /** Its MCP requests: method, status, and whether a token came with it. */
  readonly requests: readonly {
    readonly method: string;
    readonly status: number;
    readonly hasToken: boolean;
  }[];
}

export const TOOLS: readonly string[] = ['read', 'write', 'admin'];

export async function startGuarded(options: GuardedOptions): Promise<GuardedServer> {
  const lookups: string[] = [];
  const requests: { method: string; status: number; hasToken: boolean }[] = [];
  const origin = await listen((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== '/mcp') {
      lookups.push(pathname);
      sendMetadata(response, pathname, { ...options, own: origin });
      return;
    }
    void bodyOf(request).then((body) => {
      const message = body === '' ? null : parseJson(body);
      response.on('finish', () =>
        requests.push({
          method: String(at(message, 'method') ?? request.method),
          status: response.statusCode,
          hasToken: request.headers.authorization !== undefined,
        }),
      );
      serve(request, response, message, { ...options, own: origin });
    });
  }, options.secure);
  return { url: `${origin}/mcp`, lookups, requests };
}

interface Serving extends GuardedOptions {
  readonly own: string;
}

const METADATA = '/.well-known/oauth-protected-resource';

function isMetadata(path: string, metadata: GuardedOptions['metadata']): boolean {
  switch (metadata) {
    case 'none':
      return false;
    case 'root':
      return path === METADATA;
    case 'per_tool':
      return path.startsWith(`${METADATA}/mcp/`);
    default:
      return path === `${METADATA}/mcp`;
  }
}

function sendMetadata(response: ServerResponse, path: string, options: Serving): void {
  const {
    own,
    metadata,
    issuer,
    issuerSuffix = '',
    resource = `${own}/mcp`,
    scopes,
    otherAddresses,
  } = options;
  if (isMetadata(path, metadata)) {
    const body = {
      resource,
      authorization_servers: options.authorizationServers ?? [issuer.url + issuerSuffix],
      ...(scopes && { scopes_supported: scopes }),
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  } else if (otherAddresses === 'html')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Welcome');
  else response.writeHead(404).end();
}

function serve(request: IncomingMessage, response: ServerResponse, message: Json, options: Serving): void {
  const { issuer, guards = 'all', openTools = [], toolScopes = {} } = options;
  const name = at(message, 'params', 'name');
  const tool = typeof name === 'string' ? name : '';
  const isCall = at(message, 'method') === 'tools/call';
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const found = token === undefined ? undefined : issuer.look(token);
  const isGuarded = guards === 'all' ? true : isCall && !openTools.includes(tool);
  if (found === undefined && (isGuarded || token !== undefined)) {
    refuse(response, 401, challengeOf(options, tool, token !== undefined));
    return;
  }
  const scope = isCall ? toolScopes[tool] : undefined;
  if (scope !== undefined && found?.scope.includes(scope) !== true) {
    refuse(response, 403, `Bearer error="insufficient_scope", scope="${scope}"`);
    return;
  }
  answer(response, message, tool);
}

function challengeOf(
  { own, metadata, namesMetadata = true }: Serving,
  tool: string,
  isWrong: boolean,
): string {
  const path = metadata === 'per_tool' ? `/mcp/${tool}` : metadata === 'root' ? '' : '/mcp';
  const parameters = [
    ...(isWrong ? ['error="invalid_token"'] : []),
    ...(namesMetadata && metadata !== 'none' ? [`resource_metadata="${own}${METADATA}${path}"`] : []),
  ];
  return ['Bearer', parameters.join(', ')].filter((part) => part !== '').join(' ');
}

function refuse(response: ServerResponse, status: number, challenge: string): void {
  response
    .writeHead(status, { 'www-authenticate': challenge, 'content-type': 'application/json' })
    .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"not authorized"}}');
}

function answer(response: ServerResponse, message: Json, tool: string): void {
  const id = at(message, 'id');
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const result = resultOf(message, tool);
  const body =
    result === undefined
      ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
      : { jsonrpc: '2.0', id, result };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function resultOf(message: Json, tool: string): JsonObject | undefined {
  switch (at(message, 'method')) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '1' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })) };
    case 'tools/call':
      return { content: [{ type: 'text', text: `done: ${tool}` }] };
    default:
      return undefined;
  }
}

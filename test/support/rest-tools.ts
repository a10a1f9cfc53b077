import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { adminClient, type AdminClient } from './admin.ts';
import type { Gateway } from './assay.ts';
import { startGateway, type GatewayOptions } from './gateway.ts';
import { at, listAt, textAt, type Json, type JsonObject } from './json.ts';
import { modernAsk } from './modern.ts';
import { tempDir } from './paths.ts';
import { keepToken } from './tokens.ts';
import { bodyOf, serveWeb } from './web-server.ts';

/** One request as a web API received it. */
export interface Seen {
  readonly method: string;
  /** Path and query, as received. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A loopback web API that records its requests. */
export interface WebApi {
  readonly url: string;
  readonly seen: Seen[];
  /** Requests whose connection ended before they were answered. */
  readonly left: Seen[];
}

/** Answers each request with `answer`, or with `{"ok":true}` by default. */
export async function serveApi(
  answer: (seen: Seen, response: ServerResponse) => void = (_, response) => sayJson(response, { ok: true }),
): Promise<WebApi> {
  const seen: Seen[] = [];
  const left: Seen[] = [];
  const port = await serveWeb((request, response) => {
    void bodyOf(request)
      .catch(() => '')
      .then((body) => {
        const one = {
          method: request.method ?? '',
          target: request.url ?? '',
          headers: request.headers,
          body,
        };
        seen.push(one);
        response.on('close', () => {
          if (!response.writableFinished) left.push(one);
        });
        answer(one, response);
      });
  });
  return { url: `http://127.0.0.1:${port}`, seen, left };
}

export function sayJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** An Assay that may send requests to this machine, and its admin client. */
export interface RestWorld {
  readonly assay: Gateway;
  readonly admin: AdminClient;
  readonly home: string;
  /** The admin's token. */
  readonly token: string;
}

export function openRestWorld(options?: GatewayOptions): Promise<RestWorld> {
  return startRestWorld(startGateway, options);
}

export async function startRestWorld<T extends Gateway>(
  start: (options: GatewayOptions) => Promise<T>,
  options: GatewayOptions = {},
): Promise<RestWorld & { readonly assay: T }> {
  const home = options.home ?? tempDir();
  const token = await keepToken(home, `boss-${Date.now()}`, {
    scopes: ['admin'],
    databaseUrl: options.env?.['ASSAY_DATABASE_URL'],
  });
  const env = { ASSAY_HTTP_ALLOW_LOOPBACK: 'true', ...options.env };
  const assay = await start({ ...options, home, env });
  await assay.settled();
  return { assay, admin: adminClient(assay, token), home, token };
}

/** The first text of a call's result, prefixed with `error: ` if the tool reports an error. */
export async function callText(
  { url }: Pick<Gateway, 'url'>,
  name: string,
  args: JsonObject = {},
): Promise<string> {
  const answer = await modernAsk(url, 'tools/call', { params: { name, arguments: args } });
  const refused = at(answer, 'error', 'message');
  if (refused !== undefined) return `refused: ${String(refused)}`;
  const text = textAt(answer, 'result', 'content', 0, 'text');
  return at(answer, 'result', 'isError') === true ? `error: ${text}` : text;
}

/** A tool as listed to clients. */
export async function listedTool(url: string, name: string): Promise<Json | undefined> {
  const tools = listAt(await modernAsk(url, 'tools/list'), 'result', 'tools');
  return tools.find((tool) => at(tool, 'name') === name);
}

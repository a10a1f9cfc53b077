import { openStream, send, type Answer, type Headers, type Stream } from './http.ts';
import type { Json, JsonObject } from './json.ts';
import { BOTH, messageOf, textOf } from './legacy.ts';

export const MODERN = '2026-07-28';
export const META = 'io.modelcontextprotocol/';

/** The envelope that every modern request carries. */
export function envelope(more: JsonObject = {}): JsonObject {
  return {
    [`${META}protocolVersion`]: MODERN,
    [`${META}clientInfo`]: { name: 'test', version: '1' },
    [`${META}clientCapabilities`]: {},
    ...more,
  };
}

export interface ModernAsk {
  readonly id?: Json;
  readonly params?: JsonObject;
  /** More members of `_meta`. */
  readonly meta?: JsonObject;
  readonly headers?: Headers;
}

export function modernBody(method: string, ask: ModernAsk = {}): string {
  const params = {
    ...ask.params,
    _meta: { ...(ask.params?.['_meta'] as JsonObject | undefined), ...envelope(ask.meta) },
  };
  return JSON.stringify({ jsonrpc: '2.0', id: ask.id ?? 1, method, params });
}

/** The headers that mirror a request, as the specification requires. */
export function modernHeaders(method: string, params: JsonObject = {}): Headers {
  const name = method === 'resources/read' ? params['uri'] : params['name'];
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method);
  return {
    'content-type': 'application/json',
    accept: BOTH,
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(isNamed && typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
}

export function modernSend(url: string, method: string, ask: ModernAsk = {}): Promise<Answer> {
  return send(url, {
    headers: { ...modernHeaders(method, ask.params), ...ask.headers },
    body: modernBody(method, ask),
  });
}

export async function modernAsk(url: string, method: string, ask: ModernAsk = {}): Promise<Json> {
  return messageOf(await modernSend(url, method, ask));
}

/** Calls a tool; returns the text of its first content block. */
export async function modernCall(url: string, name: string, args: JsonObject = {}): Promise<string> {
  return textOf(await modernAsk(url, 'tools/call', { params: { name, arguments: args } }));
}

export function modernStream(url: string, method: string, ask: ModernAsk = {}): Promise<Stream> {
  return openStream(url, {
    headers: { ...modernHeaders(method, ask.params), ...ask.headers },
    body: modernBody(method, ask),
  });
}

import { messagesIn, openStream, send, type Answer, type Headers, type Stream } from './http.ts';
import { at, textAt, type Json, type JsonObject } from './json.ts';

export const BOTH = 'application/json, text/event-stream';

export interface LegacyOptions {
  readonly version?: string;
  readonly capabilities?: JsonObject;
  readonly headers?: Headers;
}

/** A hand-written session of a legacy client. */
export interface LegacySession {
  readonly id: string;
  readonly initialized: Json;
  readonly headers: Headers;
  /** Sends a body unchanged. */
  post(body: string, headers?: Headers): Promise<Answer>;
  /** Sends a request and returns the response message, from JSON or from the stream. */
  ask(method: string, params?: JsonObject): Promise<Json>;
  notify(method: string, params?: JsonObject): Promise<Answer>;
  /** Calls a tool; returns the text of its first content block. */
  call(name: string, args?: JsonObject): Promise<string>;
  /** Sends a request and reads its answer as a stream. */
  stream(method: string, params: JsonObject, id?: Json): Promise<Stream>;
  /** Opens the GET stream. */
  listen(): Promise<Stream>;
  /** Resumes a stream after the event with this id. */
  resume(lastEventId: string): Promise<Stream>;
  end(): Promise<Answer>;
}

export async function openSession(url: string, options: LegacyOptions = {}): Promise<LegacySession> {
  const version = options.version ?? '2025-11-25';
  const first = await send(url, {
    headers: { 'content-type': 'application/json', accept: BOTH, ...options.headers },
    body: initializeOf(version, options.capabilities),
  });
  if (first.status !== 200) throw new Error(`initialize: ${first.status} ${first.text}`);
  const id = String(first.headers['mcp-session-id']);
  const initialized = messageOf(first);
  const headers: Headers = {
    'content-type': 'application/json',
    accept: BOTH,
    'mcp-session-id': id,
    ...(version < '2025-06-18'
      ? {}
      : { 'mcp-protocol-version': textAt(initialized, 'result', 'protocolVersion') }),
    ...options.headers,
  };
  let lastId = 1;
  const post = (body: string, more: Headers = {}): Promise<Answer> =>
    send(url, { headers: { ...headers, ...more }, body });
  const session: LegacySession = {
    id,
    initialized,
    headers,
    post,
    ask: async (method, params = {}) =>
      messageOf(await post(JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params }))),
    notify: (method, params = {}) => post(JSON.stringify({ jsonrpc: '2.0', method, params })),
    call: async (name, args = {}) => textOf(await session.ask('tools/call', { name, arguments: args })),
    stream: (method, params, requestId) =>
      openStream(url, {
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id: requestId ?? ++lastId, method, params }),
      }),
    listen: () => openStream(url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } }),
    resume: (lastEventId) =>
      openStream(url, {
        method: 'GET',
        headers: { ...headers, accept: 'text/event-stream', 'last-event-id': lastEventId },
      }),
    end: () => send(url, { method: 'DELETE', headers }),
  };
  await session.notify('notifications/initialized');
  return session;
}

export function initializeOf(version: string, capabilities: JsonObject = {}, id: Json = 1): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } },
  });
}

/** The response message in a body, which is JSON or a stream. */
export function messageOf(answer: Answer): Json {
  if (answer.type !== 'text/event-stream') return answer.json();
  const last = messagesIn(answer.text).find((one) => at(one, 'method') === undefined);
  if (last === undefined) throw new Error(`No response on the stream: ${answer.text}`);
  return last;
}

/** The text of the first content block of a call's response; throws if there is none. */
export function textOf(response: Json): string {
  const text = at(response, 'result', 'content', 0, 'text');
  if (typeof text !== 'string') throw new Error(`No text in ${JSON.stringify(response)}`);
  return text;
}

import type { Stream } from './http.ts';
import { at, textAt, type Json, type JsonObject } from './json.ts';
import { openSession, type LegacyOptions, type LegacySession } from './legacy.ts';
import { META, modernAsk, modernSend } from './modern.ts';
import type { Headers } from './http.ts';

/** A form elicitation, as servers send it. */
export function formOf(message: string): JsonObject {
  return {
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties: {} } },
  };
}

export const CAN: JsonObject = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

export function openAskable(url: string, options: LegacyOptions = {}): Promise<LegacySession> {
  return openSession(url, { capabilities: CAN, ...options });
}

/** Starts a call and waits until its stream carries a server request. */
export async function untilAsked(
  session: LegacySession,
  name: string,
  args: JsonObject,
  id: Json = 7,
): Promise<{ readonly stream: Stream; readonly question: Json }> {
  const stream = await session.stream('tools/call', { name, arguments: args }, id);
  const question = await stream.next('a question', (one) => at(one, 'method') === 'elicitation/create');
  return { stream, question };
}

/** Answers a server request by hand; `outcome` is its `result` or its `error` member. */
export async function reply(session: LegacySession, question: Json, outcome: JsonObject): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: at(question, 'id') ?? null, ...outcome });
  return (await session.post(body)).status;
}

/** The response on the stream of a call. */
export function responseOn(stream: Stream): Promise<Json> {
  return stream.next('the response', (one) => at(one, 'method') === undefined, 15_000);
}

export interface Step {
  readonly name: string;
  readonly args: JsonObject;
  readonly headers?: Headers;
  readonly capabilities?: JsonObject;
  /** Server requests' responses and state from an earlier step. */
  readonly retry?: { readonly responses?: JsonObject; readonly state: Json };
  readonly method?: string;
}

/** One request of a modern client that accepts server requests. */
export function modernStep(url: string, step: Step): Promise<Json> {
  return modernAsk(url, step.method ?? 'tools/call', askOf(step));
}

export async function modernStatus(url: string, step: Step): Promise<number> {
  return (await modernSend(url, step.method ?? 'tools/call', askOf(step))).status;
}

function askOf({ name, args, headers, capabilities = CAN, retry, method }: Step): {
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly headers: Headers;
} {
  const named: JsonObject = method === 'resources/read' ? { uri: name } : { name, arguments: args };
  const brought: JsonObject =
    retry === undefined ? {} : { inputResponses: retry.responses ?? {}, requestState: retry.state };
  return {
    params: { ...named, ...brought },
    meta: { [`${META}clientCapabilities`]: capabilities },
    headers: headers ?? {},
  };
}

/** The server requests in a result, by key, and the state to send back. */
export function askedIn(message: Json): { readonly requests: JsonObject; readonly state: string } {
  if (at(message, 'result', 'resultType') !== 'input_required')
    throw new Error(`It asks for nothing: ${JSON.stringify(message)}`);
  const requests = at(message, 'result', 'inputRequests') ?? {};
  return { requests: requests as JsonObject, state: textAt(message, 'result', 'requestState') };
}

export function codeOf(message: Json): Json | undefined {
  return at(message, 'error', 'data', 'code');
}

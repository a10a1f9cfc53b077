import type { Cancellation } from '../core/cancellation.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { Era } from '../protocol/eras.ts';
import type { HeaderParameters } from '../protocol/header-parameters.ts';
import type { NotificationMessage, RequestMessage } from '../protocol/message.ts';
import { parameterFault, type HeaderLines } from '../protocol/parameter-values.ts';
import { memberOf, textOf, type Member } from '../protocol/spans.ts';
import type { TraceContext } from '../protocol/trace-context.ts';
import { asksForInput, nameOf } from '../protocol/translate.ts';
import { LIST_KINDS, LISTS } from './inventory.ts';
import type { Entry } from './listing.ts';
import type { Ask, ListKind, Reply } from './ports.ts';
import type { Server } from './server.ts';
import type { View } from './view.ts';
import { maskedRefusal, newTraceFor, watch } from './watch.ts';

/** One request on its way through the gateway, with what is known of who asks. */
export interface Exchange {
  readonly view: View;
  readonly message: RequestMessage;
  readonly era: Era;
  /** The revision that a legacy client negotiated. */
  readonly version?: string | undefined;
  /** Whose request it is. */
  readonly subject: string;
  /** JSON text of the client's name and version, where the message does not carry it. */
  readonly clientInfo: string | undefined;
  /** Cancelled when the client wants no answer any more. */
  readonly cancellation: Cancellation;
  /** Whether the answer is only handed on, unread. */
  readonly isRelayed: boolean;
  /** The headers with which the request came, where they must repeat what it says. */
  readonly headerLines?: (() => HeaderLines) | undefined;
  /** What of the arguments headers repeat; known with the tool. */
  readonly parameters?: HeaderParameters | undefined;
  /** Of the span that watches it. */
  readonly trace?: TraceContext | undefined;
  /** Says something to the client before the result: progress and log messages of this request. */
  notify(note: NotificationMessage, bytes: Buffer): void;
}

export type Answer =
  | { readonly kind: 'relayed'; readonly reply: Reply }
  /** JSON text of a result of our own. */
  | { readonly kind: 'own'; readonly result: Buffer }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

type Handler = (exchange: Exchange) => Promise<Answer>;

/** Answers the requests that are about what servers offer. What is about the connection is the door's. */
export function answer(exchange: Exchange): Promise<Answer> {
  const handler = HANDLERS.get(exchange.message.method);
  const { method } = exchange.message;
  return handler === undefined
    ? Promise.resolve(refused({ code: 'METHOD_UNKNOWN', method }))
    : handler(exchange);
}

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...LIST_KINDS.map((kind): [string, Handler] => [LISTS[kind].method, (exchange) => list(exchange, kind)]),
  ['tools/call', (exchange) => named(exchange, (name) => exchange.view.tool(name))],
  ['prompts/get', (exchange) => named(exchange, (name) => exchange.view.prompt(name))],
  ['resources/read', readResource],
  ['completion/complete', complete],
]);

async function list({ view, message, era }: Exchange, kind: ListKind): Promise<Answer> {
  const member = memberOf(message.params, 'cursor');
  const cursor = textOf(message.bytes, member);
  if (member !== undefined && cursor === undefined) return wrong('params.cursor', 'it must be a string');
  const page = await view.page(kind, era, cursor);
  // What is not declared is not there (2026-07-28, server/discover); older clients ask all the same, and get an empty list.
  if (era === 'modern' && !view.has(LISTS[kind].capability))
    return refused({ code: 'METHOD_UNKNOWN', method: message.method });
  return page.ok ? { kind: 'own', result: page.value } : refused(page.error);
}

type Found = Result<Entry, Refusal>;

async function named(exchange: Exchange, find: (name: string) => Promise<Found>): Promise<Answer> {
  const { message } = exchange;
  const name = textOf(message.bytes, nameOf(message));
  if (name === undefined) return wrong('params.name', 'it must be a string');
  const entry = await find(name);
  if (!entry.ok) return refused(entry.error);
  const { server, key, name: own, definition } = entry.value;
  const { parameters } = definition;
  const asked = key === own ? undefined : own;
  if (parameters === undefined) return relayWatched(exchange, server, asked);
  const fault = exchange.headerLines && parameterFault(message, parameters, exchange.headerLines());
  return fault === undefined
    ? relayWatched({ ...exchange, parameters }, server, asked)
    : refused({ code: 'HEADER_MISMATCH', ...fault });
}

async function readResource(exchange: Exchange): Promise<Answer> {
  const { message } = exchange;
  const uri = textOf(message.bytes, memberOf(message.params, 'uri'));
  if (uri === undefined) return wrong('params.uri', 'it must be a string');
  const server = await exchange.view.resource(uri);
  return server.ok ? relayWatched(exchange, server.value, undefined) : refused(server.error);
}

async function complete(exchange: Exchange): Promise<Answer> {
  const { message, view } = exchange;
  const ref = memberOf(message.params, 'ref')?.object;
  const text = (member: Member | undefined): string | undefined => textOf(message.bytes, member);
  const uri = text(memberOf(ref, 'uri'));
  switch (text(memberOf(ref, 'type'))) {
    case 'ref/prompt':
      return named(exchange, (name) => view.prompt(name));
    case 'ref/resource': {
      if (uri === undefined) return wrong('params.ref.uri', 'it must be a string');
      const server = await view.template(uri);
      return server.ok ? relayWatched(exchange, server.value, undefined) : refused(server.error);
    }
    default:
      return wrong('params.ref.type', 'it must be "ref/prompt" or "ref/resource"');
  }
}

async function relayWatched(exchange: Exchange, server: Server, name: string | undefined): Promise<Answer> {
  const { telemetry } = exchange.view;
  if (telemetry === undefined) return relay(exchange, server, name);
  const { trace, end } = watch(telemetry, {
    server: server.spec.name,
    message: exchange.message,
    version: exchange.version,
  });
  let answered = refused({ code: 'INTERNAL' });
  try {
    answered = await relay(trace === undefined ? exchange : { ...exchange, trace }, server, name);
    if (answered.kind === 'refused') answered = refused(maskedRefusal(answered.refusal, telemetry.mask));
    return answered;
  } finally {
    end(answered);
  }
}

/** Hands the request to its server, when it is its turn, and the answer back, as it came. */
async function relay(exchange: Exchange, server: Server, name: string | undefined): Promise<Answer> {
  const { turnstile, spec } = server;
  const refusal = turnstile.enter()
    ? undefined
    : await turnstile.wait({
        bytes: exchange.message.bytes.length,
        timeoutMs: spec.timeoutMs,
        cancellation: exchange.cancellation,
      });
  if (refusal !== undefined) return refused(refusal);
  try {
    const reply = await askOf(exchange, server, name);
    if (!reply.ok) return refused(reply.error);
    if (exchange.era === 'legacy' && reply.value.era === 'modern' && asksForInput(reply.value.message))
      return refused({ code: 'SERVER_ASKS', server: spec.name });
    return { kind: 'relayed', reply: reply.value };
  } finally {
    turnstile.leave();
  }
}

/** What did not reach its server had no effect, so it is sent again, once, when the server is back. */
async function askOf(
  exchange: Exchange,
  server: Server,
  name: string | undefined,
): Promise<Result<Reply, Refusal>> {
  if (exchange.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  const ask: Ask = {
    message: exchange.message,
    era: exchange.era,
    name,
    parameters: exchange.parameters,
    trace: exchange.trace ?? newTraceFor(exchange.message, exchange.view.telemetry),
    clientInfo: exchange.clientInfo,
    timeoutMs: server.spec.timeoutMs,
    cancellation: exchange.cancellation,
    isRelayed: exchange.isRelayed,
    onNotification: (note, bytes) => exchange.notify(note, bytes),
  };
  const up = server.link;
  const link = up === undefined ? await server.whenUp(exchange.cancellation) : ok(up);
  if (!link.ok) return link;
  const reply = await link.value.ask(ask);
  if (reply.ok || reply.error.code !== 'SERVER_UNREACHED') return reply;
  const next = await server.whenUp(exchange.cancellation, link.value);
  return next.ok ? next.value.ask(ask) : next;
}

function refused(refusal: Refusal): Answer {
  return { kind: 'refused', refusal };
}

function wrong(field: string, reason: string): Answer {
  return refused({ code: 'PARAMS_INVALID', field, reason });
}

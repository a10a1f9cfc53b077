import type { Answer, Exchange } from './exchange.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import { memberOf, textOf, type Member } from '../../protocol/spans.ts';
import { parameterFault } from '../../protocol/parameter-values.ts';
import { nameOf } from '../../protocol/translate.ts';
import { LIST_KINDS, LISTS } from '../catalog/inventory.ts';
import type { Entry } from '../catalog/listing.ts';
import type { ListKind } from '../ports/link.ts';
import { relay } from './relay.ts';
import { subscribe, unsubscribe } from './resource-requests.ts';
import type { Server } from '../catalog/server.ts';
import { concernsTasks, relayTasks } from './task-relay.ts';
import { answerTask, TASK_METHODS } from './task-requests.ts';
import { maskedRefusal, watch } from './watch.ts';

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
  ['tools/call', callTool],
  ['prompts/get', (exchange) => named(exchange, (name) => exchange.view.prompt(name))],
  ['resources/read', readResource],
  ['resources/subscribe', subscribe],
  ['resources/unsubscribe', unsubscribe],
  ['completion/complete', complete],
  ...TASK_METHODS.map((method): [string, Handler] => [
    method,
    (exchange) => answerTask(exchange, relayWatched),
  ]),
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

async function callTool(exchange: Exchange): Promise<Answer> {
  const { view, message } = exchange;
  const name = view.hasConfigurationTools ? textOf(message.bytes, nameOf(message)) : undefined;
  const own = name === undefined ? undefined : view.configurationTool(name);
  return own === undefined
    ? named(exchange, (key) => view.tool(key))
    : { kind: 'own', result: await own.call(exchange) };
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
  if (parameters === undefined) return relayed(exchange, server, asked);
  const fault = exchange.headerLines && parameterFault(message, parameters, exchange.headerLines());
  return fault === undefined
    ? relayed({ ...exchange, parameters }, server, asked)
    : refused({ code: 'HEADER_MISMATCH', ...fault });
}

async function readResource(exchange: Exchange): Promise<Answer> {
  const { message } = exchange;
  const uri = textOf(message.bytes, memberOf(message.params, 'uri'));
  if (uri === undefined) return wrong('params.uri', 'it must be a string');
  const server = await exchange.view.resource(uri);
  return server.ok ? relayed(exchange, server.value, undefined) : refused(server.error);
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
      return server.ok ? relayed(exchange, server.value, undefined) : refused(server.error);
    }
    default:
      return wrong('params.ref.type', 'it must be "ref/prompt" or "ref/resource"');
  }
}

/** Hands a request on with what tasks ask for, which for most requests is nothing. */
function relayed(exchange: Exchange, server: Server, name: string | undefined): Promise<Answer> {
  return concernsTasks(exchange, server)
    ? relayTasks(exchange, server, (prepared) => relayWatched(prepared, server, name))
    : relayWatched(exchange, server, name);
}

async function relayWatched(exchange: Exchange, server: Server, name: string | undefined): Promise<Answer> {
  const { telemetry } = exchange.view;
  if (telemetry === undefined) return relay({ exchange, server, name });
  const { trace, end } = watch(telemetry, {
    server: server.spec.name,
    message: exchange.message,
    version: exchange.version,
  });
  let answered = refused({ code: 'INTERNAL' });
  try {
    answered = await relay({
      exchange: trace === undefined ? exchange : { ...exchange, trace },
      server,
      name,
    });
    if (answered.kind === 'refused') answered = refused(maskedRefusal(answered.refusal, telemetry.mask));
    return answered;
  } finally {
    end(answered);
  }
}

function refused(refusal: Refusal): Answer {
  return { kind: 'refused', refusal };
}

function wrong(field: string, reason: string): Answer {
  return refused({ code: 'PARAMS_INVALID', field, reason });
}

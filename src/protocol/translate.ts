import { LEGACY_NOT_FOUND, METHODS, MODERN_NOT_FOUND, MODERN_VERSION, type Era } from './eras.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from './message.ts';
import { memberOf, rawOf, textOf, type JsonObject, type Member } from './spans.ts';
import { holdsOnly, insertion, pieces, removals, splice, type Edit } from './splice.ts';
import { relatedTaskIn, taskEdits, taskIdOf, taskIdsInReply, type TaskChange } from './tasks.ts';
import { hasTrace, traceEdits, traceMembers, type TraceContext } from './trace-context.ts';

/** The member of `_meta` that names a notification's subscription (2026-07-28, basic/patterns/subscriptions). */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/*
 * The closed table of what Assay changes in a message that it relays (DESIGN.md, invariant 1):
 *
 *   request       id · params.name (or ref.name of a completion) · _meta.progressToken · the modern _meta envelope ·
 *                 params.requestState
 *   response      id · result.requestState · resultType, ttlMs and cacheScope (modern era only) ·
 *                 the code of "resource not found"
 *   notification  params.progressToken · _meta's subscription id
 *   all of them   task ids, see tasks.ts · in a request also params.task, if tasks were not offered
 *
 * The position of each of these members comes from message-plan.ts; a further edit needs its member there too.
 */

/** The members of `_meta` that only requests of the modern era carry (2026-07-28, basic/index#_meta). */
const ENVELOPE: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/logLevel',
]);

/** How a request is changed on its way to its server, besides its id. */
export interface RequestEdits {
  /** The client's era. */
  readonly era: Era;
  /** The server's name for the tool, prompt or task; undefined if it equals the public name. */
  readonly name: string | undefined;
  readonly task?: TaskChange | undefined;
  /** JSON text of the client's name and version, for a modern server's envelope; undefined for Assay's own. */
  readonly clientInfo: string | undefined;
  /** JSON text of the client's capabilities, for that envelope; undefined if it has none. */
  readonly capabilities?: string | undefined;
  /** The log level for that envelope; undefined if none. */
  readonly envelopeLogLevel?: string | undefined;
  /** The state that the server gave; it replaces the sealed one that the client returned. */
  readonly requestState?: string | undefined;
  /** The trace the request belongs to from here on; undefined to keep the client's. */
  readonly trace?: TraceContext | undefined;
}

/** The form in which the server receives a request. */
export interface RequestTarget {
  /** An integer chosen by Assay; it is also the progress token. */
  readonly id: number;
  readonly to: Era;
  /** JSON text of Assay's own name and version. */
  readonly ownInfo: string;
}

/** The request as the server receives it, in pieces to be sent one after the other. */
export function requestFor(
  message: RequestMessage,
  change: RequestEdits,
  target: RequestTarget,
): readonly Buffer[] {
  const edits: Edit[] = [];
  const id = memberOf(message.root, 'id');
  if (id !== undefined) edits.push({ start: id.start, end: id.end, text: String(target.id) });
  const name = nameOf(message) ?? taskIdOf(message);
  if (name !== undefined && change.name !== undefined)
    edits.push({ start: name.start, end: name.end, text: JSON.stringify(change.name) });
  if (change.requestState !== undefined) {
    const state = memberOf(message.params, 'requestState');
    if (state !== undefined)
      edits.push({ start: state.start, end: state.end, text: JSON.stringify(change.requestState) });
  }
  const related = change.task?.related;
  if (related !== undefined) edits.push(...taskEdits(relatedTaskIn(message), () => related));
  edits.push(...metaEdits(message, change, target));
  return pieces(message.bytes, edits);
}

/** The member in which a request names a tool or prompt. */
export function nameOf(message: RequestMessage): Member | undefined {
  if (message.method === 'completion/complete')
    return memberOf(memberOf(message.params, 'ref')?.object, 'name');
  return METHODS.get(message.method)?.named === 'name' ? memberOf(message.params, 'name') : undefined;
}

function metaEdits(message: RequestMessage, change: RequestEdits, target: RequestTarget): readonly Edit[] {
  const { params, bytes } = message;
  const { era: from, trace } = change;
  const { to } = target;
  const edits: Edit[] = [];
  const member = memberOf(params, '_meta');
  const meta = member?.object;
  const token = memberOf(meta, 'progressToken');
  if (token !== undefined) edits.push({ start: token.start, end: token.end, text: String(target.id) });
  const isNew = trace !== undefined && !hasTrace(message);
  const added = isNew ? traceMembers(trace) : '';
  if (trace !== undefined && !isNew && meta !== undefined) edits.push(...traceEdits(bytes, meta, trace));
  if (from !== to && to === 'modern') {
    edits.push(...enveloped(message, envelopeOf(change, target), added));
    return edits;
  }
  const isBare = from !== to && meta !== undefined && holdsOnly(meta, isOfEnvelope);
  if (member === undefined && isNew) edits.push(inserted(message, added));
  else if (member !== undefined && isBare && isNew)
    edits.push({ start: member.start, end: member.end, text: `{${added}}` });
  else if (meta !== undefined && !isBare) {
    edits.push(...insertions(meta, added));
    if (from !== to) edits.push(...removals(meta, isOfEnvelope));
  }
  const gone = [...(change.task?.isDropped === true ? ['task'] : []), ...(isBare && !isNew ? ['_meta'] : [])];
  if (params !== undefined && gone.length > 0)
    edits.push(...removals(params, ({ key }) => gone.includes(key)));
  return edits;
}

function insertions(object: JsonObject, added: string): readonly Edit[] {
  return added === '' ? [] : [insertion(object, added)];
}

/** Adds `_meta` with these members to a request without one. */
function inserted({ params, root }: RequestMessage, members: string): Edit {
  const meta = `"_meta":{${members}}`;
  return params === undefined ? insertion(root, `"params":{${meta}}`) : insertion(params, meta);
}

function isOfEnvelope({ key }: Member): boolean {
  return ENVELOPE.has(key);
}

function envelopeOf(change: RequestEdits, { ownInfo }: RequestTarget): string {
  const { clientInfo = ownInfo, envelopeLogLevel, capabilities = '{}' } = change;
  return (
    `"io.modelcontextprotocol/protocolVersion":"${MODERN_VERSION}",` +
    `"io.modelcontextprotocol/clientInfo":${clientInfo},` +
    `"io.modelcontextprotocol/clientCapabilities":${capabilities}` +
    (envelopeLogLevel === undefined ? '' : `,"io.modelcontextprotocol/logLevel":"${envelopeLogLevel}"`)
  );
}

/** Adds the envelope to a legacy request, replacing anything the client wrote under the envelope's own keys. */
function enveloped(message: RequestMessage, envelope: string, added: string): readonly Edit[] {
  const members = added === '' ? envelope : `${envelope},${added}`;
  const meta = memberOf(message.params, '_meta');
  if (meta === undefined) return [inserted(message, members)];
  if (meta.object === undefined || holdsOnly(meta.object, isOfEnvelope))
    return [{ start: meta.start, end: meta.end, text: `{${members}}` }];
  return [insertion(meta.object, members), ...removals(meta.object, isOfEnvelope)];
}

/** Maximum length in bytes of a progress token that gets notifications, because each of them repeats it. */
const MAX_TOKEN_LENGTH = 4_096;

/** The progress token as the client wrote it; undefined if it asked for no progress or the token is too long. */
export function progressTokenOf(message: RequestMessage): string | undefined {
  const token = memberOf(memberOf(message.params, '_meta')?.object, 'progressToken');
  return token === undefined || token.end - token.start > MAX_TOKEN_LENGTH
    ? undefined
    : rawOf(message.bytes, token);
}

export interface ReplyChange {
  /** The id as the client wrote it. */
  readonly idText: string;
  readonly method: string;
  readonly from: Era;
  readonly to: Era;
  /** Replaces the state that a modern server gave; undefined if there is none. */
  readonly requestState?: string | undefined;
  /** Translates a server's task id to the client's; undefined if the response cannot contain one. */
  readonly wrapTask?: ((inner: string) => string) | undefined;
}

/** The response as the client receives it, in pieces to be sent one after the other. */
export function replyFor(message: ResponseMessage, change: ReplyChange): readonly Buffer[] {
  const edits: Edit[] = [];
  const id = memberOf(message.root, 'id');
  if (id !== undefined) edits.push({ start: id.start, end: id.end, text: change.idText });
  else edits.push(insertion(message.root, `"id":${change.idText}`));
  if (change.from !== change.to) eraEdits(message, change, edits);
  if (change.requestState !== undefined) {
    const state = memberOf(memberOf(message.root, 'result')?.object, 'requestState');
    if (state !== undefined)
      edits.push({ start: state.start, end: state.end, text: JSON.stringify(change.requestState) });
  }
  if (change.wrapTask !== undefined)
    edits.push(...taskEdits(taskIdsInReply(message, change), change.wrapTask));
  return pieces(message.bytes, edits);
}

function eraEdits(message: ResponseMessage, change: ReplyChange, edits: Edit[]): void {
  const result = memberOf(message.root, 'result')?.object;
  if (result !== undefined && change.to === 'legacy') {
    const isCacheable = METHODS.get(change.method)?.isCacheable === true;
    edits.push(
      ...removals(result, ({ key }) => key === 'resultType' || (isCacheable && CACHE_MEMBERS.has(key))),
    );
  } else if (result !== undefined) {
    const absent = modernMembers(change.method).filter(([key]) => memberOf(result, key) === undefined);
    if (absent.length > 0)
      edits.push(insertion(result, absent.map(([key, value]) => `"${key}":${value}`).join(',')));
  } else if (change.to === 'modern') {
    // 2026-07-28, basic/index#error-codes: -32002 must not be sent in this era; its meaning has moved to -32602.
    const code = memberOf(memberOf(message.root, 'error')?.object, 'code');
    if (code !== undefined && rawOf(message.bytes, code) === String(LEGACY_NOT_FOUND))
      edits.push({ start: code.start, end: code.end, text: String(MODERN_NOT_FOUND) });
  }
}

const CACHE_MEMBERS: ReadonlySet<string> = new Set(['ttlMs', 'cacheScope']);
const RESULT_TYPE: readonly [string, string] = ['resultType', '"complete"'];
const PLAIN_RESULT: readonly (readonly [string, string])[] = [RESULT_TYPE];
const CACHEABLE_RESULT: readonly (readonly [string, string])[] = [
  RESULT_TYPE,
  ['ttlMs', '0'],
  ['cacheScope', '"private"'],
];

/** The members of a modern result besides its content: keys with their JSON text. */
export function modernMembers(method: string): readonly (readonly [string, string])[] {
  return METHODS.get(method)?.isCacheable === true ? CACHEABLE_RESULT : PLAIN_RESULT;
}

/** Whether the result is a request for input (2026-07-28, basic/patterns/mrtr). */
export function asksForInput(message: ResponseMessage): boolean {
  const result = memberOf(message.root, 'result')?.object;
  return textOf(message.bytes, memberOf(result, 'resultType')) === 'input_required';
}

/** A progress notification with the client's own token. */
export function withProgressToken(note: NotificationMessage, tokenText: string): Buffer {
  const token = memberOf(note.params, 'progressToken');
  return token === undefined
    ? note.bytes
    : splice(note.bytes, [{ start: token.start, end: token.end, text: tokenText }]);
}

/** A notification's subscription id as written; undefined if it has none. */
export function subscriptionIdOf(note: NotificationMessage): string | undefined {
  const id = memberOf(memberOf(note.params, '_meta')?.object, SUBSCRIPTION_ID);
  return id && rawOf(note.bytes, id);
}

/** A notification with the client's subscription id. */
export function withSubscriptionId({ bytes, params, root }: NotificationMessage, idText: string): Buffer {
  const text = `"${SUBSCRIPTION_ID}":${idText}`;
  const meta = memberOf(params, '_meta');
  const id = memberOf(meta?.object, SUBSCRIPTION_ID);
  if (id !== undefined) return splice(bytes, [{ start: id.start, end: id.end, text: idText }]);
  if (meta?.object !== undefined) return splice(bytes, [insertion(meta.object, text)]);
  if (meta !== undefined) return splice(bytes, [{ start: meta.start, end: meta.end, text: `{${text}}` }]);
  if (params !== undefined) return splice(bytes, [insertion(params, `"_meta":{${text}}`)]);
  return splice(bytes, [insertion(root, `"params":{"_meta":{${text}}}`)]);
}

/** A notification for legacy clients, without the subscription id; an `_meta` that contained only it is removed too. */
export function withoutSubscriptionId({ bytes, params }: NotificationMessage): Buffer {
  const meta = memberOf(params, '_meta')?.object;
  if (params === undefined || memberOf(meta, SUBSCRIPTION_ID) === undefined || meta === undefined)
    return bytes;
  const [object, key] = meta.size === 1 ? [params, '_meta'] : [meta, SUBSCRIPTION_ID];
  return splice(
    bytes,
    removals(object, (member) => member.key === key),
  );
}

import { LEGACY_NOT_FOUND, METHODS, MODERN_NOT_FOUND, MODERN_VERSION, type Era } from './eras.ts';
import type { NotificationMessage, RequestMessage, ResponseMessage } from './message.ts';
import { findMember, readRawValue, readJsonString, type JsonObject, type Member } from './spans.ts';
import { holdsOnly, buildInsertion, spliceToPieces, buildRemovals, splice, type Edit } from './splice.ts';
import { findRelatedTask, buildTaskEdits, findTaskId, findTaskIdsInReply, type TaskChange } from './tasks.ts';
import { hasTrace, buildTraceEdits, serializeTrace, type TraceContext } from './trace-context.ts';

/** The member of `_meta` that names a notification's subscription (2026-07-28, basic/patterns/subscriptions). */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/*
 * The closed table of what Assay changes in a message that it relays (DESIGN.md, invariant 1):
 *
 *   request       id · params.name (or ref.name of a completion) · _meta.progressToken, also added to a call without
 *                 one · the modern _meta envelope ·
 *                 params.requestState
 *   response      id · result.content, if it is too large (cut-result.ts) · result.requestState ·
 *                 resultType, ttlMs and cacheScope (modern era only) ·
 *                 the code of "resource not found"
 *   notification  params.progressToken · _meta's subscription id
 *   all of them   task ids, see tasks.ts · in a request also params.task, if tasks were not offered
 *
 * The position of each of these members comes from message-plan.ts, except `content`, which cut-result.ts reads with a plan
 * of its own; a further edit needs its member there too.
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
  /** Whether progress is asked for although the client did not, so that a server at work is not taken for a silent one. */
  readonly asksProgress?: boolean | undefined;
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
export function translateRequest(
  message: RequestMessage,
  change: RequestEdits,
  target: RequestTarget,
): readonly Buffer[] {
  const edits: Edit[] = [];
  const id = findMember(message.root, 'id');
  if (id !== undefined) edits.push({ start: id.start, end: id.end, text: String(target.id) });
  const name = findNameMember(message) ?? findTaskId(message);
  if (name !== undefined && change.name !== undefined)
    edits.push({ start: name.start, end: name.end, text: JSON.stringify(change.name) });
  if (change.requestState !== undefined) {
    const state = findMember(message.params, 'requestState');
    if (state !== undefined)
      edits.push({ start: state.start, end: state.end, text: JSON.stringify(change.requestState) });
  }
  const related = change.task?.related;
  if (related !== undefined) edits.push(...buildTaskEdits(findRelatedTask(message), () => related));
  edits.push(...metaEdits(message, change, target));
  return spliceToPieces(message.bytes, edits);
}

/** The member in which a request names a tool or prompt. */
export function findNameMember(message: RequestMessage): Member | undefined {
  if (message.method === 'completion/complete')
    return findMember(findMember(message.params, 'ref')?.object, 'name');
  return METHODS.get(message.method)?.named === 'name' ? findMember(message.params, 'name') : undefined;
}

function metaEdits(message: RequestMessage, change: RequestEdits, target: RequestTarget): readonly Edit[] {
  const { params, bytes } = message;
  const { era: from, trace } = change;
  const { to } = target;
  const edits: Edit[] = [];
  const member = findMember(params, '_meta');
  const meta = member?.object;
  const token = findMember(meta, 'progressToken');
  if (token !== undefined) edits.push({ start: token.start, end: token.end, text: String(target.id) });
  const isNew = trace !== undefined && !hasTrace(message);
  const asksProgress =
    change.asksProgress === true && token === undefined && (member === undefined || meta !== undefined);
  const added = [
    ...(isNew ? [serializeTrace(trace)] : []),
    ...(asksProgress ? [`"progressToken":${target.id}`] : []),
  ].join(',');
  const hasAdded = added !== '';
  if (trace !== undefined && !isNew && meta !== undefined) edits.push(...buildTraceEdits(bytes, meta, trace));
  if (from !== to && to === 'modern') {
    edits.push(...enveloped(message, envelopeOf(change, target), added));
    return edits;
  }
  const isBare = from !== to && meta !== undefined && holdsOnly(meta, isOfEnvelope);
  if (member === undefined && hasAdded) edits.push(inserted(message, added));
  else if (member !== undefined && isBare && hasAdded)
    edits.push({ start: member.start, end: member.end, text: `{${added}}` });
  else if (meta !== undefined && !isBare) {
    edits.push(...insertions(meta, added));
    if (from !== to) edits.push(...buildRemovals(meta, isOfEnvelope));
  }
  const gone = [
    ...(change.task?.isDropped === true ? ['task'] : []),
    ...(isBare && !hasAdded ? ['_meta'] : []),
  ];
  if (params !== undefined && gone.length > 0)
    edits.push(...buildRemovals(params, ({ key }) => gone.includes(key)));
  return edits;
}

function insertions(object: JsonObject, added: string): readonly Edit[] {
  return added === '' ? [] : [buildInsertion(object, added)];
}

/** Adds `_meta` with these members to a request without one. */
function inserted({ params, root }: RequestMessage, members: string): Edit {
  const meta = `"_meta":{${members}}`;
  if (params !== undefined) return buildInsertion(params, meta);
  const nothing = findMember(root, 'params'); // `null`
  return nothing === undefined
    ? buildInsertion(root, `"params":{${meta}}`)
    : { start: nothing.start, end: nothing.end, text: `{${meta}}` };
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
  const meta = findMember(message.params, '_meta');
  if (meta === undefined) return [inserted(message, members)];
  if (meta.object === undefined || holdsOnly(meta.object, isOfEnvelope))
    return [{ start: meta.start, end: meta.end, text: `{${members}}` }];
  return [buildInsertion(meta.object, members), ...buildRemovals(meta.object, isOfEnvelope)];
}

/** Maximum length in bytes of a progress token that gets notifications, because each of them repeats it. */
const MAX_TOKEN_LENGTH = 4_096;

/** The progress token as the client wrote it; undefined if it asked for no progress or the token is too long. */
export function findProgressToken(message: RequestMessage): string | undefined {
  const token = findMember(findMember(message.params, '_meta')?.object, 'progressToken');
  return token === undefined || token.end - token.start > MAX_TOKEN_LENGTH
    ? undefined
    : readRawValue(message.bytes, token);
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
export function translateReply(message: ResponseMessage, change: ReplyChange): readonly Buffer[] {
  const edits: Edit[] = [];
  const id = findMember(message.root, 'id');
  if (id !== undefined) edits.push({ start: id.start, end: id.end, text: change.idText });
  else edits.push(buildInsertion(message.root, `"id":${change.idText}`));
  if (change.from !== change.to) eraEdits(message, change, edits);
  if (change.requestState !== undefined) {
    const state = findMember(findMember(message.root, 'result')?.object, 'requestState');
    if (state !== undefined)
      edits.push({ start: state.start, end: state.end, text: JSON.stringify(change.requestState) });
  }
  if (change.wrapTask !== undefined)
    edits.push(...buildTaskEdits(findTaskIdsInReply(message, change), change.wrapTask));
  return spliceToPieces(message.bytes, edits);
}

function eraEdits(message: ResponseMessage, change: ReplyChange, edits: Edit[]): void {
  const result = findMember(message.root, 'result')?.object;
  if (result !== undefined && change.to === 'legacy') {
    const isCacheable = METHODS.get(change.method)?.isCacheable === true;
    edits.push(
      ...buildRemovals(result, ({ key }) => key === 'resultType' || (isCacheable && CACHE_MEMBERS.has(key))),
    );
  } else if (result !== undefined) {
    const absent = getModernMembers(change.method).filter(([key]) => findMember(result, key) === undefined);
    if (absent.length > 0)
      edits.push(buildInsertion(result, absent.map(([key, value]) => `"${key}":${value}`).join(',')));
  } else if (change.to === 'modern') {
    // 2026-07-28, basic/index#error-codes: -32002 must not be sent in this era; its meaning has moved to -32602.
    const code = findMember(findMember(message.root, 'error')?.object, 'code');
    if (code !== undefined && readRawValue(message.bytes, code) === String(LEGACY_NOT_FOUND))
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
export function getModernMembers(method: string): readonly (readonly [string, string])[] {
  return METHODS.get(method)?.isCacheable === true ? CACHEABLE_RESULT : PLAIN_RESULT;
}

/** Whether the result is a request for input (2026-07-28, basic/patterns/mrtr). */
export function asksForInput(message: ResponseMessage): boolean {
  const result = findMember(message.root, 'result')?.object;
  return readJsonString(message.bytes, findMember(result, 'resultType')) === 'input_required';
}

/** A progress notification with the client's own token. */
export function setProgressToken(note: NotificationMessage, tokenText: string): Buffer {
  const token = findMember(note.params, 'progressToken');
  return token === undefined
    ? note.bytes
    : splice(note.bytes, [{ start: token.start, end: token.end, text: tokenText }]);
}

/** A notification's subscription id as written; undefined if it has none. */
export function findSubscriptionId(note: NotificationMessage): string | undefined {
  const id = findMember(findMember(note.params, '_meta')?.object, SUBSCRIPTION_ID);
  return id && readRawValue(note.bytes, id);
}

/** A notification with the client's subscription id. */
export function setSubscriptionId({ bytes, params, root }: NotificationMessage, idText: string): Buffer {
  const text = `"${SUBSCRIPTION_ID}":${idText}`;
  const meta = findMember(params, '_meta');
  const id = findMember(meta?.object, SUBSCRIPTION_ID);
  if (id !== undefined) return splice(bytes, [{ start: id.start, end: id.end, text: idText }]);
  if (meta?.object !== undefined) return splice(bytes, [buildInsertion(meta.object, text)]);
  if (meta !== undefined) return splice(bytes, [{ start: meta.start, end: meta.end, text: `{${text}}` }]);
  if (params !== undefined) return splice(bytes, [buildInsertion(params, `"_meta":{${text}}`)]);
  return splice(bytes, [buildInsertion(root, `"params":{"_meta":{${text}}}`)]);
}

/** A notification for legacy clients, without the subscription id; an `_meta` that contained only it is removed too. */
export function removeSubscriptionId({ bytes, params }: NotificationMessage): Buffer {
  const meta = findMember(params, '_meta')?.object;
  if (params === undefined || findMember(meta, SUBSCRIPTION_ID) === undefined || meta === undefined)
    return bytes;
  const [object, key] = meta.size === 1 ? [params, '_meta'] : [meta, SUBSCRIPTION_ID];
  return splice(
    bytes,
    buildRemovals(object, (member) => member.key === key),
  );
}

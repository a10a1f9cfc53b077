import { readServerMessage, type RequestMessage, type ResponseMessage } from './message.ts';
import { scanMembers, scanObject } from './scan.ts';
import {
  findMember,
  buildPlan,
  readRawValue,
  readJsonString,
  type JsonObject,
  type Member,
} from './spans.ts';
import { holdsOnly, buildInsertion, buildRemovals, splice } from './splice.ts';

/** The requests that a server may make of its client in either era, with the capability that allows each. */
export const SERVER_REQUESTS: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/** What a modern server requires before it answers (2026-07-28, basic/patterns/mrtr). */
export interface InputRequired {
  /** In the server's order, each with its key. */
  readonly requests: readonly { readonly key: string; readonly message: RequestMessage }[];
  readonly state: string | undefined;
}

/** Undefined if the result is malformed. */
export function readInputRequired({ bytes, root }: ResponseMessage): InputRequired | undefined {
  const result = findMember(root, 'result')?.object;
  const member = findMember(result, 'requestState');
  const state = readJsonString(bytes, member);
  if (member !== undefined && state === undefined) return undefined;
  const given = findMember(result, 'inputRequests');
  const entries = given === undefined ? NONE : membersIn(bytes, given);
  const requests = entries?.map(({ key, text }) => ({ key, message: requestOf(text) }));
  if (!requests?.every(isRequest)) return undefined;
  return { requests, state };
}

/** The `requestState` of such a result, whatever else it contains. */
export function readRequestState({ bytes, root }: ResponseMessage): string | undefined {
  return readJsonString(bytes, findMember(findMember(root, 'result')?.object, 'requestState'));
}

interface Entry {
  readonly key: string;
  /** JSON text of the value. */
  readonly text: string;
}

const NONE: readonly Entry[] = [];
const REQUEST = buildPlan({ method: {}, params: {} });
/** Maximum size in bytes of an object that is split into members, since that happens at once. */
const MAX_BYTES = 16 * 1024 * 1024;

/** All members of an object; undefined if it is not an object or has a duplicate key. */
function membersIn(bytes: Buffer, { start, end }: Member): readonly Entry[] | undefined {
  if (end - start > MAX_BYTES) return undefined;
  const slice = bytes.subarray(start, end);
  const members = scanMembers(slice);
  if (members === undefined) return undefined;
  const isTwice = new Set(members.map(({ key }) => key)).size !== members.length;
  return isTwice ? undefined : members.map((m) => ({ key: m.key, text: readRawValue(slice, m) }));
}

/** A request embedded in another message, with the id that it lacks there. */
function requestOf(text: string): RequestMessage | undefined {
  const bytes = Buffer.from(text);
  const scan = scanObject(bytes, { plan: REQUEST, strict: false, refusesTwice: true });
  const method = scan.ok ? findMember(scan.value, 'method') : undefined;
  if (!scan.ok || method === undefined) return undefined;
  const params = findMember(scan.value, 'params');
  const rest = params === undefined ? '' : `,"params":${readRawValue(bytes, params)}`;
  const message = readServerMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":0,"method":${readRawValue(bytes, method)}${rest}}`),
  );
  return message.kind === 'request' ? message : undefined;
}

/** The request as sent to a legacy client, with an id of ours that is also its progress token. */
export function buildForwardedRequest({ bytes, root, params }: RequestMessage, id: number | string): Buffer {
  const given = findMember(root, 'id');
  const token = findMember(findMember(params, '_meta')?.object, 'progressToken');
  const text = JSON.stringify(id);
  return splice(bytes, [
    ...(given === undefined ? [] : [{ start: given.start, end: given.end, text }]),
    ...(token === undefined ? [] : [{ start: token.start, end: token.end, text }]),
  ]);
}

/**
 * A modern server's request in the form for a legacy client: there, a URL elicitation has an id, which 2026-07-28 does
 * not have (2025-11-25, client/elicitation#url-mode-elicitation-requests).
 */
export function toLegacyRequest(message: RequestMessage, elicitationId: string): RequestMessage {
  const { bytes, method, params } = message;
  const isLink =
    method === 'elicitation/create' && readJsonString(bytes, findMember(params, 'mode')) === 'url';
  if (!isLink || params === undefined || findMember(params, 'elicitationId') !== undefined) return message;
  const text = `"elicitationId":${JSON.stringify(elicitationId)}`;
  const given = readServerMessage(splice(bytes, [buildInsertion(params, text)]));
  return given.kind === 'request' ? given : message;
}

function isRequest(entry: {
  readonly key: string;
  readonly message: RequestMessage | undefined;
}): entry is InputRequired['requests'][number] {
  return entry.message !== undefined;
}

/** JSON text of a result that asks a modern client for input. */
export function serializeInputRequired(
  requests: readonly { readonly key: string; readonly message: RequestMessage }[],
  state: string,
): string {
  const entries = requests.map(({ key, message: { bytes, method, params } }) => {
    const rest = params === undefined ? '' : `,"params":${readRawValue(bytes, params)}`;
    return `${JSON.stringify(key)}:{"method":${JSON.stringify(method)}${rest}}`;
  });
  return `{"resultType":"input_required","inputRequests":{${entries.join(',')}},"requestState":${JSON.stringify(state)}}`;
}

/** What a modern client sends when it retries. */
export interface Retry {
  readonly state: string | undefined;
  /** JSON text of each answer, by the key of its server request. */
  readonly responses: ReadonlyMap<string, string>;
}

/** If a member is malformed, returns its name as the fault. */
export function readRetry({ bytes, params }: RequestMessage): Retry | { readonly fault: string } {
  const stateMember = findMember(params, 'requestState');
  const state = readJsonString(bytes, stateMember);
  if (stateMember !== undefined && state === undefined) return { fault: 'params.requestState' };
  const given = findMember(params, 'inputResponses');
  const entries = given === undefined ? NONE : membersIn(bytes, given);
  if (entries === undefined) return { fault: 'params.inputResponses' };
  return { state, responses: new Map(entries.map(({ key, text }) => [key, text])) };
}

/** The same request with answers to a modern server's requests and with the state that the server gave. */
export function buildRetry(
  message: RequestMessage,
  { responses, state }: { readonly responses: readonly Entry[]; readonly state: string | undefined },
): RequestMessage | undefined {
  const answers = responses.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(',');
  const text =
    `"inputResponses":{${answers}}` + (state === undefined ? '' : `,"requestState":${JSON.stringify(state)}`);
  const { bytes, params, root } = message;
  const edits =
    params === undefined
      ? [buildInsertion(root, `"params":{${text}}`)]
      : [insertionIn(params, text), ...buildRemovals(params, isOfRetry)];
  const again = readServerMessage(splice(bytes, edits));
  return again.kind === 'request' ? again : undefined;
}

/** The request as it was before the client answered a question. */
export function removeRetry(message: RequestMessage): RequestMessage {
  const { bytes, params } = message;
  if (params === undefined) return message;
  const plain = readServerMessage(splice(bytes, buildRemovals(params, isOfRetry)));
  return plain.kind === 'request' ? plain : message;
}

function insertionIn(params: JsonObject, text: string): ReturnType<typeof buildInsertion> {
  const isBare = holdsOnly(params, isOfRetry);
  return { ...buildInsertion(params, text), text: isBare ? text : `${text},` };
}

function isOfRetry({ key }: Member): boolean {
  return key === 'inputResponses' || key === 'requestState';
}

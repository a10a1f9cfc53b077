import { readServerMessage, type RequestMessage, type ResponseMessage } from './message.ts';
import { scanMembers, scanObject } from './scan.ts';
import { memberOf, planOf, rawOf, textOf, type JsonObject, type Member } from './spans.ts';
import { holdsOnly, insertion, removals, splice } from './splice.ts';

/** The requests that a server may make of its client in either era, and the capability that allows each. */
export const SERVER_REQUESTS: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/** What a modern server wants before it answers (2026-07-28, basic/patterns/mrtr). */
export interface InputRequired {
  /** In the server's order, each under its key. */
  readonly requests: readonly { readonly key: string; readonly message: RequestMessage }[];
  readonly state: string | undefined;
}

/** Undefined where the result does not have the form that it should. */
export function inputRequiredOf({ bytes, root }: ResponseMessage): InputRequired | undefined {
  const result = memberOf(root, 'result')?.object;
  const member = memberOf(result, 'requestState');
  const state = textOf(bytes, member);
  if (member !== undefined && state === undefined) return undefined;
  const given = memberOf(result, 'inputRequests');
  const entries = given === undefined ? NONE : membersIn(bytes, given);
  const requests = entries?.map(({ key, text }) => ({ key, message: requestOf(text) }));
  if (!requests?.every(isRequest)) return undefined;
  return { requests, state };
}

/** The state in such a result, whatever else is in it. */
export function requestStateOf({ bytes, root }: ResponseMessage): string | undefined {
  return textOf(bytes, memberOf(memberOf(root, 'result')?.object, 'requestState'));
}

interface Entry {
  readonly key: string;
  /** JSON text of the value. */
  readonly text: string;
}

const NONE: readonly Entry[] = [];
const REQUEST = planOf({ method: {}, params: {} });
/** Longest object in bytes that is taken apart: nobody asks as much, or answers it, and it is done at once. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The members of an object, whatever their keys; undefined where it is none, or a key stands in it twice. */
function membersIn(bytes: Buffer, { start, end }: Member): readonly Entry[] | undefined {
  if (end - start > MOST_BYTES) return undefined;
  const slice = bytes.subarray(start, end);
  const members = scanMembers(slice);
  if (members === undefined) return undefined;
  const isTwice = new Set(members.map(({ key }) => key)).size !== members.length;
  return isTwice ? undefined : members.map((m) => ({ key: m.key, text: rawOf(slice, m) }));
}

/** A request as it stands inside of another message, given the id that it lacks there. */
function requestOf(text: string): RequestMessage | undefined {
  const bytes = Buffer.from(text);
  const scan = scanObject(bytes, { plan: REQUEST, strict: false, refusesTwice: true });
  const method = scan.ok ? memberOf(scan.value, 'method') : undefined;
  if (!scan.ok || method === undefined) return undefined;
  const params = memberOf(scan.value, 'params');
  const rest = params === undefined ? '' : `,"params":${rawOf(bytes, params)}`;
  const message = readServerMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":0,"method":${rawOf(bytes, method)}${rest}}`),
  );
  return message.kind === 'request' ? message : undefined;
}

/** The request as a legacy client is to receive it, under an id of ours that is its progress token too. */
export function forwardedRequest({ bytes, root, params }: RequestMessage, id: number): Buffer {
  const given = memberOf(root, 'id');
  const token = memberOf(memberOf(params, '_meta')?.object, 'progressToken');
  return splice(bytes, [
    ...(given === undefined ? [] : [{ start: given.start, end: given.end, text: String(id) }]),
    ...(token === undefined ? [] : [{ start: token.start, end: token.end, text: String(id) }]),
  ]);
}

/**
 * The request of a modern server as a legacy client takes it: a link to be opened has an id there, which 2026-07-28 has not
 * (2025-11-25, client/elicitation#url-mode-elicitation-requests).
 */
export function inLegacyForm(message: RequestMessage, elicitationId: string): RequestMessage {
  const { bytes, method, params } = message;
  const isLink = method === 'elicitation/create' && textOf(bytes, memberOf(params, 'mode')) === 'url';
  if (!isLink || params === undefined || memberOf(params, 'elicitationId') !== undefined) return message;
  const text = `"elicitationId":${JSON.stringify(elicitationId)}`;
  const given = readServerMessage(splice(bytes, [insertion(params, text)]));
  return given.kind === 'request' ? given : message;
}

function isRequest(entry: {
  readonly key: string;
  readonly message: RequestMessage | undefined;
}): entry is InputRequired['requests'][number] {
  return entry.message !== undefined;
}

/** JSON text of a result that asks a modern client for input. */
export function inputRequiredText(
  requests: readonly { readonly key: string; readonly message: RequestMessage }[],
  state: string,
): string {
  const entries = requests.map(({ key, message: { bytes, method, params } }) => {
    const rest = params === undefined ? '' : `,"params":${rawOf(bytes, params)}`;
    return `${JSON.stringify(key)}:{"method":${JSON.stringify(method)}${rest}}`;
  });
  return `{"resultType":"input_required","inputRequests":{${entries.join(',')}},"requestState":${JSON.stringify(state)}}`;
}

/** What a modern client brings when it tries again. */
export interface Retry {
  readonly state: string | undefined;
  /** JSON text of each answer, by the key of its question. */
  readonly responses: ReadonlyMap<string, string>;
}

/** Undefined where a member has another form than it should; its name is then the reason. */
export function retryOf({ bytes, params }: RequestMessage): Retry | { readonly fault: string } {
  const stateMember = memberOf(params, 'requestState');
  const state = textOf(bytes, stateMember);
  if (stateMember !== undefined && state === undefined) return { fault: 'params.requestState' };
  const given = memberOf(params, 'inputResponses');
  const entries = given === undefined ? NONE : membersIn(bytes, given);
  if (entries === undefined) return { fault: 'params.inputResponses' };
  return { state, responses: new Map(entries.map(({ key, text }) => [key, text])) };
}

/** The same request once more, with answers to what a modern server wanted, and with the state that it gave. */
export function retried(
  message: RequestMessage,
  { responses, state }: { readonly responses: readonly Entry[]; readonly state: string | undefined },
): RequestMessage | undefined {
  const answers = responses.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(',');
  const text =
    `"inputResponses":{${answers}}` + (state === undefined ? '' : `,"requestState":${JSON.stringify(state)}`);
  const { bytes, params, root } = message;
  const edits =
    params === undefined
      ? [insertion(root, `"params":{${text}}`)]
      : [insertionIn(params, text), ...removals(params, isOfRetry)];
  const again = readServerMessage(splice(bytes, edits));
  return again.kind === 'request' ? again : undefined;
}

function insertionIn(params: JsonObject, text: string): ReturnType<typeof insertion> {
  const isBare = holdsOnly(params, isOfRetry);
  return { ...insertion(params, text), text: isBare ? text : `${text},` };
}

function isOfRetry({ key }: Member): boolean {
  return key === 'inputResponses' || key === 'requestState';
}

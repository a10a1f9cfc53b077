import { quote } from '@assay-mcp/kit/printable';
import { runInTurns } from '@assay-mcp/kit/turns';
import { buildCutResult, createContentsBuilder, createResultCutter } from '@assay-mcp/protocol/cut-result';
import { createMessageReader, type ResponseMessage } from '@assay-mcp/protocol/message';
import { findMember, type Span } from '@assay-mcp/protocol/spans';
import { splice } from '@assay-mcp/protocol/splice';
import { findResultLimit } from '../../core/result-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Entry } from '../catalog/listing.ts';
import type { Reply } from '../ports/link.ts';
import type { StoredResult } from '../ports/stored-results.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import { refuseByPolicy } from './labels.ts';

/**
 * The answer to a call as its client gets it. Of a result above the limit of its tool it gets the beginning and the end,
 * and a link to the whole. RESULT_TOO_LARGE if the result cannot be cut.
 */
export function limitResult(call: Call, answer: Answer): Answer | Promise<Answer> {
  const { entry } = call;
  if (entry === undefined || answer.kind !== 'relayed' || call.method !== 'tools/call') return answer;
  const maxBytes = findResultLimit(entry.server.spec.resultLimits, entry.name);
  if (maxBytes === undefined) return answer;
  const result = findMember(answer.reply.message.root, 'result');
  const size = result === undefined ? 0 : result.end - result.start;
  return result === undefined || size <= maxBytes
    ? answer
    : cutAnswer(call, entry, { answer, result, maxBytes });
}

interface LargeAnswer {
  readonly answer: Extract<Answer, { kind: 'relayed' }>;
  readonly result: Span;
  readonly maxBytes: number;
}

async function cutAnswer(
  call: Call,
  entry: Entry,
  { answer, result, maxBytes }: LargeAnswer,
): Promise<Answer> {
  const { bytes } = answer.reply.message;
  const whole = bytes.subarray(result.start, result.end);
  const cut = await runInTurns(createResultCutter(whole, maxBytes));
  if (cut === 'input') return answer;
  const about = { server: entry.server.spec.name, tool: entry.key, bytes: whole.length, maxBytes };
  if (cut === 'structured' || cut === 'whole')
    return toRefusedAnswer({ code: 'RESULT_TOO_LARGE', ...about, isStructured: cut === 'structured' });
  const uri = await storeFullResult(call, entry, whole);
  const notice = buildNotice(call, { size: whole.length, maxBytes, uri });
  const text = buildCutResult(whole, cut, notice).toString('utf8');
  const cutBytes = splice(bytes, [{ start: result.start, end: result.end, text }]);
  const message = await readResponse(cutBytes);
  return { ...answer, reply: { ...answer.reply, message } };
}

/** Returns the URI of the whole result. Undefined if its client could not read it. */
async function storeFullResult(call: Call, entry: Entry, bytes: Buffer): Promise<string | undefined> {
  const { subject, identity, view, deps, approval } = call;
  // A tool that is not listed here, but called through `call_tool`, could not be found again.
  if (view.listing('tools').find(entry.key) === undefined) return undefined;
  const kept = await deps.storedResults?.keep({
    subject,
    tokenId: identity.tokenId ?? '',
    endpoint: view.endpoint,
    server: entry.server.spec.name,
    tool: entry.name,
    publicName: entry.key,
    isApproved: approval !== undefined,
    bytes,
  });
  return kept?.ok === true ? kept.value : undefined;
}

interface Omission {
  readonly size: number;
  readonly maxBytes: number;
  readonly uri: string | undefined;
}

/** Clients of earlier revisions reject a list of contents with a link. */
const LINKS_SINCE = '2025-06-18';

function buildNotice(call: Call, { size, maxBytes, uri }: Omission): readonly string[] {
  const minutes = Math.round((call.deps.storedResults?.ttlMs ?? 0) / 60_000);
  const rest =
    uri === undefined
      ? 'The full result was not stored: request less data.'
      : `Read the full result as the resource ${uri} within ${minutes} minutes.`;
  const text = `[Assay left out the middle of this result: its ${size} bytes exceed the limit of ${maxBytes} (maxResultBytes). ${rest}]`;
  const notice = JSON.stringify({ type: 'text', text });
  const hasLinks = call.era === 'modern' || (call.version ?? '') >= LINKS_SINCE;
  if (uri === undefined || !hasLinks) return [notice];
  return [notice, JSON.stringify({ type: 'resource_link', uri, name: 'whole result', size })];
}

/** The tool of a stored result, if the caller sees it. Waits for a server that has not listed its tools yet. */
export async function findStoredEntry(
  { view, cancellation }: Call,
  { server, tool, publicName }: StoredResult,
): Promise<Entry | undefined> {
  const found = await view.tool(publicName, cancellation);
  if (!found.ok) return undefined;
  return found.value.server.spec.name === server && found.value.name === tool ? found.value : undefined;
}

/** The response to `resources/read` of a stored result. */
export async function buildStoredReply(uri: string, { bytes }: StoredResult): Promise<Reply> {
  const contents = await runInTurns(createContentsBuilder(bytes, uri));
  const message = await readResponse(
    Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":0,"result":'), contents, Buffer.from('}')]),
  );
  return { message, era: 'legacy' };
}

async function readResponse(bytes: Buffer): Promise<ResponseMessage> {
  const message = await runInTurns(createMessageReader(bytes, 'server'));
  if (message.kind !== 'response') throw new Error(`a result was cut to ${quote(message.kind)}`);
  return message;
}

/** Why the caller may not read a stored result although it may see its tool. */
export function toReadRefusal(entry: Entry, call: Call): Refusal {
  const reasons = call.decision?.kind === 'allow' ? [] : (call.decision?.reasons ?? []);
  return refuseByPolicy(entry.key, reasons);
}

import {
  serializeCanonical,
  parseExactJson,
  hasDuplicateKeys,
  isMembers,
} from '../../core/canonical-json.ts';
import { sha256 } from '../../core/digest.ts';
import { computeCacheMs, isKnownReadOnly } from '../../core/policy/cacheable.ts';
import { findMember, readRawValue, readJsonString } from '../../protocol/spans.ts';
import { isForAll, chooseLink } from '../catalog/link-choice.ts';
import type { Server } from '../catalog/server.ts';
import { findToolId } from '../catalog/tool-claims.ts';
import type { Reply } from '../ports/link.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import { findTokenRefusal } from './caller-token.ts';

/** Whether a call may use, fill or invalidate the cache of results. */
export function concernsCache(call: Call): boolean {
  if (call.method !== 'tools/call') return false;
  const { results } = call.deps;
  return results.ttlMs > 0 || results.size > 0 || call.tool?.cacheMs !== undefined;
}

/**
 * Answers a call from the cache, or sends it and keeps its result if the tool permits that. While an identical call is
 * in progress, waits for its result; if that is not kept, sends this call as well.
 */
export async function sendCached(call: Call, server: Server, send: () => Promise<Answer>): Promise<Answer> {
  const { results } = call.deps;
  const { tool } = call;
  if (tool === undefined || !isKnownReadOnly(tool)) {
    const end = results.write(server);
    return send().finally(end);
  }
  const ttlMs = computeCacheMs(tool, results.ttlMs);
  const key = ttlMs === 0 || !isShared(call, server) ? undefined : keyOf(call);
  if (key === undefined) return send();
  const underway = results.underway(key);
  if (underway !== undefined) {
    await endOf(underway, call);
    if (call.cancellation.isCancelled) return toRefusedAnswer({ code: 'CANCELLED' });
    // The call has waited, so its tool is compared again if it is sent after all.
    call.decidedLink = undefined;
    const refusal = findTokenRefusal(call);
    if (refusal !== undefined) return toRefusedAnswer(refusal);
  }
  const found = results.find(server, key);
  if (found !== undefined) {
    call.deps.telemetry?.meter?.cached(server.spec.name);
    return { kind: 'relayed', reply: found };
  }
  const ticket = results.begin(server);
  const end = results.start(key);
  try {
    const answer = await send();
    if (answer.kind === 'relayed' && !call.wasAsked && isPlainResult(answer.reply))
      results.store(ticket, key, { reply: answer.reply, ttlMs });
    return answer;
  } finally {
    end();
  }
}

/** Resolves when an identical call in progress has ended, or when this one is cancelled. */
async function endOf(underway: Promise<undefined>, { cancellation }: Call): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const done = (): void => resolve(undefined);
  void underway.then(done);
  await cancellation.during(done, promise);
}

/** A connection that serves only one client may have its own state, and can restart unnoticed. */
function isShared(call: Call, server: Server): boolean {
  const { link } = server;
  return link !== undefined && isForAll(chooseLink(call, server, link));
}

/** Hash of everything in a call that its result may depend on. Undefined if the call is not a plain one. */
function keyOf({ message, entry, identity, era, tool, argumentsText }: Call): string | undefined {
  const { bytes, params } = message;
  const id = entry && findToolId(entry.server.spec, entry.definition);
  if (id === undefined || params === undefined || params.end - params.start > MAX_PARAMS_BYTES)
    return undefined;
  // Any other member requests more than a result: a task, or the continuation of a call.
  const known = ['name', 'arguments', '_meta'].filter((key) => findMember(params, key) !== undefined);
  const meta = findMember(params, '_meta');
  const metaText = meta === undefined ? '{}' : readRawValue(bytes, meta);
  const read = parseExactJson(metaText);
  const members = read?.value;
  // Parsers differ in which of two members with the same key they use.
  if (known.length !== params.size || !isMembers(members) || hasDuplicateKeys(metaText, read))
    return undefined;
  const lasting = Object.fromEntries(Object.entries(members).filter(([name]) => !OF_ONE_REQUEST.has(name)));
  const { subject, tokenId } = identity;
  const context = [subject, tokenId, id, tool?.digest, era, serializeCanonical(lasting)];
  // As written: 1 and 1.0 are different numbers to some servers.
  return sha256(JSON.stringify([...context, argumentsText]));
}

const MAX_PARAMS_BYTES = 64 * 1024;

/** Members of `_meta` that differ in each request and do not affect its result. */
const OF_ONE_REQUEST: ReadonlySet<string> = new Set([
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
]);

/** A result of the tool itself: no error, no task, no request for input. */
function isPlainResult({ message: { bytes, root, isError } }: Reply): boolean {
  const result = findMember(root, 'result')?.object;
  if (isError || result === undefined || findMember(result, 'task') !== undefined) return false;
  const failed = findMember(result, 'isError');
  const type = findMember(result, 'resultType');
  const isComplete = type === undefined || readJsonString(bytes, type) === 'complete';
  return isComplete && (failed === undefined || readRawValue(bytes, failed) === 'false');
}

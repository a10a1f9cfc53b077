import { toRpcError } from '../../core/errors.ts';
import type { Hint } from '../../core/hints/hint.ts';
import type { ResolvedHints } from '../../core/hints/resolve.ts';
import type { Refusal } from '../../core/refusal.ts';
import { maskRefusal } from '../../core/refusal-cause.ts';
import type { RequestMessage, ResponseMessage } from '../../protocol/message.ts';
import { findMember, readRawValue, readJsonString } from '../../protocol/spans.ts';
import { hasTrace, type TraceContext } from '../../protocol/trace-context.ts';
import { findNameMember } from '../../protocol/translate.ts';
import { readModernProfile } from '../catalog/link-choice.ts';
import type { Server } from '../catalog/server.ts';
import type { Telemetry, TracedEnd, TracedRequest, TrafficLog } from '../ports/telemetry.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import { toRelayEnding, isToolError, startCallRecord } from './call-record.ts';

/** Records one call, from sending to its end. */
export interface CallRecord {
  /** The trace of its span. Undefined without tracing. */
  readonly trace: TraceContext | undefined;
  /** Returns the answer, with the cause of a refusal masked. */
  readonly end: (answer: Answer) => Answer;
  /** Records an internal error. */
  readonly fail: (error: unknown) => never;
}

/** Counts a call, and begins its span if tracing is on. `server` is undefined for a configuration tool. */
export function beginRecord(call: Call, server: Server | undefined): CallRecord | undefined {
  const { telemetry } = call.deps;
  if (telemetry === undefined) return undefined;
  const { meter, tracer, mask } = telemetry;
  const isToolCall = call.method === 'tools/call';
  const traffic = isToolCall ? telemetry.traffic : undefined;
  const record = isToolCall ? startCallRecord(call) : undefined;
  const tally = meter?.of(server?.spec.name ?? NO_SERVER, call.method);
  const beganMs = tally?.begin() ?? (isToolCall ? performance.now() : 0);
  const span = tracer?.begin(tracedRequest(call, server));
  const end = (answer: Answer): Answer => {
    const masked: Answer =
      answer.kind === 'refused' ? toRefusedAnswer(maskRefusal(answer.refusal, mask)) : answer;
    tally?.end(toRelayEnding(masked), beganMs);
    span?.end(tracedEnd(masked, mask));
    if (traffic !== undefined) logCall(traffic, call, { ended: masked, beganMs });
    record?.(masked, performance.now() - beganMs);
    return masked;
  };
  const fail = (error: unknown): never => {
    end(toRefusedAnswer({ code: 'INTERNAL' }));
    throw error;
  };
  return { trace: span?.context, end, fail };
}

function logCall(
  traffic: TrafficLog,
  { message, era, clientInfo, subject }: Call,
  { ended, beganMs }: { readonly ended: Answer; readonly beganMs: number },
): void {
  const nowMs = performance.now();
  const ending = toRelayEnding(ended);
  if (!traffic.admitsCall(nowMs, ending !== 'ok')) return;
  const isToolFailure = ended.kind === 'relayed' && isToolError(ended.reply.message);
  traffic.call({
    client: era === 'modern' ? readModernProfile(message, subject).clientInfo : clientInfo,
    tool: readJsonString(message.bytes, findNameMember(message)) ?? '',
    ms: nowMs - beganMs,
    outcome: isToolFailure ? 'tool_error' : ending,
  });
}

/** Records a call that was refused before it was sent. `server` is undefined if it was not resolved. */
export function recordRefusal(call: Call, refusal: Refusal, server?: Server): Answer {
  const answer = toRefusedAnswer(refusal);
  return beginRecord(call, server)?.end(answer) ?? answer;
}

/** The metrics label of calls that reach no server; no server has an empty name. */
const NO_SERVER = '';

/** A trace for a request without one, for its server to propagate. */
export function createTrace(
  message: RequestMessage,
  telemetry: Telemetry | undefined,
): TraceContext | undefined {
  return hasTrace(message) ? undefined : telemetry?.newTrace?.();
}

/** W3C names, without a prefix (SEP-414). */
const CONTEXT_KEYS: readonly string[] = ['traceparent', 'tracestate', 'baggage'];

function tracedRequest(call: Call, server: Server | undefined): TracedRequest {
  const { message, version, decision, tool } = call;
  const { bytes, method, params } = message;
  const id = readJsonString(bytes, findMember(message.root, 'id')) ?? message.idText;
  const meta = findMember(params, '_meta')?.object;
  const context: Record<string, string> = {};
  for (const key of CONTEXT_KEYS) {
    const text = readJsonString(bytes, findMember(meta, key));
    if (text !== undefined) context[key] = text;
  }
  const target = readJsonString(bytes, findNameMember(message) ?? findMember(params, 'uri'));
  const enveloped = readJsonString(bytes, findMember(meta, 'io.modelcontextprotocol/protocolVersion'));
  return {
    server: server?.spec.name ?? NO_SERVER,
    method,
    id,
    target,
    version: version ?? enveloped,
    context,
    hints: tool && decidedHints(tool.hints),
    decision,
  };
}

function decidedHints(hints: ResolvedHints): Readonly<Record<Hint, boolean>> {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hints;
  return {
    readOnlyHint: readOnlyHint.decision.value,
    destructiveHint: destructiveHint.decision.value,
    idempotentHint: idempotentHint.decision.value,
    openWorldHint: openWorldHint.decision.value,
  };
}

function tracedEnd(ended: Answer, mask: Telemetry['mask']): TracedEnd {
  const ending = toRelayEnding(ended);
  if (ended.kind === 'refused') {
    const { code, message } = toRpcError(ended.refusal, false);
    return { ending, error: { code: String(code), message }, isToolError: false };
  }
  const answer = ended.kind === 'relayed' ? ended.reply.message : undefined;
  return {
    ending,
    error: answer?.isError === true ? errorIn(answer, mask) : undefined,
    isToolError: answer !== undefined && isToolError(answer),
  };
}

function errorIn({ bytes, root }: ResponseMessage, mask: Telemetry['mask']): TracedEnd['error'] {
  const error = findMember(root, 'error')?.object;
  const code = findMember(error, 'code');
  const number = code === undefined ? '' : readRawValue(bytes, code);
  return {
    code: /^-?\d{1,10}$/.test(number) ? number : UNREADABLE,
    message: mask(readJsonString(bytes, findMember(error, 'message')) ?? ''),
  };
}

/** The name that the conventions give to an unknown error. */
const UNREADABLE = '_OTHER';

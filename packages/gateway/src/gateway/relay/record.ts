import type { CallOutcome, FinishedCall } from '../../core/activity/call-entry.ts';
import { toRpcError } from '../../core/errors.ts';
import type { Hint } from '@assay-mcp/kit/hint';
import type { ResolvedHints } from '../../core/hints/resolve.ts';
import { maskRefusal } from '../../core/refusal-cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { RequestMessage, ResponseMessage } from '@assay-mcp/protocol/message';
import { scanObject } from '@assay-mcp/protocol/scan';
import { findMember, readRawValue, readJsonString, buildPlan } from '@assay-mcp/protocol/spans';
import { hasTrace, type TraceContext } from '@assay-mcp/protocol/trace-context';
import { findNameMember, asksForInput } from '@assay-mcp/protocol/translate';
import { readModernProfile, getClientInfo } from '../catalog/link-choice.ts';
import type { Server } from '../catalog/server.ts';
import { findToolId } from '../catalog/tool-claims.ts';
import type { CallLog } from '../ports/call-log.ts';
import type {
  Meter,
  RelayEnding,
  Telemetry,
  ToolOutcome,
  TracedEnd,
  TracedRequest,
  TrafficLog,
} from '../ports/telemetry.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';

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
  const isToolCall = call.method === 'tools/call' || call.readsStoredResult;
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
    if (call.method === 'tools/call' && meter !== undefined)
      countCall(meter, call, { ended: masked, beganMs });
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

function countCall(
  meter: Meter,
  call: Call,
  { ended, beganMs }: { readonly ended: Answer; readonly beganMs: number },
): void {
  const { tool } = call;
  // Clients choose the names of calls that were not resolved to a tool.
  if (tool === undefined) return;
  const outcome = toToolOutcome(outcomeOf(call, ended));
  meter.called(tool.server ?? NO_SERVER, tool.name, { outcome, durationMs: performance.now() - beganMs });
}

function toToolOutcome(outcome: CallOutcome): ToolOutcome {
  switch (outcome) {
    case 'ok':
    case 'tool_error':
    case 'error':
    case 'input_required':
      return outcome;
    default:
      return 'refused';
  }
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

/** Of larger arguments only the size is recorded, because masking has to parse them. */
const MAX_ARGUMENT_BYTES = 64 * 1024;

/** Captures the decision; returns a function to call at the end. Undefined if calls are not recorded. */
export function startCallRecord(
  call: Call,
): ((ended: Answer | 'question', durationMs: number) => void) | undefined {
  const { callLog: log } = call.deps;
  if (log === undefined) return undefined;
  const { entry, configurationTool, labels, message } = call;
  const { tool, toolset } = call;
  const found = configurationTool ?? entry;
  const begun = {
    subject: call.subject,
    sessionId: call.sessionId,
    client: getClientInfo(call, message),
    endpoint: call.view.endpoint,
    toolset,
    labels: labels.size === 0 ? undefined : [...labels],
    publicName: found?.key ?? readJsonString(message.bytes, findNameMember(message)) ?? '',
    tool,
    toolId: entry && findToolId(entry.server.spec, entry.definition),
    ...argumentsOf(call, log),
  };
  return (ended, durationMs) =>
    log.add({
      ...begun,
      decision: call.decision,
      isAsked: call.isAsked,
      approval: call.approval,
      denial: call.denial,
      outcome: ended === 'question' ? 'input_required' : outcomeOf(call, ended),
      durationMs,
    });
}

function argumentsOf(
  { message: { bytes, params }, readsStoredResult }: Call,
  log: CallLog,
): Pick<FinishedCall, 'argumentsText' | 'argumentsBytes'> {
  if (readsStoredResult && log.arguments !== 'none') return STORED_RESULT;
  const member = log.arguments === 'none' ? undefined : findMember(params, 'arguments');
  if (member === undefined) return NO_ARGUMENTS;
  const size = member.end - member.start;
  return {
    argumentsText: size > MAX_ARGUMENT_BYTES ? '' : readRawValue(bytes, member),
    argumentsBytes: size,
  };
}

/** Tells reading a result apart from calling its tool. */
const STORED_RESULT = { argumentsText: '{"resource":"assay://results"}', argumentsBytes: 0 };

const NO_ARGUMENTS = { argumentsText: undefined, argumentsBytes: 0 };

function toRelayEnding(ended: Answer): RelayEnding {
  if (ended.kind === 'refused') return ended.refusal.code;
  return ended.kind === 'relayed' && ended.reply.message.isError ? 'error' : 'ok';
}

/** Large results that arrived in pieces were not parsed and count as successes. */
export function isToolError({ bytes, root }: ResponseMessage): boolean {
  const flag = findMember(findMember(root, 'result')?.object, 'isError');
  return flag !== undefined && readRawValue(bytes, flag) === 'true';
}

function outcomeOf({ configurationTool }: Call, ended: Answer): CallOutcome {
  const ending = toRelayEnding(ended);
  if (ending !== 'ok') return ending;
  // Assay's own answer to a call of a server's tool is a question.
  if (ended.kind === 'own')
    return configurationTool === undefined ? 'input_required' : ownOutcome(ended.result);
  if (ended.kind !== 'relayed') return ending;
  const { message } = ended.reply;
  if (isToolError(message)) return 'tool_error';
  return asksForInput(message) ? 'input_required' : 'ok';
}

const RESULT = buildPlan({ isError: {} });

function ownOutcome(result: Buffer): CallOutcome {
  const scan = scanObject(result, { plan: RESULT, strict: false, refusesTwice: false });
  const flag = scan.ok ? findMember(scan.value, 'isError') : undefined;
  return flag !== undefined && readRawValue(result, flag) === 'true' ? 'tool_error' : 'ok';
}

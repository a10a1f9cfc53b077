import type { CallOutcome, FinishedCall } from '../../core/activity/call-entry.ts';
import type { ResponseMessage } from '../../protocol/message.ts';
import { scanObject } from '../../protocol/scan.ts';
import { findMember, buildPlan, readRawValue, readJsonString } from '../../protocol/spans.ts';
import { asksForInput, findNameMember } from '../../protocol/translate.ts';
import { getClientInfo } from '../catalog/link-choice.ts';
import { findToolId } from '../catalog/tool-claims.ts';
import type { CallLog } from '../ports/call-log.ts';
import type { RelayEnding } from '../ports/telemetry.ts';
import type { Answer, Call } from './call.ts';

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
      outcome: ended === 'question' ? 'input_required' : outcomeOf(call, ended),
      durationMs,
    });
}

function argumentsOf(
  { message: { bytes, params } }: Call,
  log: CallLog,
): Pick<FinishedCall, 'argumentsText' | 'argumentsBytes'> {
  const member = log.arguments === 'none' ? undefined : findMember(params, 'arguments');
  if (member === undefined) return NO_ARGUMENTS;
  const size = member.end - member.start;
  return {
    argumentsText: size > MAX_ARGUMENT_BYTES ? '' : readRawValue(bytes, member),
    argumentsBytes: size,
  };
}

const NO_ARGUMENTS = { argumentsText: undefined, argumentsBytes: 0 };

export function toRelayEnding(ended: Answer): RelayEnding {
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

import type { Decision } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/refusal.ts';
import { maskRefusal } from '../../core/refusal-cause.ts';
import type { ConfigurationTool } from '../catalog/configuration-tool.ts';
import type { Entry } from '../catalog/listing.ts';
import { isHidden } from '../catalog/visible-listing.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import { getPolicy } from './labels.ts';
import { recordRefusal } from './record.ts';

/**
 * Refuses a call whose tool the caller does not see. If rules hide the tool, the record names the rule, which the caller
 * does not learn.
 */
export function refuseUnseen(call: Call, name: string, refusal: Refusal): Answer {
  const found = call.caller.isOperator === true ? undefined : call.view.hiddenTool(name, call.subject);
  if (found === undefined) return recordRefusal(call, refusal, undefined);
  recordHidden(call, name, found);
  const { telemetry } = call.deps;
  return toRefusedAnswer(telemetry === undefined ? refusal : maskRefusal(refusal, telemetry.mask));
}

/** Records a call that a rule refuses, whatever its caller is told. */
export function recordHidden(call: Call, name: string, found: Entry | ConfigurationTool): void {
  if ('server' in found) call.entry = found;
  else call.configurationTool = found;
  const decision: Decision = getPolicy(call).decide(call) ?? { kind: 'refuse', reasons: [] };
  call.decision = decision;
  call.deps.telemetry?.meter?.decided(decision.kind);
  const refusal = { code: 'CALL_REFUSED', tool: name, reasons: decision.reasons } as const;
  recordRefusal(call, refusal, call.entry?.server);
}

/** The answer as its caller gets it. A rule that hides the tool may have come into force after the tool was found. */
export function toSeenAnswer(call: Call, answer: Answer): Answer {
  if (answer.kind !== 'refused' || answer.refusal.code !== 'CALL_REFUSED' || call.caller.isOperator === true)
    return answer;
  const found = call.configurationTool ?? call.entry;
  const hidden = call.deps.policy.hidden?.(call);
  return found !== undefined && isHidden(found, hidden)
    ? toRefusedAnswer({ code: 'TOOL_UNKNOWN', name: answer.refusal.tool })
    : answer;
}

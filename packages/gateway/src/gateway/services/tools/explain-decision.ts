import type { Decision } from '../../../api/decision.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { toDecisionReason } from '../../../core/hints/reason.ts';
import type { PolicyCaller } from '../../../core/policy/policy.ts';
import { listHintWarnings, formatPolicyReason, formatWarning } from '../../../core/policy/reason-text.ts';
import type { Identity } from '../../../core/subject.ts';
import { compileRule, meetsRule, getRuleName, findTrustedValue } from '../../../core/policy/rule.ts';
import type { LiveLabels } from '../../catalog/call-deps.ts';
import type { CallPolicy } from '../../catalog/call-policy.ts';
import type { Entry } from '../../catalog/listing.ts';
import { getEntryName } from '../toolsets/tool-index.ts';

/** The caller to assume. */
export interface AssumedCaller {
  readonly token: string;
  readonly toolset?: string | undefined;
}

/** What decisions are based on, besides the tool and the caller. */
export interface DecisionBasis {
  readonly policy: Pick<CallPolicy, 'of' | 'sourceOf'>;
  readonly identify: (token: string) => Promise<Identity>;
  readonly labels: Pick<LiveLabels, 'read'>;
}

export async function explainDecision(
  entry: Entry,
  { policy, labels: live, identify }: DecisionBasis,
  { token, toolset }: AssumedCaller,
): Promise<Decision> {
  const { server, name, definition } = entry;
  const tool = server.claims.policyToolOf(server.spec, name, definition);
  const labels = await live.read(token);
  const identity = await identify(token);
  const caller: PolicyCaller = { identity, toolset, labels, hasArguments: true };
  const [current, source] = [policy.of(identity), policy.sourceOf(identity)];
  const decided = current.decide({ ...caller, tool });
  const kind = decided?.kind ?? 'allow';
  return {
    tool: entry.key,
    namespacedName: getEntryName(entry),
    decision: kind,
    ...(decided?.kind === 'ask' && { per: decided.per }),
    isCarriedOut: kind === 'allow' || (kind === 'ask' && current.approvals === 'client'),
    reasons: (decided?.reasons ?? []).map((reason) => ({
      ...reason,
      text: formatPolicyReason(reason).join(' '),
    })),
    warnings: listHintWarnings(tool).map((warning) => formatWarning(warning).join(' ')),
    hints: HINTS.map((hint) => {
      const resolved = tool.hints[hint];
      const { code, text } = toDecisionReason(resolved);
      const isKnown = findTrustedValue(resolved) !== undefined;
      return { hint, value: resolved.decision.value, isKnown, reason: text, reasonCode: code };
    }),
    rules: (source?.rules ?? []).map((rule, index) => ({
      rule: getRuleName(rule, index),
      effect: rule.effect,
      applies: meetsRule(compileRule(rule, index), tool, caller),
    })),
    labels: [...labels],
    tags: tool.tags ?? [],
    ...(tool.confirm !== undefined && { confirm: tool.confirm }),
    ...(source !== undefined && { preferences: source.preferences }),
  };
}

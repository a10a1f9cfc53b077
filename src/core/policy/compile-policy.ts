import { HINTS } from '../hints/hint.ts';
import { reasonOf } from '../hints/reason.ts';
import type { Confirm } from '../confirm.ts';
import type {
  Decision,
  Policy,
  PolicyCaller,
  PolicyPreferences,
  PolicyReason,
  PolicyTool,
} from './policy.ts';
import { OUTBOUND_TAG } from './session-labels.ts';
import { type CompiledRule, compileRule, type PolicyRule, trustedValue } from './rule.ts';

export interface PolicySource {
  readonly preferences: PolicyPreferences;
  /** In the operator's order, which does not matter for the decision. */
  readonly rules: readonly PolicyRule[];
}

/** The decisions about one tool. */
type ToolPolicy = (caller: PolicyCaller) => Decision;

/**
 * The only place where calls are decided on. Precedence (docs/POLICY.md): anything that refuses; always-confirm for
 * destructive tools; session labels; a rule that asks; auto-approve for read-only tools; a rule that allows; the tool's
 * `confirm`; the default `confirm`.
 */
export function compilePolicy({ preferences, rules }: PolicySource): Policy {
  const compiled = rules.map(compileRule);
  const byTool = new WeakMap<PolicyTool, ToolPolicy>();
  const { approvals, approver, showWarnings, outbound } = preferences;
  return {
    approvals,
    approver,
    showWarnings,
    outbound,
    dependsOnLabels: (tool) => outbound !== 'allow' && carriesOut(tool),
    decide: (input) => {
      const { tool } = input;
      if (tool === undefined) return undefined;
      let decide = byTool.get(tool);
      if (decide === undefined) {
        decide = toolPolicy(tool, preferences, compiled);
        byTool.set(tool, decide);
      }
      return decide(input);
    },
  };
}

/** Precomputes whatever depends on the tool alone, so that most calls cost one lookup. */
function toolPolicy(
  tool: PolicyTool,
  preferences: PolicyPreferences,
  rules: readonly CompiledRule[],
): ToolPolicy {
  const matched = rules.filter(({ matchesTool }) => matchesTool(tool));
  const isForAll = matched.every(({ matchesCaller }) => matchesCaller === undefined);
  const mayLeak = preferences.outbound !== 'allow' && carriesOut(tool);
  const always = isForAll ? decisionOn({ tool, preferences, matched, isLeaking: false }) : undefined;
  if (always !== undefined && !mayLeak) return () => always;
  return (caller) => {
    const isLeaking = mayLeak && caller.labels.has('saw-untrusted') && caller.labels.has('saw-private');
    if (always !== undefined && !isLeaking) return always;
    const applying = matched.filter(({ matchesCaller }) => matchesCaller?.(caller) !== false);
    return decisionOn({ tool, preferences, matched: applying, isLeaking });
  };
}

interface DecisionInput {
  readonly tool: PolicyTool;
  readonly preferences: PolicyPreferences;
  /** The rules that apply. */
  readonly matched: readonly CompiledRule[];
  /** Whether the call could carry data out of a session that has both labels. */
  readonly isLeaking: boolean;
}

function decisionOn(given: DecisionInput): Decision {
  const { tool, preferences, matched } = given;
  const refusals = [...ruled(matched, 'refuse'), ...caution(given, 'refuse')];
  if (refusals.length > 0) return { kind: 'refuse', reasons: refusals };
  const asks = [...destructive(tool, preferences), ...caution(given, 'ask'), ...ruled(matched, 'ask')];
  if (asks.length > 0) return { kind: 'ask', per: 'call', reasons: asks };
  const { readOnlyHint } = tool.hints;
  if (preferences.autoApproveReadOnly && readOnlyHint.decision.value)
    return {
      kind: 'allow',
      reasons: [{ code: 'read_only', origin: reasonOf(readOnlyHint.decision.by).code }],
    };
  const allowing = ruled(matched, 'allow');
  if (allowing.length > 0) return { kind: 'allow', reasons: allowing };
  if (tool.server === undefined) return { kind: 'allow', reasons: [{ code: 'own_tool' }] };
  const { confirm } = tool;
  if (confirm === 'suspended') return { kind: 'ask', per: 'call', reasons: [{ code: 'confirm_suspended' }] };
  return confirm === undefined
    ? confirmed(preferences.confirm, { code: 'default_confirm', confirm: preferences.confirm })
    : confirmed(confirm, { code: 'tool_confirm', confirm });
}

function ruled(matched: readonly CompiledRule[], effect: PolicyRule['effect']): readonly PolicyReason[] {
  return matched.flatMap(({ rule, reason }) => (rule.effect === effect ? [reason] : []));
}

function destructive({ hints }: PolicyTool, preferences: PolicyPreferences): readonly PolicyReason[] {
  const { value, by } = hints.destructiveHint.decision;
  return preferences.alwaysConfirmDestructive && value
    ? [{ code: 'destructive', origin: reasonOf(by).code }]
    : [];
}

/** Session labels and missing hints, where the preferences give them this effect. */
function caution(
  { tool, preferences, isLeaking }: DecisionInput,
  effect: 'ask' | 'refuse',
): readonly PolicyReason[] {
  const reasons: PolicyReason[] = [];
  if (isLeaking && preferences.outbound === effect) reasons.push({ code: 'session_labels' });
  if (preferences.unannotated === effect && isUnannotated(tool)) reasons.push({ code: 'unannotated' });
  return reasons;
}

/** Only trusted claims count: an untrusted source could otherwise make its tools pass as annotated. */
export function isUnannotated({ hints }: PolicyTool): boolean {
  return HINTS.every((hint) => trustedValue(hints[hint]) === undefined);
}

function carriesOut({ hints: { openWorldHint, readOnlyHint }, tags = [] }: PolicyTool): boolean {
  return (openWorldHint.decision.value && !readOnlyHint.decision.value) || tags.includes(OUTBOUND_TAG);
}

function confirmed(confirm: Confirm, reason: PolicyReason): Decision {
  if (confirm === 'never') return { kind: 'allow', reasons: [reason] };
  return { kind: 'ask', per: confirm === 'always' ? 'call' : 'session', reasons: [reason] };
}

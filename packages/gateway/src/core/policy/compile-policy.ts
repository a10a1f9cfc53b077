import { HINTS } from '@assay-mcp/kit/hint';
import { toReason } from '../hints/reason.ts';
import type { ResolvedHint } from '../hints/resolve.ts';
import type { Confirm } from '../confirm.ts';
import { compileStops, type Stop } from '../stops.ts';
import type {
  AskedPer,
  Decision,
  Policy,
  PolicyCaller,
  PolicyPreferences,
  PolicyReason,
  PolicyTool,
} from './policy.ts';
import { OUTBOUND_TAG } from './session-labels.ts';
import { withUntrustedClaims } from './untrusted-claims.ts';
import { type CompiledRule, compileRule, type PolicyRule, findTrustedValue } from './rule.ts';

export interface PolicySource {
  readonly preferences: PolicyPreferences;
  /** In the operator's order, which does not matter for the decision. */
  readonly rules: readonly PolicyRule[];
  /** What operators have stopped. Absent: nothing. */
  readonly stops?: readonly Stop[] | undefined;
}

/** The decisions about one tool. */
type ToolPolicy = (caller: PolicyCaller) => Decision;

/**
 * The only place where calls are decided on. Precedence (docs/POLICY.md): a stop; anything that refuses; always-confirm for
 * destructive tools; session labels; a rule that asks; auto-approve for read-only tools; a rule that allows; the tool's
 * `confirm`; the default `confirm`.
 */
export function compilePolicy({ preferences, rules, stops = [] }: PolicySource): Policy {
  const findStop = compileStops(stops);
  const compiled = rules.map(compileRule);
  const byTool = new WeakMap<PolicyTool, ToolPolicy>();
  const { approvals, approver, showWarnings, outbound } = preferences;
  return {
    approvals,
    approver,
    showWarnings,
    outbound,
    enforcesLabels: enforcedLabels(preferences),
    dependsOnLabels: (tool) => outbound !== 'allow' && carryingOut(tool, preferences) !== 'never',
    decide: (input) => {
      const { tool } = input;
      if (tool === undefined) return undefined;
      let decide = byTool.get(tool);
      if (decide === undefined) {
        const stop = tool.server === undefined ? undefined : findStop(tool.server, tool.name);
        decide = stop === undefined ? explainingPolicy(tool, preferences, compiled) : stoppingPolicy(stop);
        byTool.set(tool, decide);
      }
      return decide(input);
    },
  };
}

/** Nothing that a caller or an operator says about single calls counts against a stop. */
function stoppingPolicy(stop: Stop): ToolPolicy {
  const decision: Decision = { kind: 'refuse', reasons: [{ code: 'stopped', stop }] };
  return () => decision;
}

/** On the pages a person chooses the arguments: labels count there if they count everywhere, or if an operator chose so. */
function enforcedLabels({
  approvals,
  outbound,
  isOutboundChosen,
}: PolicyPreferences): Policy['enforcesLabels'] {
  if (outbound === 'refuse' || (outbound === 'ask' && approvals === 'gateway')) return 'all';
  return outbound === 'ask' && isOutboundChosen ? 'from_pages' : 'none';
}

/** Says of calls that are not allowed what the server declares, if that would count if its hints were trusted. */
function explainingPolicy(
  tool: PolicyTool,
  preferences: PolicyPreferences,
  rules: readonly CompiledRule[],
): ToolPolicy {
  const decide = toolPolicy(tool, preferences, rules);
  if (tool.hintsIfTrusted === undefined) return decide;
  let ifTrusted: ToolPolicy | undefined;
  // Nearly always there is one decision for all calls of a tool.
  let last:
    { readonly plain: Decision; readonly trusted: Decision; readonly explained: Decision } | undefined;
  return (caller) => {
    const plain = decide(caller);
    if (plain.kind === 'allow') return plain;
    ifTrusted ??= toolPolicy(
      { ...tool, hints: tool.hintsIfTrusted?.() ?? tool.hints, hintsIfTrusted: undefined },
      preferences,
      rules,
    );
    const trusted = ifTrusted(caller);
    if (last?.plain !== plain || last.trusted !== trusted)
      last = { plain, trusted, explained: withUntrustedClaims(plain, tool, trusted) };
    return last.explained;
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
  const carries = preferences.outbound === 'allow' ? 'never' : carryingOut(tool, preferences);
  const mayLeak = carries !== 'never';
  const always = isForAll ? decisionOn({ tool, preferences, matched, isLeaking: false }) : undefined;
  if (always !== undefined && !mayLeak) return () => always;
  return (caller) => {
    const isLeaking =
      (carries === 'always' || (carries === 'with_arguments' && caller.hasArguments)) &&
      caller.labels.has('saw-untrusted') &&
      caller.labels.has('saw-private');
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
  if (asks.length > 0) return { kind: 'ask', per: askedPer(given, asks), reasons: asks };
  const { readOnlyHint } = tool.hints;
  if (preferences.autoApproveReadOnly && readOnlyHint.decision.value)
    return {
      kind: 'allow',
      reasons: [{ code: 'read_only', origin: toReason(readOnlyHint.decision.by).code }],
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
    ? [{ code: 'destructive', origin: toReason(by).code }]
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
  return HINTS.every((hint) => findTrustedValue(hints[hint]) === undefined);
}

/** If where data goes is the only reason to ask about each call, one answer can be for all calls to that server. */
function askedPer(given: DecisionInput, asks: readonly PolicyReason[]): AskedPer {
  const { server } = given.tool;
  if (server === undefined || asks.some(({ code }) => code !== 'session_labels')) return 'call';
  const rest = decisionOn({ ...given, isLeaking: false });
  return rest.kind === 'ask' && rest.per === 'call' ? 'call' : 'server';
}

/**
 * Which calls of a tool could carry data out (the table in docs/POLICY.md). A call without arguments that only reads
 * sends nothing; one that does not only read may publish what an earlier call has stored.
 */
function carryingOut(
  tool: PolicyTool,
  { trustObservations }: Pick<PolicyPreferences, 'trustObservations'>,
): 'never' | 'with_arguments' | 'always' {
  const { hints, tags = [], isConfined = false } = tool;
  if (tags.includes(OUTBOUND_TAG)) return 'always';
  const { openWorldHint, readOnlyHint } = hints;
  if (!openWorldHint.decision.value || isConfined) return 'never';
  if (trustObservations && isObservedInside(openWorldHint, tool.digest)) return 'never';
  return readOnlyHint.decision.value ? 'with_arguments' : 'always';
}

/** Whether a verification of this definition saw no request, and nobody says that the tool makes any. */
function isObservedInside({ decision, claims }: ResolvedHint, digest: string): boolean {
  return (
    decision.by.kind === 'default' &&
    claims.some(
      // The study's lower nothing.
      ({ kind, source, value, digest: seen }) =>
        kind === 'observed' && source !== 'study' && !value && seen === digest,
    )
  );
}

function confirmed(confirm: Confirm, reason: PolicyReason): Decision {
  if (confirm === 'never') return { kind: 'allow', reasons: [reason] };
  return { kind: 'ask', per: confirm === 'always' ? 'call' : 'session', reasons: [reason] };
}

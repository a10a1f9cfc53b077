import type { Hint } from '../hints/hint.ts';
import { type ReasonCode, toReason } from '../hints/reason.ts';
import type { ResolvedHint, ResolvedHints } from '../hints/resolve.ts';
import type { HintWarning, PolicyReason } from './policy.ts';

/** Why a decision was made, as a phrase. Operators' texts are quoted. */
export function formatPolicyReason(reason: PolicyReason): string {
  switch (reason.code) {
    case 'rule':
      return `the operator's rule ${JSON.stringify(reason.rule)} ${RULES[reason.effect]}${
        reason.because === undefined ? '' : `: ${JSON.stringify(reason.because)}`
      }`;
    case 'destructive':
      return `it may make destructive changes (${ORIGINS[reason.origin]}), and such calls are always confirmed`;
    case 'read_only':
      return `it only reads (${ORIGINS[reason.origin]}), and such calls are approved automatically`;
    case 'unannotated':
      return 'no trusted source states any of its hints';
    case 'session_labels':
      return 'it could carry data out of a session that has read untrusted content and private data';
    case 'tool_confirm':
      return `an operator set "confirm" of this tool to ${JSON.stringify(reason.confirm)}`;
    case 'confirm_suspended':
      return 'its definition has changed since an operator set "confirm", and waits for a review';
    case 'default_confirm':
      return `"policy.confirm" is ${JSON.stringify(reason.confirm)}`;
    case 'own_tool':
      return 'it is a tool of Assay itself';
    case 'preferences_unknown':
      return 'the preferences could not be read from the store';
  }
}

const RULES = { allow: 'allows it', ask: 'requires approval', refuse: 'refuses it' } as const;

/** What a hint is based on, without naming its author: clients read this. */
const ORIGINS: Readonly<Record<ReasonCode, string>> = {
  default: 'assumed, because no trusted source declares otherwise',
  implied_by_read_only: 'it follows from readOnlyHint',
  implied_by_destructive: 'it follows from destructiveHint',
  override: 'an operator set it',
  observed: 'it was observed',
  inferred: 'inferred',
  declared: 'declared',
  declared_by_server: 'its server declares it',
  declared_by_operator: 'an operator declares it',
  declared_by_config_file: 'the config file declares it',
  declared_by_document: 'its OpenAPI document declares it',
  declared_by_module: 'its function module declares it',
};

/**
 * The hints that a person should know before confirming a call: whether it destroys, only reads, or reaches outside.
 */
export function listHintWarnings({
  readOnlyHint,
  destructiveHint,
  openWorldHint,
}: ResolvedHints): readonly HintWarning[] {
  const about = readOnlyHint.decision.value
    ? [readOnlyHint]
    : destructiveHint.decision.value
      ? [destructiveHint]
      : [];
  return [...about, ...(openWorldHint.decision.value ? [openWorldHint] : [])].map(warningOf);
}

function warningOf({ hint, decision, contradiction }: ResolvedHint): HintWarning {
  const { value, by } = decision;
  const origin = toReason(by).code;
  return { hint, value, origin, ...(contradiction && { contradictedMs: contradiction.atMs }) };
}

/** A warning as a phrase: "it may make destructive changes (its server declares it)". */
export function formatWarning({ hint, origin, contradictedMs }: HintWarning): string {
  const contradicted =
    contradictedMs === undefined
      ? ''
      : `; what was observed on ${new Date(contradictedMs).toISOString().slice(0, DAY_LENGTH)} contradicts what it declares`;
  return `${WARNINGS[hint]} (${ORIGINS[origin]}${contradicted})`;
}

/** Length of a date such as `2026-11-23`. */
const DAY_LENGTH = 10;

/** A hint with its value and what it is based on: "readOnlyHint false (declared)". */
export function formatHint({ hint, value, origin }: Pick<HintWarning, 'hint' | 'value' | 'origin'>): string {
  return `${hint} ${value} (${ORIGINS[origin]})`;
}

const WARNINGS: Readonly<Record<Hint, string>> = {
  readOnlyHint: 'it only reads',
  destructiveHint: 'it may make destructive changes',
  idempotentHint: 'it can be repeated',
  openWorldHint: 'it may reach outside',
};

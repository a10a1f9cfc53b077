import { type DeclaredHints, HINTS } from '@assay-mcp/kit/hint';
import type { Claim } from '../../../src/core/hints/claim.ts';
import { resolveHints } from '../../../src/core/hints/resolve.ts';
import {
  NO_LABELS,
  type Decision,
  type PolicyCaller,
  type PolicyPreferences,
  type PolicyTool,
} from '../../../src/core/policy/policy.ts';
import { LOCAL_USER } from '../../../src/core/subject.ts';

/** The source of the tool's hints. */
export type Source = 'untrusted' | 'trusted' | 'override' | 'observed';

const DIGEST = 'd';
const VALUES = [true, false, undefined] as const;

/** All 3⁴ combinations of hints. */
export const ALL_HINTS: readonly DeclaredHints[] = HINTS.reduce<readonly DeclaredHints[]>(
  (made, hint) =>
    made.flatMap((hints) =>
      VALUES.map((value) => (value === undefined ? hints : { ...hints, [hint]: value })),
    ),
  [{}],
);

export function claimsOf(hints: DeclaredHints, source: Source): readonly Claim[] {
  return HINTS.flatMap((hint): readonly Claim[] => {
    const value = hints[hint];
    if (value === undefined) return [];
    const kind = source === 'override' || source === 'observed' ? source : 'declared';
    const mayLower = source === 'trusted' || source === 'override';
    const atMs = source === 'observed' ? 1 : 0;
    return [{ hint, value, kind, source: 'server', origin: 'x', atMs, digest: DIGEST, mayLower }];
  });
}

export function toolWith(
  claims: readonly Claim[],
  more: Partial<Omit<PolicyTool, 'hints'>> = {},
): PolicyTool {
  return { server: 's', name: 't', digest: DIGEST, hints: resolveHints(claims, DIGEST), ...more };
}

/** The default preferences. */
export const DEFAULT_PREFERENCES: PolicyPreferences = {
  approvals: 'client',
  approver: 'by_transport',
  autoApproveReadOnly: false,
  alwaysConfirmDestructive: true,
  showWarnings: true,
  unannotated: 'worst_case',
  confirm: 'first',
  outbound: 'allow',
  isOutboundChosen: true,
  trustObservations: false,
};

export function callerWith(more: Partial<PolicyCaller> = {}): PolicyCaller {
  return { identity: LOCAL_USER, toolset: undefined, labels: NO_LABELS, hasArguments: true, ...more };
}

/** `ask call: rule` */
export function shownDecision(decision: Decision | undefined): string {
  if (decision === undefined) return 'none';
  const { kind, reasons } = decision;
  const per = decision.kind === 'ask' ? ` ${decision.per}` : '';
  return `${kind}${per}: ${reasons.map(({ code }) => code).join(', ')}`;
}

/** 0 to 3, from allowed to refused. */
export function cautionOf(decision: Decision | undefined): number {
  if (decision?.kind === 'refuse') return 3;
  return decision?.kind === 'ask' ? (decision.per === 'call' ? 2 : 1) : 0;
}

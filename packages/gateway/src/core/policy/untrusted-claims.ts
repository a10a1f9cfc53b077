import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { Decision, PolicyReason, PolicyTool, UntrustedClaim } from './policy.ts';

/** The claim that says most about a tool, for a reason that depends on several hints. */
const BY_WEIGHT: readonly Hint[] = ['readOnlyHint', 'destructiveHint', 'openWorldHint', 'idempotentHint'];
/** The same where data may leave. */
const ON_LEAVING: readonly Hint[] = ['openWorldHint', 'readOnlyHint'];

/** The first of these hints that the server declares less cautiously than decisions assume it, because it is not trusted. */
export function findUntrustedClaim(
  { server, hints, hintsIfTrusted }: PolicyTool,
  among: readonly Hint[] = BY_WEIGHT,
): Omit<UntrustedClaim, 'isDecisive'> | undefined {
  const trusted = server === undefined ? undefined : hintsIfTrusted?.();
  if (server === undefined || trusted === undefined) return undefined;
  const hint = among.find((one) => {
    const { value, by } = trusted[one].decision;
    return value !== hints[one].decision.value && by.kind === 'claim';
  });
  return hint && { server, hint, value: trusted[hint].decision.value };
}

/**
 * Adds what the tool's server declares to the reasons that it contradicts. `ifTrusted`: the decision if its hints were
 * trusted.
 */
export function withUntrustedClaims(decision: Decision, tool: PolicyTool, ifTrusted: Decision): Decision {
  const isDecisive = rank(ifTrusted) < rank(decision);
  const reasons = decision.reasons.map((reason): PolicyReason => {
    if (!isDecisive && !isAssumption(reason)) return reason;
    const claim = findUntrustedClaim(tool, reason.code === 'session_labels' ? ON_LEAVING : BY_WEIGHT);
    return claim === undefined ? reason : { ...reason, untrusted: { ...claim, isDecisive } };
  });
  return { ...decision, reasons };
}

/** Whether the reason only says that no trusted source declares otherwise. */
function isAssumption(reason: PolicyReason): boolean {
  return reason.code === 'unannotated' || (reason.code === 'destructive' && reason.origin === 'default');
}

/** Higher asks more. */
export function rank(decision: Decision): number {
  if (decision.kind === 'allow') return 0;
  if (decision.kind === 'refuse') return 3;
  return decision.per === 'call' ? 2 : 1;
}

/** The server whose hints would have to be trusted for Assay to ask less. */
export function findDistrustedServer(reasons: readonly PolicyReason[]): string | undefined {
  return reasons.find(({ untrusted }) => untrusted?.isDecisive === true)?.untrusted?.server;
}

/** Whether a stored member can be read as an untrusted claim; it may be absent. */
export function isUntrustedClaim(value: unknown): boolean {
  if (value === undefined) return true;
  return (
    isJsonObject(value) &&
    typeof value['server'] === 'string' &&
    HINTS.some((hint) => hint === value['hint']) &&
    typeof value['value'] === 'boolean' &&
    typeof value['isDecisive'] === 'boolean'
  );
}

import { HINTS } from '@assay-mcp/kit/hint';
import { allows, type Identity } from '../../core/subject.ts';
import type { HintClaim, Tool, ToolHint } from '../../api/tool.ts';
import type { StoredAuditEvent } from '../../gateway/ports/records.ts';

/*
 * Evidence names what calls did, so it contains arguments of other callers: directly, and in the paths and hosts of
 * their effects. Like the arguments in the record of calls, it is shown only to the scope `admin`. Everyone else sees
 * the verdicts.
 */

/** A tool as this caller may see it. What the study observed is public: no caller's arguments are in it. */
export function hideToolEvidence(identity: Identity, tool: Tool): Tool {
  if (allows(identity, 'admin')) return tool;
  const { verification } = tool;
  const shown = { ...tool, hints: hideHintEvidence(identity, tool.hints) };
  return verification === undefined
    ? shown
    : { ...shown, verification: { ...verification, hints: withoutEvidence(verification.hints) } };
}

/** The same for its hints alone. */
export function hideHintEvidence(identity: Identity, hints: Tool['hints']): Tool['hints'] {
  if (allows(identity, 'admin')) return hints;
  const hide = hider(hints);
  const hidden = HINTS.map((hint): [string, ToolHint] => {
    const view = hints[hint];
    return [hint, { ...view, reason: hide(view.reason), claims: view.claims.map(claimWithoutEvidence) }];
  });
  return Object.fromEntries(hidden) as Tool['hints']; // every hint was visited
}

/** Sentences about hints, in which a reason may quote what was observed. */
export function hideReasonEvidence<H extends { readonly reason: string }>(
  identity: Identity,
  reasons: readonly H[],
  hints: Tool['hints'],
): readonly H[] {
  if (allows(identity, 'admin')) return reasons;
  const hide = hider(hints);
  return reasons.map((one) => ({ ...one, reason: hide(one.reason) }));
}

/** An audit event without the effect that it reports. */
export function hideEventEvidence(identity: Identity, event: StoredAuditEvent): StoredAuditEvent {
  if (allows(identity, 'admin') || !REPORTS_EFFECT.has(event.action)) return event;
  const { before, after, ...rest } = event;
  return rest;
}

const REPORTS_EFFECT: ReadonlySet<string> = new Set(['tool.contradict', 'tool.deny']);

function withoutEvidence(
  hints: NonNullable<Tool['verification']>['hints'],
): NonNullable<Tool['verification']>['hints'] {
  const kept = HINTS.flatMap((hint) => {
    const observed = hints[hint];
    if (observed === undefined) return [];
    const { evidence, ...rest } = observed;
    return [[hint, rest] as const];
  });
  return Object.fromEntries(kept);
}

function claimWithoutEvidence(claim: HintClaim): HintClaim {
  if (claim.kind !== 'observed' || claim.source === 'study') return claim;
  const { reason, ...rest } = claim;
  return rest;
}

/** Removes from a sentence what observed claims say. */
function hider(hints: Tool['hints']): (text: string) => string {
  const observed = HINTS.flatMap((hint) => hints[hint].claims)
    .filter(({ kind, source, reason }) => kind === 'observed' && source !== 'study' && reason !== undefined)
    .map(({ reason = '' }) => `: ${reason}`);
  return (text) => observed.reduce((shown, reason) => shown.replaceAll(reason, ''), text);
}

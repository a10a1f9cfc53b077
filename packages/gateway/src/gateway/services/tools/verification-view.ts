import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { ObservedHint, ToolVerification } from '../../../api/verification.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import type {
  ObservedHint as StoredHint,
  ToolVerification as StoredVerification,
} from '../../../core/hints/tool-verification.ts';
import { UNOBSERVED_TEXTS } from '@assay-mcp/kit/verification/texts';

export function toVerificationView(
  verification: StoredVerification,
  currentDigest: string,
): ToolVerification {
  const { digest, atMs, author, server, mechanisms, hints, keepsState } = verification;
  const views = HINTS.flatMap((hint) => {
    const observed = hints[hint];
    return observed === undefined ? [] : [[hint, observedHintView(observed)] as const];
  });
  return {
    isCurrent: digest === currentDigest,
    digest,
    at: timeOf(atMs),
    by: author,
    server,
    mechanisms,
    hints: Object.fromEntries(views),
    ...(keepsState && { keepsState }),
  };
}

function observedHintView({ kind, atMs, evidence, reason, ...amounts }: StoredHint): ObservedHint {
  return {
    verdict: kind,
    at: timeOf(atMs),
    ...withoutUndefined(amounts),
    ...(reason !== undefined && { reason: reasonText(reason) }),
    ...(evidence !== undefined && {
      evidence: evidence.map(({ atMs: sinceMs, ...effect }) => ({ ...effect, at: timeOf(sinceMs) })),
    }),
  };
}

/** A newer version of Assay may have stored a reason that this one does not know. */
function reasonText(code: string): string {
  return Object.entries(UNOBSERVED_TEXTS).find(([known]) => known === code)?.[1] ?? code;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

import { type Hint, HINTS } from '../../../core/hints/hint.ts';
import type {
  ObservedEffect,
  ObservedHint,
  ToolVerification,
} from '../../../core/hints/tool-verification.ts';
import { UNOBSERVED_TEXTS } from '../../../core/verification/texts.ts';

/** What verifications observed about a tool, as in the REST API. */
export interface VerificationView {
  /** Whether it is about the current definition. Otherwise it has no effect on decisions. */
  readonly isCurrent: boolean;
  readonly digest: string;
  readonly at: string;
  /** Who started it. */
  readonly by: string;
  readonly server: ToolVerification['server'];
  readonly mechanisms: readonly string[];
  readonly hints: Readonly<Partial<Record<Hint, ObservedHintView>>>;
  readonly keepsState?: boolean | undefined;
}

export interface ObservedHintView extends Omit<ObservedHint, 'kind' | 'atMs' | 'evidence'> {
  readonly verdict: ObservedHint['kind'];
  readonly at: string;
  readonly evidence?: readonly ObservedEffectView[] | undefined;
}

export interface ObservedEffectView extends Omit<ObservedEffect, 'atMs'> {
  readonly at: string;
}

export function verificationView(verification: ToolVerification, currentDigest: string): VerificationView {
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

function observedHintView({ kind, atMs, evidence, reason, ...amounts }: ObservedHint): ObservedHintView {
  return {
    verdict: kind,
    at: timeOf(atMs),
    ...amounts,
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

import { DEFAULTS, type Hint, HINTS } from '@assay-mcp/kit/hint';
import type { Claim } from './claim.ts';

/** What verifications observed of one definition of a tool. Holds for no other definition. */
export interface ToolVerification {
  /** SHA-256 of the definition. */
  readonly digest: string;
  /** When the last verification started. */
  readonly atMs: number;
  /** Who started it. */
  readonly author: string;
  readonly server: VerifiedServer;
  /** The mechanisms that observed the server. */
  readonly mechanisms: readonly string[];
  readonly hints: Readonly<Partial<Record<Hint, ObservedHint>>>;
  /** Set if equal calls got different answers, and a new process answered as the first one did. */
  readonly keepsState?: boolean | undefined;
}

/** The server's name and version as it reports them. */
export interface VerifiedServer {
  readonly name: string;
  readonly version: string;
  /** Digest of the program's files that its command names. */
  readonly packageDigest: string;
}

/** The verdict about one hint: see `Verdict` in core/verification. */
export interface ObservedHint {
  readonly kind: (typeof OBSERVED_KINDS)[number];
  readonly atMs: number;
  /** Number of successful calls, and of different shapes of their arguments, if `consistent`. */
  readonly calls?: number | undefined;
  readonly shapes?: number | undefined;
  /** The first effects, if `contradicted` or `supported`. */
  readonly evidence?: readonly ObservedEffect[] | undefined;
  /** Code of the reason, if `unobserved`. */
  readonly reason?: string | undefined;
}

/** One effect of one call. Texts are masked and shortened. */
export interface ObservedEffect {
  readonly effect: string;
  /** Such as `deleted /data/notes.txt`. */
  readonly message: string;
  /** File, address or host. */
  readonly target: string;
  /** Number of the call with these arguments, from 1. */
  readonly call: number;
  /** JSON text of the arguments, or its start. */
  readonly args: string;
  readonly atMs: number;
}

export const OBSERVED_KINDS = [
  'contradicted',
  'consistent',
  'supported',
  'not_exercised',
  'not_applicable',
  'unobserved',
] as const;

/** The verdicts that claim the cautious value. */
const CAUTIOUS: ReadonlySet<ObservedHint['kind']> = new Set(['contradicted', 'supported']);

/**
 * The verification as claims. An observation that contradicts a hint, or supports the cautious value, claims the
 * cautious value; consistent calls claim the other one, which never decides.
 */
export function toObservedClaims(verification: ToolVerification | undefined): readonly Claim[] {
  if (verification === undefined) return [];
  const { digest, author, hints } = verification;
  return HINTS.flatMap((hint): readonly Claim[] => {
    const observed = hints[hint];
    if (observed === undefined) return [];
    const { kind, atMs } = observed;
    const isCautious = CAUTIOUS.has(kind);
    if (!isCautious && kind !== 'consistent') return [];
    const claim = {
      kind: 'observed',
      source: 'verification',
      origin: author,
      digest,
      mayLower: false,
    } as const;
    return [
      { ...claim, hint, atMs, value: isCautious ? DEFAULTS[hint] : !DEFAULTS[hint], reason: whyOf(observed) },
    ];
  });
}

function whyOf({ kind, calls = 0, evidence = [] }: ObservedHint): string {
  const [first] = evidence;
  return kind === 'consistent' || first === undefined
    ? `${calls} ${calls === 1 ? 'call' : 'calls'} did nothing else`
    : first.message;
}

/**
 * The verification to keep after a new one of the tool. Effects observed earlier for the same definition are kept: not
 * observing them again does not lower caution.
 */
export function mergeVerification(
  before: ToolVerification | undefined,
  now: ToolVerification,
): ToolVerification {
  if (before?.digest !== now.digest) return now;
  const hints = HINTS.flatMap((hint) => {
    const [earlier, latest] = [before.hints[hint], now.hints[hint]];
    const isKept =
      earlier !== undefined &&
      CAUTIOUS.has(earlier.kind) &&
      (latest === undefined || !CAUTIOUS.has(latest.kind));
    const kept = isKept ? earlier : latest;
    return kept === undefined ? [] : [[hint, kept] as const];
  });
  const keepsState = before.keepsState ?? now.keepsState;
  return { ...now, hints: Object.fromEntries(hints), ...(keepsState && { keepsState }) };
}

import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import type { ObservedEffect, ObservedHint, ToolVerification } from './tool-verification.ts';
import type { VerifyReport } from '@assay-mcp/kit/verification/report';
import type { Evidence, ToolReport, Verdict } from '@assay-mcp/kit/verification/verdict';
import { shorten } from '@assay-mcp/kit/shorten';

const MAX_EVIDENCE = 3;
const MAX_TEXT_LENGTH = 300;
const MAX_ARGS_LENGTH = 500;
const MAX_MECHANISMS = 20;

interface Verified {
  readonly report: Pick<VerifyReport, 'server' | 'startedMs' | 'mechanisms'>;
  /** Who started the verification. */
  readonly author: string;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
}

/** What to keep of the report on a tool: at most about 10 kB. */
export function toToolVerification(
  { digest, verdicts, signals }: Pick<ToolReport, 'digest' | 'verdicts' | 'signals'>,
  { report, author, mask }: Verified,
): ToolVerification {
  const { name, version, packageDigest } = report.server;
  const shown = (text: string, length: number): string => shorten(mask(text), length);
  const observed = (hint: Hint): ObservedHint => observedHint(verdicts[hint], report.startedMs, shown);
  return {
    digest,
    atMs: report.startedMs,
    author: shorten(author, MAX_TEXT_LENGTH),
    server: {
      name: shown(name, MAX_TEXT_LENGTH),
      version: shown(version, MAX_TEXT_LENGTH),
      packageDigest,
    },
    mechanisms: report.mechanisms.slice(0, MAX_MECHANISMS),
    hints: Object.fromEntries(HINTS.map((hint) => [hint, observed(hint)])),
    ...(signals.some(({ kind }) => kind === 'in_process_state') && { keepsState: true }),
  };
}

type Shown = (text: string, length: number) => string;

function observedHint(verdict: Verdict, atMs: number, shown: Shown): ObservedHint {
  switch (verdict.kind) {
    case 'contradicted':
    case 'supported': {
      const evidence = verdict.evidence.slice(0, MAX_EVIDENCE).map((one) => effectOf(one, shown));
      return { kind: verdict.kind, atMs, evidence };
    }
    case 'consistent':
      return { kind: 'consistent', atMs, calls: verdict.calls, shapes: verdict.shapes };
    case 'unobserved':
      return { kind: 'unobserved', atMs, reason: verdict.reason };
    default:
      return { kind: verdict.kind, atMs };
  }
}

function effectOf({ effect, message, target, call, args, atMs }: Evidence, shown: Shown): ObservedEffect {
  return {
    effect,
    message: shown(message, MAX_TEXT_LENGTH),
    target: shown(target, MAX_TEXT_LENGTH),
    call,
    args: shown(JSON.stringify(args), MAX_ARGS_LENGTH),
    atMs,
  };
}

/** A topic that `assay doctor` checks. */
export type Check =
  'config' | 'node' | 'commands' | 'servers' | 'names' | 'hints' | 'isolation' | 'sandbox' | 'disk';

/** In display order. */
export const CHECKS: readonly Check[] = [
  'config',
  'node',
  'commands',
  'servers',
  'names',
  'hints',
  'isolation',
  'sandbox',
  'disk',
];

interface FindingBase {
  readonly check: Check;
  /** The server, file or folder concerned. */
  readonly about: string;
  /** Code of the underlying cause, report or warning, if there is one. */
  readonly code?: string;
  /** One sentence: what was found and why it matters. Never a secret. */
  readonly message: string;
}

/**
 * The result of one check. A `note` is worth knowing, a `warning` may cause trouble later, a `problem` causes it now;
 * each of these has a remedy.
 */
export type Finding =
  | (FindingBase & { readonly level: 'ok' })
  | (FindingBase & { readonly level: 'note' | 'warning' | 'problem'; readonly remedy: string });

export type Level = Finding['level'];

/** All findings, and whether the config has at least one usable server. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly hasUsableConfig: boolean;
  /** Why no server was started. `gateway`: the gateway of this home is running. Absent: they were started. */
  readonly notStarted?: 'offline' | 'gateway' | undefined;
}

const WORST_FIRST: readonly Level[] = ['problem', 'warning', 'note', 'ok'];

/** Sorts by check, then by severity, worst first. The sort is stable. */
export function sortFindings(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ check, level }: Finding): number =>
    CHECKS.indexOf(check) * WORST_FIRST.length + WORST_FIRST.indexOf(level);
  return findings.toSorted((one, other) => rank(one) - rank(other));
}

export function countFindings(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}

export type Outcome = 'done' | 'failed' | 'config';

/** The outcome as a key of EXIT. Warnings fail only in strict mode. */
export function computeOutcome({ findings, hasUsableConfig }: Diagnosis, isStrict: boolean): Outcome {
  if (!hasUsableConfig) return 'config';
  const failing: readonly Level[] = isStrict ? ['problem', 'warning'] : ['problem'];
  return findings.some(({ level }) => failing.includes(level)) ? 'failed' : 'done';
}

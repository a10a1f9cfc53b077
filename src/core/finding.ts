/** One matter that `assay doctor` looks at. */
export type Check = 'config' | 'node' | 'commands' | 'servers' | 'names' | 'hints' | 'isolation' | 'disk';

/** In the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  'config',
  'node',
  'commands',
  'servers',
  'names',
  'hints',
  'isolation',
  'disk',
];

interface Said {
  readonly check: Check;
  /** The server, file or folder that it is about. */
  readonly about: string;
  /** Of the cause, the report or the warning in it, where it is about one. */
  readonly code?: string;
  /** One sentence: what is, and why that matters. Never a secret. */
  readonly says: string;
}

/**
 * What was found in one check. A `note` is worth knowing, a `warning` may hurt some day, a `problem` hurts now; each of
 * these says what to do.
 */
export type Finding =
  | (Said & { readonly level: 'ok' })
  | (Said & { readonly level: 'note' | 'warning' | 'problem'; readonly remedy: string });

export type Level = Finding['level'];

/** All findings, and whether there is a config with at least one server that can be tried. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly hasUsableConfig: boolean;
}

const WORST_FIRST: readonly Level[] = ['problem', 'warning', 'note', 'ok'];

/** By check, and within a check the worst first; findings of one level stay in their order. */
export function ordered(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ check, level }: Finding): number =>
    CHECKS.indexOf(check) * WORST_FIRST.length + WORST_FIRST.indexOf(level);
  return findings.toSorted((one, other) => rank(one) - rank(other));
}

export function countOf(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}

export type Outcome = 'done' | 'failed' | 'config';

/** What the exit code says, as a key of EXIT. Warnings fail only where that was asked for. */
export function outcomeOf({ findings, hasUsableConfig }: Diagnosis, isStrict: boolean): Outcome {
  if (!hasUsableConfig) return 'config';
  const failing: readonly Level[] = isStrict ? ['problem', 'warning'] : ['problem'];
  return findings.some(({ level }) => failing.includes(level)) ? 'failed' : 'done';
}

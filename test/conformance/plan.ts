/** The requirements of one revision, as the suite names them. */
export type SetName = '2025-06-18' | '2025-11-25' | '2026-07-28';

export interface RequirementSet {
  readonly name: SetName;
  /** What selects it on the command line of the suite. */
  readonly args: readonly string[];
}

/** The suite froze no requirements of 2025-06-18: all scenarios that fit it take their place. */
export const SETS: readonly RequirementSet[] = [
  { name: '2025-06-18', args: ['--suite', 'all', '--spec-version', '2025-06-18'] },
  { name: '2025-11-25', args: ['--requirements', '2025-11-25'] },
  { name: '2026-07-28', args: ['--requirements', '2026-07-28'] },
];

/**
 * Who is under test: the everything server itself; Assay in front of it, where it serves both eras or one alone;
 * Assay as a client of the suite's own servers.
 */
export const WAYS = ['direct', 'through', 'to legacy', 'to modern', 'as client'] as const;
export type Way = (typeof WAYS)[number];

/** The requirements of one revision, as the suite names them. */
export type SetName = '2025-06-18' | '2025-11-25' | '2026-07-28';

export interface RequirementSet {
  readonly name: SetName;
  /** The option that selects it on the suite's command line. */
  readonly args: readonly string[];
}

/** The suite froze no requirements of 2025-06-18: all scenarios that fit it take their place. */
export const SETS: readonly RequirementSet[] = [
  { name: '2025-06-18', args: ['--suite', 'all', '--spec-version', '2025-06-18'] },
  { name: '2025-11-25', args: ['--requirements', '2025-11-25'] },
  { name: '2026-07-28', args: ['--requirements', '2026-07-28'] },
];

/**
 * What is under test: the everything server itself; Assay in front of it, serving both eras or only one; Assay as a
 * client of the suite's own servers.
 */
export const WAYS = ['direct', 'through', 'to legacy', 'to modern', 'as client'] as const;
export type Way = (typeof WAYS)[number];

import { beforeAll, describe, expect, it } from 'vitest';
import { endLater } from '../support/endings.ts';
import { tempDir } from '../support/paths.ts';
import { findingsOf } from './findings.ts';
import { SETS, WAYS, type Way } from './plan.ts';
import { Programs } from './programs.ts';
import { runConformance, type Outcome } from './run-conformance.ts';

/** Far longer than a run; it only ends one that hangs. */
const LIMIT_MS = 600_000;

const PASSED_DIRECTLY = { '2025-06-18': 56, '2025-11-25': 84, '2026-07-28': 148 } as const;

const SENTENCES: Readonly<Record<Way, string>> = {
  direct: 'passes with the everything server itself, but for tasks',
  through: 'passes through Assay as it passes directly',
  'to legacy': 'passes through Assay where the server behind it speaks the legacy era alone',
  'to modern': 'passes through Assay where the server behind it speaks the modern era alone',
  'as client': 'passes with Assay as the client of its own servers',
};

describe('the official conformance suite, except for entries of the baseline,', () => {
  let outcomes: readonly Outcome[] = [];
  beforeAll(async () => {
    const programs = new Programs();
    endLater(() => programs.end());
    outcomes = await runConformance({ programs, folder: tempDir(), ways: WAYS, sets: SETS });
  }, LIMIT_MS);

  it.each(WAYS.map((way) => [SENTENCES[way], way] as const))('%s', (_sentence, way) => {
    const here = outcomes.filter((outcome) => outcome.way === way);
    expect(here.length).toBeGreaterThan(0);
    expect(here.flatMap(findingsOf)).toEqual([]);
  });

  it('makes as many checks directly as before, since a scenario that is not run cannot fail', () => {
    const direct = outcomes.filter(({ way }) => way === 'direct');
    expect(direct.map(({ set, passed }) => [set, passed])).toEqual(
      SETS.map(({ name }) => [name, PASSED_DIRECTLY[name]]),
    );
  });
});

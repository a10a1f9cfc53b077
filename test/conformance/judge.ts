import type { Check } from './checks.ts';
import type { SetName, Way } from './plan.ts';

/** Checks that do not pass, and why that is not a failure of the run. */
export interface BaselineLine {
  readonly ways: readonly Way[];
  readonly sets: readonly SetName[];
  /** `auth/*` matches all names with that prefix. */
  readonly scenario: string;
  /** `*` matches all checks of the scenario. */
  readonly checks: readonly string[];
  /** For people. */
  readonly reason: string;
}

/** A check that should pass and does not. */
export interface Shortfall {
  readonly scenario: string;
  readonly check: string;
  readonly said: string;
}

export interface Judgement {
  /** Not in the baseline: each fails the run. */
  readonly unexpected: readonly Shortfall[];
  /** In the baseline. */
  readonly excused: readonly Shortfall[];
  /** Entries of the baseline without effect: the check passes, or does not exist. */
  readonly stale: readonly Excuse[];
}

/** One check of a baseline line, in one mode and suite. */
export interface Excuse {
  readonly scenario: string;
  readonly check: string;
  readonly reason: string;
}

/** The checks that failed. */
export function failuresIn(checks: readonly Check[]): readonly Shortfall[] {
  return checks
    .filter(({ verdict }) => verdict === 'failed')
    .map(({ scenario, id, said }) => ({ scenario, check: id, said }));
}

/** The checks that pass directly and not as well through Assay. */
export function lostBetween(direct: readonly Check[], through: readonly Check[]): readonly Shortfall[] {
  return direct
    .filter(({ verdict }) => verdict === 'passed')
    .flatMap((before) => {
      const { scenario, id } = before;
      const beside = through.filter((check) => check.scenario === scenario);
      const said = lossOf(before, beside);
      return said === undefined ? [] : [{ scenario, check: id, said }];
    });
}

export function judge(
  shortfalls: readonly Shortfall[],
  lines: readonly BaselineLine[],
  { way, set }: { readonly way: Way; readonly set: SetName },
): Judgement {
  const excuses = lines
    .filter(({ ways, sets }) => ways.includes(way) && sets.includes(set))
    .flatMap(({ scenario, checks, reason }) => checks.map((check) => ({ scenario, check, reason })));
  const isExcused = (shortfall: Shortfall): boolean => excuses.some((excuse) => fits(excuse, shortfall));
  return {
    unexpected: shortfalls.filter((shortfall) => !isExcused(shortfall)),
    excused: shortfalls.filter(isExcused),
    stale: excuses.filter((excuse) => !shortfalls.some((shortfall) => fits(excuse, shortfall))),
  };
}

/** The explanation if the check does not pass; undefined if it passes. */
function lossOf({ id, passes }: Check, through: readonly Check[]): string | undefined {
  const after = through.find((check) => check.id === id);
  if (after === undefined) {
    const others = failuresIn(through).map(({ check, said }) => ` ${check}: ${said}`);
    return `It is not reported.${others.join('')}`;
  }
  if (after.verdict === 'failed') return after.said;
  if (after.verdict === 'unsaid') return `It comes to no verdict: ${after.said}`;
  if (after.passes < passes) return `It passes ${String(after.passes)} times instead of ${String(passes)}.`;
  return undefined;
}

function fits(excuse: Excuse, { scenario, check }: Shortfall): boolean {
  return isCalled(excuse.scenario, scenario) && isCalled(excuse.check, check);
}

function isCalled(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The suite's result for one check in one scenario; occurrences of the same id are one check. */
export interface Check {
  readonly scenario: string;
  readonly id: string;
  /** `unsaid`: the suite gave information, or skipped it. */
  readonly verdict: 'passed' | 'failed' | 'unsaid';
  /** How many of its occurrences passed. */
  readonly passes: number;
  /** The suite's messages for the occurrences that did not pass. */
  readonly said: string;
}

/** Reads the suite's report of one scenario. A warning counts as a failure: it means a violated SHOULD. */
export function readChecks(scenario: string, text: string): readonly Check[] {
  const byId = Map.groupBy(JSON.parse(text) as readonly Written[], ({ id }) => id);
  return [...byId].map(([id, all]) => {
    const passes = all.filter(({ status }) => status === 'SUCCESS').length;
    const failures = all.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    const verdict = failures.length > 0 ? 'failed' : passes > 0 ? 'passed' : 'unsaid';
    const spoken = failures.length > 0 ? failures : all.filter(({ status }) => status !== 'SUCCESS');
    return { scenario, id, verdict, passes, said: unique(spoken.map(wordsOf)).join('; ') };
  });
}

/** A scenario that came to no end has one check, which failed. */
export function brokenScenario(scenario: string, said: string): Check {
  return { scenario, id: 'scenario-ends', verdict: 'failed', passes: 0, said };
}

/** One entry of a `checks.json`, as far as it is used. */
interface Written {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly description: string;
  readonly errorMessage?: string;
  readonly details?: { readonly message?: unknown };
}

function wordsOf({ description, errorMessage, details }: Written): string {
  if (errorMessage !== undefined) return errorMessage;
  return typeof details?.message === 'string' ? details.message : description;
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

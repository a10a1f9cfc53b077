import type { Outcome } from './run-conformance.ts';

/** All that fails the run, as sentences for people. */
export function findingsOf({ way, set, unexpected, stale }: Outcome): readonly string[] {
  return [
    ...unexpected.map(
      ({ scenario, check, said }) =>
        `${way} · ${set} · ${scenario} · ${check} does not pass. The suite: ${said}`,
    ),
    ...stale.map(
      ({ scenario, check, reason }) =>
        `${way} · ${set} · ${scenario} · ${check} stands in the baseline, but no such check fails. ` +
        `Take it out there. Its reason was: ${reason}`,
    ),
  ];
}

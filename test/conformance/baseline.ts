import type { BaselineLine } from './judge.ts';
import type { Way } from './plan.ts';

const THROUGH: readonly Way[] = ['through', 'to legacy', 'to modern'];
/** Checks that are meaningless in this mode, with the reason. */
export const BASELINE: readonly BaselineLine[] = [
  {
    ways: ['direct'],
    sets: ['2026-07-28'],
    scenario: 'tasks-*',
    checks: ['*'],
    reason: 'The server SDK serves no tasks. The suite does not score these scenarios.',
  },
  {
    ways: THROUGH,
    sets: ['2025-11-25'],
    scenario: 'server-sse-multiple-streams',
    checks: ['server-sse-streams-functional'],
    reason: 'Assay answers a list as JSON, which the suite allows: there are no streams to judge.',
  },
  {
    ways: ['through', 'to modern'],
    sets: ['2025-11-25'],
    scenario: 'server-sse-polling',
    checks: ['server-sse-disconnect-resume'],
    reason: 'A modern server cannot have a stream resumed, so it closes none in the middle of a call.',
  },
  {
    ways: ['to legacy'],
    sets: ['2025-11-25'],
    scenario: 'server-sse-polling',
    checks: ['server-sse-disconnect-resume'],
    reason:
      'Assay takes up what the server closed, and its client’s own stream stays open: there is nothing to resume.',
  },
  {
    ways: ['to legacy'],
    sets: ['2026-07-28'],
    scenario: 'server-stateless',
    checks: ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
    reason: 'A legacy server has no error that names a capability which the client did not declare.',
  },
  {
    ways: ['to legacy'],
    sets: ['2026-07-28'],
    scenario: 'input-required-result-basic-elicitation',
    checks: ['sep-2322-elicitation-incomplete', 'sep-2322-elicitation-complete'],
    reason: 'The suite looks for a key of the server, and the question of a legacy server has none.',
  },
  ...['auth/dpop*', 'auth/enterprise-managed-authorization', 'auth/wif-jwt-bearer'].map(
    (scenario): BaselineLine => ({
      ways: ['as client'],
      sets: ['2025-11-25', '2026-07-28'],
      scenario,
      checks: ['*'],
      reason: 'An extension of authorization that Assay does not speak; the suite does not score it.',
    }),
  ),
];

import type { BaselineLine } from './judge.ts';
import type { SetName, Way } from './plan.ts';

const THROUGH: readonly Way[] = ['through', 'to legacy', 'to modern'];
/** The sets that the suite tests as a client of the legacy era. */
const LEGACY: readonly SetName[] = ['2025-06-18', '2025-11-25'];

/** What cannot mean anything in this way, and stays. */
const LASTING: readonly BaselineLine[] = [
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
    checks: ['server-sse-priming-event', 'server-sse-retry-field', 'server-sse-disconnect-resume'],
    reason:
      'A modern server says nothing before this result and cannot have a stream resumed: ' +
      'Assay answers as JSON, and there is no stream to judge.',
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
];

const ASKING = 'Questions of servers do not reach clients.';
const SUBSCRIBING = 'Subscriptions to resources are not relayed.';
const RESUMING = 'Streams have no event ids and are not resumed.';
const MIRRORING = 'Mcp-Param headers are neither checked nor sent.';

/** What Assay does not do yet. A line goes when the run says that its check passes. */
const NOT_BUILT_YET: readonly BaselineLine[] = [
  {
    ways: THROUGH,
    sets: LEGACY,
    scenario: 'tools-call-sampling',
    checks: ['tools-call-sampling'],
    reason: ASKING,
  },
  {
    ways: THROUGH,
    sets: LEGACY,
    scenario: 'tools-call-elicitation',
    checks: ['tools-call-elicitation'],
    reason: ASKING,
  },
  {
    ways: THROUGH,
    sets: ['2025-11-25'],
    scenario: 'elicitation-sep1034-defaults',
    checks: [
      'elicitation-sep1034-string-default',
      'elicitation-sep1034-integer-default',
      'elicitation-sep1034-number-default',
      'elicitation-sep1034-enum-default',
      'elicitation-sep1034-boolean-default',
    ],
    reason: ASKING,
  },
  {
    ways: THROUGH,
    sets: ['2025-11-25'],
    scenario: 'elicitation-sep1330-enums',
    checks: [
      'elicitation-sep1330-untitled-single',
      'elicitation-sep1330-titled-single',
      'elicitation-sep1330-legacy-enumnames',
      'elicitation-sep1330-untitled-multi',
      'elicitation-sep1330-titled-multi',
    ],
    reason: ASKING,
  },
  ...toLegacy({
    'input-required-result-basic-list-roots': [
      'sep-2322-list-roots-incomplete',
      'sep-2322-list-roots-complete',
    ],
    'input-required-result-basic-sampling': ['sep-2322-sampling-incomplete', 'sep-2322-sampling-complete'],
    'input-required-result-capability-check': ['sep-2322-respect-client-capabilities'],
    'input-required-result-missing-input-response': ['sep-2322-missing-response-rerequests'],
    'input-required-result-multi-round': [
      'sep-2322-multi-round-r1',
      'sep-2322-multi-round-r2',
      'sep-2322-multi-round-r3',
    ],
    'input-required-result-multiple-input-requests': [
      'sep-2322-multiple-inputs-incomplete',
      'sep-2322-multiple-inputs-complete',
    ],
    'input-required-result-non-tool-request': ['sep-2322-non-tool-incomplete', 'sep-2322-non-tool-complete'],
    'input-required-result-request-state': [
      'sep-2322-request-state-incomplete',
      'sep-2322-request-state-complete',
    ],
    'input-required-result-result-type': ['sep-2322-result-type-included'],
    'input-required-result-tampered-state': ['sep-2322-reject-tampered-state'],
    'input-required-result-validate-input': [
      'sep-2322-validate-input-responses',
      'sep-2322-error-on-protocol-error',
    ],
  }),
  {
    ways: THROUGH,
    sets: LEGACY,
    scenario: 'resources-subscribe',
    checks: ['resources-subscribe'],
    reason: SUBSCRIBING,
  },
  {
    ways: THROUGH,
    sets: LEGACY,
    scenario: 'resources-unsubscribe',
    checks: ['resources-unsubscribe'],
    reason: SUBSCRIBING,
  },
  {
    ways: ['through', 'to modern'],
    sets: LEGACY,
    scenario: 'tools-call-with-logging',
    checks: ['tools-call-with-logging'],
    reason: 'The level that a legacy client sets does not reach a modern server.',
  },
  {
    ways: ['to legacy'],
    sets: ['2025-11-25'],
    scenario: 'server-sse-polling',
    checks: ['server-sse-priming-event', 'server-sse-retry-field'],
    reason: RESUMING,
  },
  {
    ways: ['to legacy'],
    sets: ['2025-11-25'],
    scenario: 'server-sse-polling',
    checks: ['server-sse-disconnect-resume'],
    reason:
      'Assay does not take up a stream that its server closed. ' +
      'When it does, its client’s own stays open, there is nothing to resume, and this line lasts.',
  },
  {
    ways: ['through', 'to modern'],
    sets: ['2026-07-28'],
    scenario: 'http-custom-header-server-validation',
    checks: [
      'sep-2243-server-decode-base64',
      'sep-2243-server-reject-invalid-param-chars',
      'sep-2243-server-validate-param-match',
    ],
    reason: MIRRORING,
  },
  {
    ways: ['to legacy'],
    sets: ['2026-07-28'],
    scenario: 'http-custom-header-server-validation',
    checks: [
      'sep-2243-server-reject-invalid-param-chars',
      'sep-2243-server-reject-param-mismatch',
      'sep-2243-server-validate-param-match',
    ],
    reason: MIRRORING,
  },
  {
    ways: THROUGH,
    sets: ['2026-07-28'],
    scenario: 'server-stateless',
    checks: ['sep-2575-server-unsupported-version-error'],
    reason: 'Error -32022 lists the legacy revisions too, which server/discover does not.',
  },
  {
    ways: THROUGH,
    sets: ['2026-07-28'],
    scenario: 'server-stateless',
    checks: ['sep-2575-http-server-header-mismatch-400'],
    reason: 'A revision that differs from the header is refused as unknown before it is compared.',
  },
  {
    ways: ['through', 'to modern'],
    sets: ['2026-07-28'],
    scenario: 'server-stateless',
    checks: ['sep-2575-missing-capability-http-400'],
    reason: 'A relayed error has the HTTP status 200, whatever its code.',
  },
  ...asClient('2025-11-25', ASKING, {
    'elicitation-sep1034-client-defaults': [
      'client-elicitation-sep1034-general',
      'client-elicitation-sep1034-string-default',
      'client-elicitation-sep1034-integer-default',
      'client-elicitation-sep1034-number-default',
      'client-elicitation-sep1034-enum-default',
      'client-elicitation-sep1034-boolean-default',
    ],
  }),
  ...asClient('2025-11-25', RESUMING, {
    'sse-retry': ['client-sse-retry-timing', 'client-sse-last-event-id'],
  }),
  ...asClient('2026-07-28', MIRRORING, {
    'http-custom-headers': [
      'sep-2243-client-supports-custom-headers',
      'sep-2243-client-mirrors-designated-params',
      'sep-2243-client-encode-values',
      'sep-2243-client-base64-unsafe',
    ],
  }),
  ...asClient('2026-07-28', 'Tools with an invalid x-mcp-header stay in the list.', {
    'http-invalid-tool-headers': [
      'sep-2243-x-mcp-header-not-empty',
      'sep-2243-x-mcp-header-primitive-only',
      'sep-2243-x-mcp-header-unique',
      'sep-2243-x-mcp-header-charset',
    ],
  }),
  {
    ways: ['as client'],
    sets: ['2025-11-25', '2026-07-28'],
    scenario: 'auth/*',
    checks: ['*'],
    reason: 'Assay does not sign in to servers.',
  },
];

export const BASELINE: readonly BaselineLine[] = [...LASTING, ...NOT_BUILT_YET];

type ChecksByScenario = Readonly<Record<string, readonly string[]>>;

function toLegacy(scenarios: ChecksByScenario): readonly BaselineLine[] {
  return Object.entries(scenarios).map(([scenario, checks]) => ({
    ways: ['to legacy'],
    sets: ['2026-07-28'],
    scenario,
    checks,
    reason: ASKING,
  }));
}

function asClient(set: SetName, reason: string, scenarios: ChecksByScenario): readonly BaselineLine[] {
  return Object.entries(scenarios).map(([scenario, checks]) => ({
    ways: ['as client'],
    sets: [set],
    scenario,
    checks,
    reason,
  }));
}

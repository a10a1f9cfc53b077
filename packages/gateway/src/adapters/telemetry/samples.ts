import type { Decision } from '../../core/policy/policy.ts';
import type { DroppedKind, RelayEnding, Readings } from '../../gateway/ports/telemetry.ts';
import { type Histogram, type MethodTally, TOOL_OUTCOMES, type ToolTally } from './tally.ts';

export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** All of Assay's own metrics. A test compares them with the table in docs/RUNBOOK.md. */
export const METRICS: readonly Metric[] = [
  {
    name: 'assay_requests_total',
    type: 'counter',
    labels: ['server', 'method', 'outcome', 'code'],
    help: 'Completed requests by outcome: ok, error (the server returned an error), or refused, with the error code. The server label is empty for configuration tools and for requests that were refused before their server was known.',
  },
  {
    name: 'assay_request_duration_seconds',
    type: 'histogram',
    labels: ['server', 'method', 'le'],
    help: 'Time from the arrival of a request at the gateway to its completion, including time spent waiting.',
  },
  {
    name: 'assay_requests_in_flight',
    type: 'gauge',
    labels: ['server'],
    help: 'Requests in progress, including queued ones.',
  },
  {
    name: 'assay_calls_in_flight',
    type: 'gauge',
    labels: [],
    help: 'Calls of tools in progress on this replica, including queued ones. For autoscaling.',
  },
  {
    name: 'assay_tool_calls_total',
    type: 'counter',
    labels: ['server', 'tool', 'outcome'],
    help: 'Calls of tools by outcome: ok, tool_error (the result has isError), error (the server returned an error), input_required, or refused. The server label is empty for configuration tools.',
  },
  {
    name: 'assay_tool_call_duration_seconds',
    type: 'histogram',
    labels: ['server', 'tool', 'le'],
    help: 'Time from the arrival of a call at the gateway to its completion, by tool. Fewer buckets than for requests.',
  },
  {
    name: 'assay_decisions_total',
    type: 'counter',
    labels: ['decision'],
    help: 'Decisions on calls of tools: allow, ask or refuse. With approvals "client", a call decided "ask" is still sent: asking the user is left to the client.',
  },
  {
    name: 'assay_retries_total',
    type: 'counter',
    labels: ['server', 'outcome'],
    help: 'Requests that were sent to the server again after it was not reached or the connection was lost: answered, or failed again.',
  },
  {
    name: 'assay_cached_calls_total',
    type: 'counter',
    labels: ['server'],
    help: 'Calls of tools that were answered from the cache of results, without the server.',
  },
  {
    name: 'assay_unrecorded_calls_total',
    type: 'counter',
    labels: [],
    help: 'Calls of tools that are missing in the call record, as the store did not take them in time.',
  },
  {
    name: 'assay_pending_approvals',
    type: 'gauge',
    labels: [],
    help: 'Calls that wait for approval in the inbox. The same on all replicas; absent while the store cannot be read.',
  },
  {
    name: 'assay_oldest_pending_approval_seconds',
    type: 'gauge',
    labels: [],
    help: 'How long the oldest of these calls has been waiting; 0 if there is none.',
  },
  {
    name: 'assay_stops',
    type: 'gauge',
    labels: ['kind'],
    help: 'What operators have stopped with assay disable, by kind: all_calls (0 or 1), server or tool. The same on all replicas.',
  },
  {
    name: 'assay_refused_credentials_total',
    type: 'counter',
    labels: ['code'],
    help: 'HTTP requests that were refused for their credentials, by error code: TOKEN_REQUIRED (no token, or not a valid one), TOO_MANY_FAILURES or ISSUER_UNAVAILABLE. Browsers without a sign-in do not count.',
  },
  {
    name: 'assay_server_sign_in_failures_total',
    type: 'counter',
    labels: ['server', 'cause'],
    help: 'Connections to a server that failed because Assay is not signed in to it, by the code of the cause.',
  },
  {
    name: 'assay_store_operation_duration_seconds',
    type: 'histogram',
    labels: ['operation', 'le'],
    help: 'Time that a read or a write of the store took, including its wait for earlier ones.',
  },
  {
    name: 'assay_store_failures_total',
    type: 'counter',
    labels: ['operation'],
    help: 'Reads and writes that the store could not carry out.',
  },
  {
    name: 'assay_store_fault',
    type: 'gauge',
    labels: ['code'],
    help: 'Always 1; present while the store has a fault: its code, such as STORE_MOVED or STORE_NOT_FOLLOWED (this replica does not hear the others).',
  },
  {
    name: 'assay_ready',
    type: 'gauge',
    labels: [],
    help: 'Whether this replica can take requests, as /ready says: 1, or 0 if it is unavailable.',
  },
  {
    name: 'assay_dropped_telemetry_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Spans, metrics, logs and events that were dropped because they could not be delivered in time.',
  },
  {
    name: 'assay_queue_length',
    type: 'gauge',
    labels: ['server'],
    help: 'Requests queued for a server.',
  },
  { name: 'assay_server_up', type: 'gauge', labels: ['server'], help: 'Whether the server is up: 1 or 0.' },
  {
    name: 'assay_server_state',
    type: 'gauge',
    labels: ['server', 'state'],
    help: 'State of the server: 1 for its current state, 0 for all others.',
  },
  {
    name: 'assay_server_restarts_total',
    type: 'counter',
    labels: ['server'],
    help: 'Restarts of the server, whether successful or not.',
  },
  { name: 'assay_sessions', type: 'gauge', labels: [], help: 'Open sessions of the older revisions.' },
  { name: 'assay_connections', type: 'gauge', labels: [], help: 'Open connections of HTTP clients.' },
  {
    name: 'assay_subscriptions',
    type: 'gauge',
    labels: [],
    help: 'Open subscriptions of clients of revision 2026-07-28.',
  },
  {
    name: 'assay_suspended_calls',
    type: 'gauge',
    labels: [],
    help: 'Calls waiting for a client of revision 2026-07-28 to return with the input that the server asked for.',
  },
  {
    name: 'assay_private_links',
    type: 'gauge',
    labels: ['server'],
    help: 'Server processes or sessions that are dedicated to a single client.',
  },
  {
    name: 'assay_build_info',
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1; the label is the version of Assay.',
  },
];

/** One line of a metric. `metricName` is set if it differs from the metric's own, as in a histogram. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** Requests that were sent again to one server, by outcome. */
export interface Retries {
  answered: number;
  failed: number;
}

export interface SampleSources {
  readonly version: string;
  readonly readings: Readings;
  readonly tallies: readonly MethodTally[];
  readonly decisions: Readonly<Record<Decision['kind'], number>>;
  /** By server. */
  readonly retries: ReadonlyMap<string, Readonly<Retries>>;
  /** Calls answered from the cache, by server. */
  readonly cached: ReadonlyMap<string, number>;
  readonly unrecorded: number;
  readonly tools: readonly ToolTally[];
  /** Refused requests by error code. */
  readonly refusedClients: ReadonlyMap<string, number>;
  /** Failed connections by server and code of the cause. */
  readonly notSignedIn: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly store: Readonly<Record<'read' | 'write', StoreTally>>;
  readonly dropped: Readonly<Record<DroppedKind, number>>;
}

/** Reads or writes of the store. */
export interface StoreTally {
  readonly durations: Histogram;
  failures: number;
}

type Lines = readonly (readonly [metric: string, samples: readonly Sample[]])[];

/** The lines of each metric, by metric name. */
export function collectSamples(sources: SampleSources): ReadonlyMap<string, readonly Sample[]> {
  return new Map<string, readonly Sample[]>([
    ...collectCalls(sources),
    ...collectServers(sources),
    ...collectClients(sources),
    ...collectStore(sources),
  ]);
}

function collectCalls({ tallies, tools, decisions, retries, cached, unrecorded }: SampleSources): Lines {
  const inProgress = tallies.reduce(
    (sum, one) => (one.method === 'tools/call' ? sum + one.inFlight : sum),
    0,
  );
  return [
    ['assay_requests_total', tallies.flatMap(requestsOf)],
    ['assay_request_duration_seconds', tallies.flatMap(durationsOf)],
    ['assay_calls_in_flight', [toSample(inProgress)]],
    ['assay_tool_calls_total', tools.flatMap(toolCallsOf)],
    [
      'assay_tool_call_duration_seconds',
      tools.flatMap(({ server, tool, durations }) =>
        histogramOf('assay_tool_call_duration_seconds', { server, tool }, durations),
      ),
    ],
    [
      'assay_decisions_total',
      Object.entries(decisions).map(([decision, value]) => toSample(value, { decision })),
    ],
    [
      'assay_retries_total',
      [...retries].flatMap(([server, counted]) =>
        Object.entries(counted).map(([outcome, value]: [string, number]) =>
          toSample(value, { server, outcome }),
        ),
      ),
    ],
    ['assay_cached_calls_total', [...cached].map(([server, value]) => toSample(value, { server }))],
    ['assay_unrecorded_calls_total', [toSample(unrecorded)]],
  ];
}

function collectServers({ readings, tallies, notSignedIn }: SampleSources): Lines {
  const { servers, states } = readings;
  const inFlight = (server: string): number =>
    tallies.reduce((sum, tally) => (tally.server === server ? sum + tally.inFlight : sum), 0);
  const ofServers = (read: (server: (typeof servers)[number]) => number | undefined): readonly Sample[] =>
    servers.flatMap((server) => {
      const value = read(server);
      return value === undefined ? [] : [toSample(value, { server: server.name })];
    });
  return [
    ['assay_requests_in_flight', ofServers(({ name }) => inFlight(name))],
    ['assay_queue_length', ofServers(({ waiting }) => waiting)],
    ['assay_server_up', ofServers(({ state }) => Number(state === 'up'))],
    [
      'assay_server_state',
      servers.flatMap(({ name, state }) =>
        states.map((one) => toSample(Number(one === state), { server: name, state: one })),
      ),
    ],
    ['assay_server_restarts_total', ofServers(({ restarts }) => restarts)],
    ['assay_private_links', ofServers(({ privateLinks }) => privateLinks)],
    [
      'assay_server_sign_in_failures_total',
      [...notSignedIn].flatMap(([server, causes]) =>
        [...causes].map(([cause, value]) => toSample(value, { server, cause })),
      ),
    ],
  ];
}

function collectClients({ version, readings, refusedClients }: SampleSources): Lines {
  const { sessions, connections, subscriptions, suspendedCalls, approvals, stops } = readings;
  return [
    ['assay_sessions', [toSample(sessions)]],
    ['assay_connections', [toSample(connections)]],
    ['assay_subscriptions', [toSample(subscriptions)]],
    ['assay_suspended_calls', [toSample(suspendedCalls)]],
    ['assay_pending_approvals', approvals === undefined ? [] : [toSample(approvals.count)]],
    [
      'assay_oldest_pending_approval_seconds',
      approvals === undefined ? [] : [toSample(approvals.oldestMs / 1_000)],
    ],
    ['assay_stops', Object.entries(stops).map(([kind, value]) => toSample(value, { kind }))],
    [
      'assay_refused_credentials_total',
      [...refusedClients].map(([code, value]) => toSample(value, { code })),
    ],
    ['assay_build_info', [toSample(1, { version })]],
  ];
}

function collectStore({ readings, store, dropped }: SampleSources): Lines {
  const { storeFault, isReady } = readings;
  const operations = Object.entries(store);
  return [
    [
      'assay_store_operation_duration_seconds',
      operations.flatMap(([operation, { durations }]) =>
        histogramOf('assay_store_operation_duration_seconds', { operation }, durations),
      ),
    ],
    [
      'assay_store_failures_total',
      operations.map(([operation, { failures }]) => toSample(failures, { operation })),
    ],
    ['assay_store_fault', storeFault === undefined ? [] : [toSample(1, { code: storeFault })]],
    ['assay_ready', [toSample(Number(isReady))]],
    [
      'assay_dropped_telemetry_total',
      Object.entries(dropped).map(([kind, value]) => toSample(value, { kind })),
    ],
  ];
}

function toSample(value: number, labels: Sample['labels'] = {}): Sample {
  return { labels, value };
}

function requestsOf({ server, method, endings }: MethodTally): readonly Sample[] {
  return [...endings].map(([ending, value]) => ({ labels: { server, method, ...labelsOf(ending) }, value }));
}

function labelsOf(ending: RelayEnding): Readonly<Record<string, string>> {
  return ending === 'ok' || ending === 'error' ? { outcome: ending } : { outcome: 'refused', code: ending };
}

function toolCallsOf({ server, tool, outcomes }: ToolTally): readonly Sample[] {
  return TOOL_OUTCOMES.flatMap((outcome) => {
    const { count: value } = outcomes[outcome];
    return value === 0 ? [] : [{ labels: { server, tool, outcome }, value }];
  });
}

function durationsOf({ server, method, durations }: MethodTally): readonly Sample[] {
  return histogramOf('assay_request_duration_seconds', { server, method }, durations);
}

/** Buckets are cumulative: each counts all durations up to its bound. */
function histogramOf(
  metric: string,
  labels: Readonly<Record<string, string>>,
  { bounds, buckets, sumMs }: Histogram,
): readonly Sample[] {
  let count = 0;
  const bounded = [...bounds, '+Inf'].map((le, index) => {
    count += buckets[index] ?? 0;
    return { labels: { le, ...labels }, value: count, metricName: `${metric}_bucket` };
  });
  return [
    ...bounded,
    { labels, value: sumMs / 1_000, metricName: `${metric}_sum` },
    { labels, value: count, metricName: `${metric}_count` },
  ];
}

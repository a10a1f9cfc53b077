import type { Decision } from '../../core/policy/policy.ts';
import type { RelayEnding, Readings } from '../../gateway/ports/telemetry.ts';
import { BUCKETS_S, type MethodTally } from './tally.ts';

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
}

/** The lines of each metric, by metric name. */
export function collectSamples(sources: SampleSources): ReadonlyMap<string, readonly Sample[]> {
  const { version, readings, tallies, decisions, retries, cached, unrecorded } = sources;
  const { servers, states } = readings;
  const inFlight = (server: string): number =>
    tallies.reduce((sum, tally) => (tally.server === server ? sum + tally.inFlight : sum), 0);
  const ofServers = (read: (server: (typeof servers)[number]) => number | undefined): readonly Sample[] =>
    servers.flatMap((server) => {
      const value = read(server);
      return value === undefined ? [] : [{ labels: { server: server.name }, value }];
    });
  return new Map<string, readonly Sample[]>([
    ['assay_requests_total', tallies.flatMap(requestsOf)],
    ['assay_request_duration_seconds', tallies.flatMap(durationsOf)],
    ['assay_requests_in_flight', ofServers(({ name }) => inFlight(name))],
    [
      'assay_decisions_total',
      Object.entries(decisions).map(([decision, value]) => ({ labels: { decision }, value })),
    ],
    [
      'assay_retries_total',
      [...retries].flatMap(([server, counted]) =>
        Object.entries(counted).map(([outcome, value]: [string, number]) => ({
          labels: { server, outcome },
          value,
        })),
      ),
    ],
    ['assay_cached_calls_total', [...cached].map(([server, value]) => ({ labels: { server }, value }))],
    ['assay_unrecorded_calls_total', [{ labels: {}, value: unrecorded }]],
    ['assay_queue_length', ofServers(({ waiting }) => waiting)],
    ['assay_server_up', ofServers(({ state }) => Number(state === 'up'))],
    [
      'assay_server_state',
      servers.flatMap(({ name, state }) =>
        states.map((one) => ({ labels: { server: name, state: one }, value: Number(one === state) })),
      ),
    ],
    ['assay_server_restarts_total', ofServers(({ restarts }) => restarts)],
    ['assay_sessions', [{ labels: {}, value: readings.sessions }]],
    ['assay_connections', [{ labels: {}, value: readings.connections }]],
    ['assay_subscriptions', [{ labels: {}, value: readings.subscriptions }]],
    ['assay_suspended_calls', [{ labels: {}, value: readings.suspendedCalls }]],
    ['assay_private_links', ofServers(({ privateLinks }) => privateLinks)],
    ['assay_build_info', [{ labels: { version }, value: 1 }]],
  ]);
}

function requestsOf({ server, method, endings }: MethodTally): readonly Sample[] {
  return [...endings].map(([ending, value]) => ({ labels: { server, method, ...labelsOf(ending) }, value }));
}

function labelsOf(ending: RelayEnding): Readonly<Record<string, string>> {
  return ending === 'ok' || ending === 'error' ? { outcome: ending } : { outcome: 'refused', code: ending };
}

/** Buckets are cumulative: each counts all durations up to its bound. */
function durationsOf({ server, method, buckets, sumMs }: MethodTally): readonly Sample[] {
  const metric = 'assay_request_duration_seconds';
  const labels = { server, method };
  let count = 0;
  const bounded = [...BUCKETS_S, '+Inf'].map((le, index) => {
    count += buckets[index] ?? 0;
    return { labels: { le, ...labels }, value: count, metricName: `${metric}_bucket` };
  });
  return [
    ...bounded,
    { labels, value: sumMs / 1_000, metricName: `${metric}_sum` },
    { labels, value: count, metricName: `${metric}_count` },
  ];
}

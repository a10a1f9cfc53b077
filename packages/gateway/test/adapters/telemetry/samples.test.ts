import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { METRICS, collectSamples } from '../../../src/adapters/telemetry/samples.ts';
import { Histogram, MethodTally, STORE_BUCKETS_S, ToolTally } from '../../../src/adapters/telemetry/tally.ts';

const RUNBOOK = readFileSync(new URL('../../../../../docs/RUNBOOK.md', import.meta.url), 'utf8');

it('the runbook documents each metric, with its type, labels and meaning', () => {
  const rows = METRICS.map(({ name, type, labels, help }) => {
    const shown = labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  expect(RUNBOOK.split('\n').filter((line) => line.startsWith('| `assay_'))).toEqual(rows);
});

/** Everything that the tests are not about. */
function emptySources() {
  return {
    tools: [],
    refusedClients: new Map<string, number>(),
    notSignedIn: new Map<string, ReadonlyMap<string, number>>(),
    store: { read: openStoreTally(), write: openStoreTally() },
    dropped: { spans: 0, metrics: 0, logs: 0, events: 0 },
  };
}

const openStoreTally = () => ({ durations: new Histogram(STORE_BUCKETS_S), failures: 0 });

it('every metric has samples with exactly its documented labels', () => {
  const tally = new MethodTally('a', 'tools/call');
  tally.end('ok', tally.begin());
  tally.end('error', tally.begin());
  tally.end('SERVER_TIMEOUT', tally.begin());
  tally.begin();
  const tool = new ToolTally('a', 'echo');
  tool.count('ok', 1);
  tool.count('refused', 700);
  const samples = collectSamples({
    version: '1',
    readings: {
      servers: [{ name: 'a', state: 'up', restarts: 2, waiting: 3, privateLinks: 4 }],
      states: ['up', 'backoff'],
      sessions: 1,
      connections: 2,
      subscriptions: 3,
      suspendedCalls: 5,
      stops: { all_calls: 0, server: 1, tool: 2 },
      isReady: true,
      storeFault: 'STORE_MOVED',
      approvals: { count: 2, oldestMs: 90_000 },
    },
    tallies: [tally],
    decisions: { allow: 1, ask: 2, refuse: 3 },
    retries: new Map([['a', { answered: 1, failed: 2 }]]),
    cached: new Map([['a', 1]]),
    unrecorded: 4,
    ...emptySources(),
    tools: [tool],
    refusedClients: new Map([['TOKEN_REQUIRED', 3]]),
    notSignedIn: new Map([['a', new Map([['TOKEN_EXPIRED', 2]])]]),
  });
  for (const { name, labels } of METRICS) {
    const given = new Set((samples.get(name) ?? []).flatMap((sample) => Object.keys(sample.labels)));
    expect([name, [...given].sort()]).toEqual([name, [...labels].sort()]);
    expect(samples.get(name)?.length).toBeGreaterThan(0);
  }
  expect(samples.get('assay_server_restarts_total')).toEqual([{ labels: { server: 'a' }, value: 2 }]);
  expect(samples.get('assay_queue_length')).toEqual([{ labels: { server: 'a' }, value: 3 }]);
  expect(samples.get('assay_unrecorded_calls_total')).toEqual([{ labels: {}, value: 4 }]);
  expect(samples.get('assay_decisions_total')).toContainEqual({ labels: { decision: 'ask' }, value: 2 });
  expect(samples.get('assay_suspended_calls')).toEqual([{ labels: {}, value: 5 }]);
  expect(samples.get('assay_stops')).toContainEqual({ labels: { kind: 'tool' }, value: 2 });
  expect(samples.get('assay_calls_in_flight')).toEqual([{ labels: {}, value: 1 }]);
  expect(samples.get('assay_tool_calls_total')).toEqual([
    { labels: { server: 'a', tool: 'echo', outcome: 'ok' }, value: 1 },
    { labels: { server: 'a', tool: 'echo', outcome: 'refused' }, value: 1 },
  ]);
  expect(samples.get('assay_oldest_pending_approval_seconds')).toEqual([{ labels: {}, value: 90 }]);
  expect(samples.get('assay_server_sign_in_failures_total')).toEqual([
    { labels: { server: 'a', cause: 'TOKEN_EXPIRED' }, value: 2 },
  ]);
  expect(samples.get('assay_store_fault')).toEqual([{ labels: { code: 'STORE_MOVED' }, value: 1 }]);
  expect(samples.get('assay_private_links')).toEqual([{ labels: { server: 'a' }, value: 4 }]);
});

it('what is not known has no sample: the queue of a server without one, approvals without a store', () => {
  const readings = {
    servers: [{ name: 'a', state: 'up', restarts: 0, waiting: undefined, privateLinks: 0 }],
    states: [],
    sessions: 0,
    connections: 0,
    subscriptions: 0,
    suspendedCalls: 0,
    stops: { all_calls: 0, server: 0, tool: 0 },
    isReady: false,
    storeFault: undefined,
    approvals: undefined,
  };
  const samples = collectSamples({
    version: '1',
    readings,
    tallies: [],
    decisions: { allow: 0, ask: 0, refuse: 0 },
    retries: new Map(),
    cached: new Map(),
    unrecorded: 0,
    ...emptySources(),
  });
  expect(samples.get('assay_queue_length')).toEqual([]);
  expect(samples.get('assay_pending_approvals')).toEqual([]);
  expect(samples.get('assay_store_fault')).toEqual([]);
  expect(samples.get('assay_ready')).toEqual([{ labels: {}, value: 0 }]);
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { METRICS, collectSamples } from '../../../src/adapters/telemetry/samples.ts';
import { MethodTally } from '../../../src/adapters/telemetry/tally.ts';

const RUNBOOK = readFileSync(new URL('../../../../../docs/RUNBOOK.md', import.meta.url), 'utf8');

it('the runbook documents each metric, with its type, labels and meaning', () => {
  const rows = METRICS.map(({ name, type, labels, help }) => {
    const shown = labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  expect(RUNBOOK.split('\n').filter((line) => line.startsWith('| `assay_'))).toEqual(rows);
});

it('every metric has samples with exactly its documented labels', () => {
  const tally = new MethodTally('a', 'tools/call');
  tally.end('ok', tally.begin());
  tally.end('error', tally.begin());
  tally.end('SERVER_TIMEOUT', tally.begin());
  const samples = collectSamples({
    version: '1',
    readings: {
      servers: [{ name: 'a', state: 'up', restarts: 2, waiting: 3, privateLinks: 4 }],
      states: ['up', 'backoff'],
      sessions: 1,
      connections: 2,
      subscriptions: 3,
      suspendedCalls: 5,
    },
    tallies: [tally],
    decisions: { allow: 1, ask: 2, refuse: 3 },
    retries: new Map([['a', { answered: 1, failed: 2 }]]),
    cached: new Map([['a', 1]]),
    unrecorded: 4,
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
  expect(samples.get('assay_private_links')).toEqual([{ labels: { server: 'a' }, value: 4 }]);
});

it('a server without a queue has no queue length', () => {
  const readings = {
    servers: [{ name: 'a', state: 'up', restarts: 0, waiting: undefined, privateLinks: 0 }],
    states: [],
    sessions: 0,
    connections: 0,
    subscriptions: 0,
    suspendedCalls: 0,
  };
  const samples = collectSamples({
    version: '1',
    readings,
    tallies: [],
    decisions: { allow: 0, ask: 0, refuse: 0 },
    retries: new Map(),
    cached: new Map(),
    unrecorded: 0,
  });
  expect(samples.get('assay_queue_length')).toEqual([]);
});

// A soak of replicas as tables: the checks first, then what became of the calls.
import { median, quantile } from '../../statistics.ts';
import { drawBox, drawMarkdown, type Table } from '../../table.ts';
import type { CallRecord } from './calls.ts';
import type { ReplicaSoak, ReplicaSoakOptions } from './soak-replicas.ts';

export interface ReplicaSoakResults extends ReplicaSoak, Omit<ReplicaSoakOptions, 'earlierMain'> {
  readonly upgradeFrom: string | undefined;
  readonly startedAt: string;
  readonly node: string;
  readonly platform: string;
  readonly counts: Readonly<Record<string, number>>;
  /** The first unexpected results. */
  readonly objections: readonly string[];
}

export function replicaSoakForTerminal(results: ReplicaSoakResults): string {
  const notes = notesOf(results).join('\n');
  return [heading(results), ...tablesOf(results).map(drawBox), notes, ''].join('\n\n');
}

export function replicaSoakForMarkdown(results: ReplicaSoakResults): string {
  const counts: Table = {
    title: 'All that was done',
    head: ['what', 'times'],
    rows: Object.entries(results.counts).map(([what, times]) => [what, String(times)]),
  };
  const notes = notesOf(results).map((note) => `- ${note}`);
  const tables = [...tablesOf(results), counts].map(drawMarkdown);
  return ['# Soak of replicas', heading(results), ...tables, notes.join('\n'), ''].join('\n\n');
}

function heading(results: ReplicaSoakResults): string {
  const { startedAt, minutes, seed, node, platform, replicas, isNginx, upgradeFrom } = results;
  const faults = upgradeFrom === undefined ? '' : `, upgraded from ${upgradeFrom} and rolled back`;
  const balancer = isNginx ? 'nginx' : 'round robin';
  return `${startedAt}, Node ${node}, ${platform}, ${String(replicas)} replicas behind ${balancer}${faults}, ${String(minutes)} minutes, seed ${String(seed)}`;
}

function tablesOf({ checks, records, clients }: ReplicaSoakResults): readonly Table[] {
  const callsByClient = Map.groupBy(records, ({ client }) => client.replace(/ (?:\w|visitor \d+)$/, ''));
  return [
    {
      title: 'Verdict',
      head: ['what', 'seen', ''],
      rows: checks.map(({ what, seen, holds }) => [what, String(seen), holds ? 'holds' : 'BROKEN']),
    },
    {
      title: `Calls of ${String(clients)} clients`,
      head: [
        'client',
        'calls',
        'answered',
        'repeated',
        'effect unknown',
        'lost',
        'p50 ms',
        'p99 ms',
        'max ms',
      ],
      rows: [...callsByClient].map(([client, calls]) => rowOf(client, calls)),
    },
  ];
}

function rowOf(client: string, calls: readonly CallRecord[]): readonly string[] {
  const count = (isCounted: (call: CallRecord) => boolean): string => String(calls.filter(isCounted).length);
  const tookMs = calls.map((call) => call.tookMs);
  return [
    client,
    String(calls.length),
    count(({ outcome }) => outcome.kind === 'answered'),
    count(({ attempts }) => attempts > 1),
    count(({ outcome }) => outcome.kind === 'effect_unknown'),
    count(({ outcome }) => outcome.kind === 'lost' || outcome.kind === 'wrong'),
    (median(tookMs) ?? NaN).toFixed(0),
    (quantile(tookMs, 0.99) ?? NaN).toFixed(0),
    (quantile(tookMs, 1) ?? NaN).toFixed(0),
  ];
}

function notesOf({ checks, objections }: ReplicaSoakResults): readonly string[] {
  const examples = checks.flatMap(({ what, examples }) => examples.map((one) => `${what}: ${one}`));
  return [...examples, ...objections.map((one) => `UNEXPECTED: ${one}`)];
}

// A soak as tables: the verdict first, then the samples, then the counts of all results.
import { drawBox, drawMarkdown, type Table } from '../table.ts';
import type { Sample } from './resource-sampler.ts';
import { checkResources, type Soaked } from './check-resources.ts';

export interface SoakResults extends Soaked {
  readonly startedAt: string;
  readonly minutes: number;
  readonly isQuick: boolean;
  readonly isHostile: boolean;
  readonly seed: number;
  readonly node: string;
  readonly platform: string;
  readonly counts: Readonly<Record<string, number>>;
  /** The first unexpected results. */
  readonly objections: readonly string[];
}

const MAX_ROWS = 24;

export function soakForTerminal(results: SoakResults): string {
  return [heading(results), ...tablesOf(results).map(drawBox), notesOf(results).join('\n'), ''].join('\n\n');
}

export function soakForMarkdown(results: SoakResults): string {
  const notes = notesOf(results).map((note) => `- ${note}`);
  const head = `# Soak\n\n${heading(results)}`;
  return [head, ...[...tablesOf(results), allCounts(results)].map(drawMarkdown), notes.join('\n'), ''].join(
    '\n\n',
  );
}

function heading({ startedAt, minutes, seed, node, platform }: SoakResults): string {
  return `${startedAt}, Node ${node}, ${platform}, ${String(minutes)} minutes, seed ${String(seed)}`;
}

function tablesOf(results: SoakResults): readonly Table[] {
  const { before, samples, settled, counts } = results;
  return [
    {
      title: 'Verdict',
      head: ['what', 'bound', 'seen', ''],
      rows: checkResources(results).map(({ what, bound, seen, holds }) => [
        what,
        bound,
        seen,
        holds ? 'holds' : 'BROKEN',
      ]),
    },
    {
      title: 'Samples',
      head: [
        '',
        's',
        'RSS MB',
        'handles',
        'sockets',
        'threads',
        'processes',
        'zombies',
        'home MB',
        'loop ms',
        'servers',
        'calls',
      ],
      rows: [
        rowOf('before', before),
        ...thinned(samples).map((sample) => rowOf('load', sample)),
        rowOf('settled', settled),
      ],
    },
    { title: 'Calls', head: ['came', 'times'], rows: callsByResult(counts) },
  ];
}

/** Too long for a terminal. */
function allCounts({ counts }: SoakResults): Table {
  const rows = Object.entries(counts).map(([what, times]) => [what, String(times)]);
  return { title: 'All that was done', head: ['what', 'times'], rows };
}

function callsByResult(counts: SoakResults['counts']): readonly (readonly string[])[] {
  const byResult = new Map<string, number>();
  for (const [what, times] of Object.entries(counts)) {
    const result = /^(?:legacy|modern) .*: (.+?)$/.exec(what)?.[1];
    if (result !== undefined) byResult.set(result, (byResult.get(result) ?? 0) + times);
  }
  return [...byResult].map(([result, times]) => [result, String(times)]);
}

function rowOf(phase: string, sample: Sample): readonly string[] {
  const { atSeconds, rssMb, fds, sockets, threads, processes, zombies, states, calls } = sample;
  const { homeMb, maxLoopDelayMs } = sample;
  const servers = Object.entries(states).map(([state, count]) => `${String(count)} ${state}`);
  const numbers = [fds, sockets, threads, processes, zombies].map(String);
  return [
    phase,
    String(atSeconds),
    rssMb.toFixed(1),
    ...numbers,
    homeMb.toFixed(1),
    maxLoopDelayMs.toFixed(0),
    servers.join(', '),
    String(calls),
  ];
}

function thinned(samples: readonly Sample[]): readonly Sample[] {
  const step = Math.ceil(samples.length / MAX_ROWS);
  return samples.filter((_, index) => index % step === 0 || index === samples.length - 1);
}

function notesOf({ objections, ending, unexpected }: SoakResults): readonly string[] {
  const left = ending.left.map((one) => `left after the end: ${one}`);
  const more = unexpected > objections.length ? [`… ${String(unexpected)} in all`] : [];
  return [...left, ...objections.map((one) => `UNEXPECTED: ${one}`), ...more];
}

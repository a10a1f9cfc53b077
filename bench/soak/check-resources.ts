// Whether resource use stayed flat: a pure function of the samples.
import { median, slopeOf } from '../statistics.ts';
import type { Sample } from './resource-sampler.ts';

export interface Soaked {
  /** All servers up, no clients yet. */
  readonly before: Sample;
  /** Under load. */
  readonly samples: readonly Sample[];
  /** All clients gone, after time to settle. */
  readonly settled: Sample;
  readonly ending: {
    readonly how: number | string;
    /** Processes that outlived Assay. */
    readonly left: readonly string[];
  };
  readonly unexpected: number;
  /** How long small calls took beside hostile peers; none in other runs. */
  readonly quickCallsMs: { readonly calls: number; readonly median: number; readonly p99: number };
}

export interface CheckedResource {
  readonly what: string;
  readonly bound: string;
  readonly seen: string;
  readonly holds: boolean;
}

/** The first part of a run is warm-up and is ignored. */
const WARM_UP_SHARE = 1 / 3;
const MIN_SAMPLES = 4;
const RSS_SHARE = 0.1;
const RSS_SLACK_MB = 15;
/** Handles that Node opens on first use, plus a few idle connections. */
const HANDLE_SLACK = 8;
/** Beside hostile peers: all bodies may take 1 GiB, and the program and what it relays the rest. */
const HOSTILE_RSS_MB = 2048;
const HOSTILE_HOME_MB = 1024;
const HOSTILE_DELAY_MS = 250;

export function checkResources(soaked: Soaked & { readonly isHostile: boolean }): readonly CheckedResource[] {
  return [...checkLeaks(soaked), ...(soaked.isHostile ? checkBounds(soaked) : [])];
}

/** That one hostile client and its servers took no more than their share. */
function checkBounds({ samples, quickCallsMs }: Soaked): readonly CheckedResource[] {
  const max = (value: (sample: Sample) => number): number => Math.round(Math.max(...samples.map(value)));
  return [
    atMost(
      'MB of memory',
      max(({ rssMb }) => rssMb),
      HOSTILE_RSS_MB,
    ),
    atMost(
      'MB in the home',
      max(({ homeMb }) => homeMb),
      HOSTILE_HOME_MB,
    ),
    atMost(
      'ms of delay of the event loop',
      max(({ maxLoopDelayMs }) => maxLoopDelayMs),
      HOSTILE_DELAY_MS,
    ),
    atMost('ms for 99 of 100 small calls', Math.round(quickCallsMs.p99), HOSTILE_DELAY_MS),
  ];
}

function checkLeaks({ before, samples, settled, ending, unexpected }: Soaked): readonly CheckedResource[] {
  const judged = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const rssMb = median(judged.map((sample) => sample.rssMb)) ?? NaN;
  const fds = median(judged.map((sample) => sample.fds)) ?? NaN;
  return [
    growth('memory under load', judged, (sample) => sample.rssMb, {
      bound: Math.max(RSS_SLACK_MB, RSS_SHARE * rssMb),
      unit: ' MB',
    }),
    growth('handles under load', judged, (sample) => sample.fds, {
      bound: Math.max(HANDLE_SLACK, RSS_SHARE * fds),
      unit: '',
    }),
    atMost('handles when settled', settled.fds, before.fds + HANDLE_SLACK),
    atMost('sockets when settled', settled.sockets, before.sockets + HANDLE_SLACK),
    atMost('threads when settled', settled.threads, before.threads + HANDLE_SLACK),
    atMost('processes when settled', settled.processes, before.processes),
    atMost('zombies when settled', settled.zombies, 0),
    {
      what: 'end after SIGTERM',
      bound: '0',
      seen: String(ending.how),
      holds: ending.how === 0,
    },
    atMost('processes left after that', ending.left.length, 0),
    atMost('unexpected answers', unexpected, 0),
  ];
}

function growth(
  what: string,
  samples: readonly Sample[],
  value: (sample: Sample) => number,
  { bound, unit }: { readonly bound: number; readonly unit: string },
): CheckedResource {
  const points = samples.map((sample) => ({ x: sample.atSeconds, y: value(sample) }));
  const slope = samples.length < MIN_SAMPLES ? undefined : slopeOf(points);
  const span = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  const grown = slope === undefined ? NaN : slope * span;
  return {
    what: `${what}, growth over the last ${String(span)} s`,
    bound: `≤ ${bound.toFixed(0)}${unit}`,
    seen: slope === undefined ? 'too few samples' : `${grown.toFixed(1)}${unit}`,
    holds: grown <= bound,
  };
}

function atMost(what: string, seen: number, bound: number): CheckedResource {
  return { what, bound: `≤ ${String(bound)}`, seen: String(seen), holds: seen <= bound };
}

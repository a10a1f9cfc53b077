import { METHODS } from '@assay-mcp/protocol/eras';
import type { Meter, Readings } from '../../gateway/ports/telemetry.ts';
import {
  METRICS,
  collectSamples,
  type Metric,
  type Retries,
  type Sample,
  type StoreTally,
} from './samples.ts';
import { Histogram, MethodTally, STORE_BUCKETS_S } from './tally.ts';
import { ToolTallies } from './tool-tallies.ts';

/** Sampling interval in ms for the event loop delay; Node's default of 10 would wake an idle process too often. */
const LOOP_SAMPLE_MS = 100;

/**
 * The metrics of this process in Prometheus' text format. The library is loaded on the first request, since most users
 * never ask; the default process metrics count from then on.
 */
export function openMeter(version: string): OwnMeter {
  const tallies = new Tallies();
  const tools = new ToolTallies();
  const decisions = { allow: 0, ask: 0, refuse: 0 };
  const retries = new Map<string, Retries>();
  const cached = new Map<string, number>();
  const refusedClients = new Map<string, number>();
  const notSignedIn = new Map<string, Map<string, number>>();
  const store = { read: openStoreTally(), write: openStoreTally() };
  const dropped = { spans: 0, metrics: 0, logs: 0, events: 0 };
  let unrecorded = 0;
  let writing: Promise<Write> | undefined;
  const collect: OwnMeter['collect'] = (readings) =>
    collectSamples({
      ...{ version, readings, tallies: tallies.all(), decisions, retries, cached, unrecorded },
      ...{ tools: tools.all(), refusedClients, notSignedIn, store, dropped },
    });
  return {
    of: (server, method) => tallies.of(server, method),
    decided: (decision) => {
      decisions[decision] += 1;
    },
    repeated: (server, isAnswered) => {
      const counted = retries.get(server) ?? { answered: 0, failed: 0 };
      counted[isAnswered ? 'answered' : 'failed'] += 1;
      retries.set(server, counted);
    },
    cached: (server) => addOne(cached, server),
    unrecorded: (calls) => {
      unrecorded += calls;
    },
    called: (server, tool, { outcome, durationMs }) => tools.of(server, tool).count(outcome, durationMs),
    refusedClient: (code) => addOne(refusedClients, code),
    notSignedIn: (server, code) => {
      const causes = notSignedIn.get(server) ?? new Map<string, number>();
      notSignedIn.set(server, causes);
      addOne(causes, code);
    },
    stored: (operation, durationMs, isDone) => {
      store[operation].durations.observe(durationMs);
      if (!isDone) store[operation].failures += 1;
    },
    dropped: (kind, count) => {
      dropped[kind] += count;
    },
    collect,
    expose: async (readings) => {
      const write = await (writing ??= openWriter());
      return write(collect(readings));
    },
  };
}

/** Also gives the samples themselves, for other formats. */
export interface OwnMeter extends Meter {
  collect(readings: Readings): ReturnType<typeof collectSamples>;
}

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function openStoreTally(): StoreTally {
  return { durations: new Histogram(STORE_BUCKETS_S), failures: 0 };
}

type Write = (samples: ReadonlyMap<string, readonly Sample[]>) => ReturnType<Meter['expose']>;

async function openWriter(): Promise<Write> {
  const { AggregatorRegistry, collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  return async (samples) => {
    const own = AggregatorRegistry.aggregate([METRICS.map((metric) => metricOf(metric, samples))]);
    const texts = await Promise.all([own.metrics(), registry.metrics()]);
    return { type: registry.contentType, text: texts.join('\n') };
  };
}

/** In the format of `getMetricsAsJSON`, which the library can aggregate. */
function metricOf(metric: Metric, samples: ReadonlyMap<string, readonly Sample[]>): object {
  const { name, help, type } = metric;
  return { name, help, type, aggregator: 'sum', values: samples.get(name) ?? [] };
}

class Tallies {
  readonly #byServer = new Map<string, Map<string, MethodTally>>();

  /** Unknown methods count as `other`, so that clients cannot create new labels. */
  of(server: string, method: string): MethodTally {
    const known = this.#byServer.get(server)?.get(method);
    return known ?? this.#add(server, METHODS.has(method) ? method : 'other');
  }

  all(): readonly MethodTally[] {
    return [...this.#byServer.values()].flatMap((tallies) => [...tallies.values()]);
  }

  #add(server: string, method: string): MethodTally {
    const tallies = this.#byServer.get(server) ?? new Map<string, MethodTally>();
    this.#byServer.set(server, tallies);
    const tally = tallies.get(method) ?? new MethodTally(server, method);
    tallies.set(method, tally);
    return tally;
  }
}

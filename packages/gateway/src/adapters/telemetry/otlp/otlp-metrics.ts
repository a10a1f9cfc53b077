import type { Metric, Sample } from '../samples.ts';
import { buildAttributes, buildSource, type KeyValue, type Source, toNanoseconds } from './otlp-json.ts';

/** All metrics at one time. */
export interface MetricsSnapshot {
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  readonly atMs: number;
}

export interface MetricsEncoding extends Source {
  readonly metrics: readonly Metric[];
  /** When counting began. */
  readonly startMs: number;
}

/** `AGGREGATION_TEMPORALITY_CUMULATIVE` */
const CUMULATIVE = 2;

/** An `ExportMetricsServiceRequest`, with the names that Prometheus has. */
export function encodeMetrics(
  snapshots: readonly MetricsSnapshot[],
  { metrics, startMs, ...source }: MetricsEncoding,
): object {
  const { resource, scope } = buildSource(source);
  const encoded = snapshots.flatMap(({ samples, atMs }) => {
    const times = { startTimeUnixNano: toNanoseconds(startMs), timeUnixNano: toNanoseconds(atMs) };
    return metrics.flatMap((metric) => {
      const own = samples.get(metric.name) ?? [];
      return own.length === 0 ? [] : [encodeMetric(metric, own, times)];
    });
  });
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: encoded }] }] };
}

interface Times {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

function encodeMetric({ name, help, type }: Metric, samples: readonly Sample[], times: Times): object {
  const described = { name, description: help, unit: name.endsWith('_seconds') ? 's' : '' };
  switch (type) {
    case 'gauge':
      return { ...described, gauge: { dataPoints: samples.map((sample) => encodeNumber(sample, times)) } };
    case 'counter':
      return {
        ...described,
        sum: {
          aggregationTemporality: CUMULATIVE,
          isMonotonic: true,
          dataPoints: samples.map((sample) => encodeNumber(sample, times)),
        },
      };
    case 'histogram':
      return {
        ...described,
        histogram: { aggregationTemporality: CUMULATIVE, dataPoints: encodeHistograms(name, samples, times) },
      };
  }
}

function encodeNumber({ labels, value }: Sample, times: Times): object {
  return { attributes: toAttributes(labels), ...times, asDouble: value };
}

interface OpenHistogram {
  readonly attributes: readonly KeyValue[];
  readonly bounds: number[];
  /** Cumulative, as Prometheus has them. */
  readonly counts: number[];
  sum: number;
}

function encodeHistograms(name: string, samples: readonly Sample[], times: Times): readonly object[] {
  const histograms = new Map<string, OpenHistogram>();
  for (const { labels, value, metricName } of samples) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const open = histograms.get(key) ?? { attributes: toAttributes(own), bounds: [], counts: [], sum: 0 };
    histograms.set(key, open);
    if (metricName === `${name}_sum`) open.sum = value;
    if (le === undefined) continue;
    open.counts.push(value);
    if (typeof le === 'number') open.bounds.push(le);
  }
  return [...histograms.values()].map(({ attributes, bounds, counts, sum }) => ({
    attributes,
    ...times,
    count: String(counts.at(-1) ?? 0),
    sum,
    bucketCounts: counts.map((count, at) => String(count - (counts[at - 1] ?? 0))),
    explicitBounds: bounds,
  }));
}

/** Labels are bounded already, and contain no secrets of requests. */
function toAttributes(labels: Sample['labels']): readonly KeyValue[] {
  return buildAttributes(labels, (text) => text);
}

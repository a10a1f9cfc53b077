import type { Log } from '../../../gateway/ports/log.ts';
import type { Meter, Readings, Tracer } from '../../../gateway/ports/telemetry.ts';
import type { OwnMeter } from '../metrics.ts';
import { METRICS } from '../samples.ts';
import { OtlpExporter } from './otlp-exporter.ts';
import type { Mask, Source } from './otlp-json.ts';
import { encodeLogs, type LogRecord } from './otlp-logs.ts';
import { encodeMetrics, type MetricsSnapshot } from './otlp-metrics.ts';
import type { OtlpSettings } from './otlp-settings.ts';
import { encodeSpans, type EndedSpan, openOtlpTracer } from './otlp-tracer.ts';

export interface OtlpOptions {
  readonly settings: OtlpSettings;
  readonly version: string;
  readonly transport: 'tcp' | 'pipe';
  /** Takes what the exporters report; not the exported log itself. */
  readonly log: Log;
  readonly mask: Mask;
  readonly meter: Meter | undefined;
}

/** The exports by OTLP of this process. */
export interface Otlp {
  /** Undefined if spans are not exported. */
  readonly tracer: Tracer | undefined;
  /** Undefined if logs are not exported. Never waits. */
  readonly addLog: ((record: LogRecord) => void) | undefined;
  /** Exports metrics from now on. Returns a function that exports them a last time and ends that. */
  readonly followMetrics: (meter: OwnMeter, read: () => Promise<Readings>) => () => Promise<void>;
  /** Sends what is left, for at most two seconds. */
  readonly close: () => Promise<void>;
}

/** Metrics that could not be sent are replaced by newer ones. */
const MAX_SNAPSHOTS = 2;

/** Opens an exporter for each signal that is to be exported. */
export function openOtlp(options: OtlpOptions): Otlp {
  const { settings, version, transport, mask } = options;
  const source: Source = { resource: settings.resource, version };
  const { traces, logs } = settings.signals;
  const spans =
    traces &&
    openExporter<EndedSpan>(options, 'spans', traces, (items) =>
      encodeSpans(items, { ...source, transport, mask }),
    );
  const lines =
    logs && openExporter<LogRecord>(options, 'logs', logs, (items) => encodeLogs(items, { ...source, mask }));
  const metrics = openMetrics(options, source);
  return {
    tracer:
      spans &&
      openOtlpTracer({
        sampler: settings.sampler,
        onEnded: (span) => spans.add(span),
        nowMs: () => Date.now(),
      }),
    addLog: lines && ((record) => lines.add(record)),
    followMetrics: metrics.follow,
    close: async () => {
      await Promise.all([metrics.close(), spans?.close(), lines?.close()]);
    },
  };
}

function openExporter<T>(
  { log, meter }: OtlpOptions,
  kind: 'spans' | 'metrics' | 'logs',
  settings: ConstructorParameters<typeof OtlpExporter<T>>[0]['settings'],
  encode: (items: readonly T[]) => object,
): OtlpExporter<T> {
  return new OtlpExporter<T>({
    settings,
    kind,
    encode,
    log,
    onDropped: (count) => meter?.dropped(kind, count),
  });
}

function openMetrics(
  options: OtlpOptions,
  source: Source,
): { readonly follow: Otlp['followMetrics']; readonly close: () => Promise<void> } {
  const settings = options.settings.signals.metrics;
  if (settings === undefined)
    return { follow: () => () => Promise.resolve(), close: () => Promise.resolve() };
  const startMs = Date.now();
  const exporter = openExporter<MetricsSnapshot>(
    options,
    'metrics',
    { ...settings, maxQueue: MAX_SNAPSHOTS, maxBatch: 1 },
    (items) => encodeMetrics(items, { ...source, metrics: METRICS, startMs }),
  );
  return {
    follow: (meter, read) => {
      const take = async (): Promise<void> => {
        exporter.add({ samples: meter.collect(await read()), atMs: Date.now() });
      };
      const timer = setInterval(() => void take().catch(() => undefined), settings.delayMs).unref();
      return async () => {
        clearInterval(timer);
        await take().catch(() => undefined);
      };
    },
    close: () => exporter.close(),
  };
}

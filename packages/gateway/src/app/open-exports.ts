import type { Otlp } from '../adapters/telemetry/otlp/open-otlp.ts';
import { VERSION } from '@assay-mcp/kit/version';
import type { Cleanup } from '@assay-mcp/kit/platform/cleanup';
import type { Secrets } from '../core/secrets/secrets.ts';
import type { Log } from '../gateway/ports/log.ts';
import type { Meter } from '../gateway/ports/telemetry.ts';

/** The exports by OTLP of this process. */
export interface Exports extends Otlp {
  /** Also exports the lines of a log, from a level of `ASSAY_LOG_LEVEL` up. */
  readonly exportLines: (log: Log, level: string) => Log;
}

interface ExportOptions {
  readonly isQuiet: boolean;
  readonly transport: 'tcp' | 'pipe';
  readonly meter?: Meter | undefined;
}

interface ExportNeeds {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly cleanup: Cleanup;
}

/**
 * Opens the exports that the variables of OpenTelemetry ask for, for a process that serves clients. Undefined if they
 * ask for none; nothing is loaded then.
 */
export async function openExports(
  { isQuiet, transport, meter }: ExportOptions,
  { env, log, secrets, cleanup }: ExportNeeds,
): Promise<Exports | undefined> {
  if (isQuiet || !Object.keys(env).some((name) => name.startsWith('OTEL_'))) return undefined;
  const { readOtlpSettings } = await import('../adapters/telemetry/otlp/otlp-settings.ts');
  const settings = readOtlpSettings(env, VERSION);
  if (settings === undefined) return undefined;
  const signals = Object.values(settings.signals);
  secrets.add(signals.flatMap(({ headers }) => headers.flatMap(([, value]) => [value, ...value.split(' ')])));
  for (const problem of settings.problems) log.warn(`OpenTelemetry: ${problem}`);
  if (signals.length === 0) return undefined;
  const [{ openOtlp }, { withExportedLines }] = await Promise.all([
    import('../adapters/telemetry/otlp/open-otlp.ts'),
    import('../adapters/telemetry/otlp/otlp-logs.ts'),
  ]);
  const mask = (text: string): string => secrets.mask(text);
  const otlp = openOtlp({ settings, version: VERSION, transport, log, mask, meter });
  // Before everything that may still log or end a span.
  cleanup.defer(() => otlp.close());
  const exportLines = (lines: Log, level: string): Log => {
    const minLevel = toExportedLevel(level);
    if (otlp.addLog === undefined || minLevel === undefined) return lines;
    return withExportedLines(lines, otlp.addLog, { minLevel, nowMs: () => Date.now() });
  };
  return { ...otlp, exportLines };
}

function toExportedLevel(level: string): keyof Log | undefined {
  switch (level) {
    case 'trace':
    case 'debug':
      return 'debug';
    case 'info':
    case 'warn':
    case 'error':
      return level;
    default:
      return undefined;
  }
}

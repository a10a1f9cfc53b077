import type { Log } from '../../../gateway/ports/log.ts';
import { maskFields } from '../log.ts';
import { buildAttributes, buildSource, type Mask, type Source, toNanoseconds, toText } from './otlp-json.ts';

/** A line of the log, or an event, as it waits for its export. */
export interface LogRecord {
  readonly atMs: number;
  readonly level: keyof Log;
  readonly text: string;
  /** Name of the event. Undefined for a line of the log. */
  readonly event?: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `SeverityNumber`, and its usual text. */
const SEVERITIES: Readonly<Record<keyof Log, readonly [number, string]>> = {
  debug: [5, 'DEBUG'],
  info: [9, 'INFO'],
  warn: [13, 'WARN'],
  error: [17, 'ERROR'],
};

export interface LogEncoding extends Source {
  readonly mask: Mask;
}

/** An `ExportLogsServiceRequest`. */
export function encodeLogs(records: readonly LogRecord[], { mask, ...source }: LogEncoding): object {
  const { resource, scope } = buildSource(source);
  return {
    resourceLogs: [
      { resource, scopeLogs: [{ scope, logRecords: records.map((one) => encodeRecord(one, mask)) }] },
    ],
  };
}

function encodeRecord({ atMs, level, text, event, fields }: LogRecord, mask: Mask): object {
  const [severityNumber, severityText] = SEVERITIES[level];
  return {
    timeUnixNano: toNanoseconds(atMs),
    observedTimeUnixNano: toNanoseconds(atMs),
    severityNumber,
    severityText,
    body: { stringValue: toText(text, mask, 4_096) },
    // Their texts are masked here, by key too, so that they are not masked twice.
    attributes: buildAttributes(maskFields(fields, mask), (shown) => shown),
    ...(event !== undefined && { eventName: event }),
  };
}

const LEVELS: readonly (keyof Log)[] = ['debug', 'info', 'warn', 'error'];

/** Exports lines of the log from `minLevel` up, which are written as before. */
export function withExportedLines(
  log: Log,
  add: (record: LogRecord) => void,
  { minLevel, nowMs }: { readonly minLevel: keyof Log; readonly nowMs: () => number },
): Log {
  const say = (level: keyof Log): Log[typeof level] => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minLevel))
      return (message, fields) => log[level](message, fields);
    return (message, fields = {}) => {
      log[level](message, fields);
      add({ atMs: nowMs(), level, text: message.slice(0, MAX_MESSAGE), fields: boundFields(fields) });
    };
  };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

const MAX_MESSAGE = 8_192;
const MAX_FIELD = 8_192;

/** Bounds what waits in memory. Errors become text here, with their stack. */
function boundFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      const text = value instanceof Error ? (value.stack ?? value.message) : value;
      return [key, typeof text === 'string' ? text.slice(0, MAX_FIELD) : text];
    }),
  );
}

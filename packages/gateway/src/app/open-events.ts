import { hostname } from 'node:os';
import type { EventSink } from '../adapters/telemetry/event-lines.ts';
import { AppendFile } from '@assay-mcp/kit/platform/append-file';
import { findUnsafePath } from '@assay-mcp/kit/platform/path-safety';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../core/settings.ts';
import type { EventLog } from '../gateway/ports/event-log.ts';
import type { Log } from '../gateway/ports/log.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Environment } from './environment.ts';

/**
 * The event log that `log.events` asks for. Undefined if it asks for none, or for a command that ends by itself.
 * PATH_UNSAFE, SETTING_INVALID
 */
export async function openEvents(
  environment: Environment,
  settings: Settings,
): Promise<Result<EventLog | undefined, Refusal>> {
  const target = settings['log.events'];
  if (target === '' || environment.options.isQuiet) return ok(undefined);
  const { EventLines, formatEventLine } = await import('../adapters/telemetry/event-lines.ts');
  const sink = openSink(target, environment, formatEventLine);
  if (!sink.ok) return sink;
  const { telemetry, cleanup } = environment;
  const events = new EventLines({
    sink: sink.value,
    instance: `${hostname()}:${process.pid}`,
    mask: telemetry.mask,
    nowMs: () => Date.now(),
    onDropped: (count) => telemetry.meter?.dropped('events', count),
  });
  cleanup.defer(() => events.close());
  return ok(events);
}

type FormatLine = (event: JsonObject) => string;

function openSink(
  target: string,
  { configEnvironment, log, otlp, writeLine }: Environment,
  format: FormatLine,
): Result<EventSink, Refusal> {
  switch (target) {
    case 'stderr':
      return ok(takeEach((event) => writeLine(format(event))));
    case 'otlp': {
      const add = otlp?.addLog;
      if (add !== undefined) return ok(takeEach((event) => add(toRecord(event))));
      const reason =
        'it is otlp, but no logs are exported by OTLP; set OTEL_EXPORTER_OTLP_ENDPOINT, or a file instead of otlp';
      return err({ code: 'SETTING_INVALID', name: 'log.events', reason });
    }
    default: {
      const unsafe = findUnsafePath(target, configEnvironment);
      return unsafe === undefined ? ok(openFile(target, log, format)) : err(unsafe);
    }
  }
}

/** A sink that never fails: it has a bounded queue of its own. */
function takeEach(take: (event: JsonObject) => void): EventSink {
  return {
    write: (events) => {
      for (const event of events) take(event);
      return Promise.resolve(true);
    },
  };
}

type LogRecord = Parameters<NonNullable<NonNullable<Environment['otlp']>['addLog']>>[0];

function toRecord(fields: JsonObject): LogRecord {
  const { at, event } = fields;
  const name = `assay.${String(event)}`;
  return { atMs: Date.parse(String(at)), level: 'info', text: name, event: name, fields };
}

/** A file that cannot be written is reported once, and once when it can be written again. */
function openFile(path: string, log: Log, format: FormatLine): EventSink {
  const file = new AppendFile(path);
  let isFailing = false;
  return {
    write: async (events) => {
      // After a failure, the file still has the lines that are given again.
      const fault = await file.append(isFailing ? '' : events.map(format).join(''));
      if (fault !== undefined && !isFailing)
        log.error('events cannot be written; the next ones wait, and are dropped if there are too many', {
          file: path,
          error: fault,
        });
      if (fault === undefined && isFailing) log.info('events are written again', { file: path });
      isFailing = fault !== undefined;
      return !isFailing;
    },
  };
}

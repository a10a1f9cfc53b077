import { pino, type Logger } from 'pino';
import type { Log } from '../../gateway/ports.ts';

export interface LogOptions {
  /** One of pino's levels, or `silent`. */
  readonly level: string;
  /** For people at a terminal rather than for machines. */
  readonly isPretty: boolean;
}

export const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** The log, always on stderr: stdout belongs to results and, with stdio, to JSON-RPC alone. */
export async function openLog({ level, isPretty }: LogOptions): Promise<Log> {
  const logger = isPretty
    ? await prettyLogger(level)
    : pino({ level, base: null }, pino.destination({ fd: 2, sync: true }));
  return {
    debug: (message, fields) => logger.debug(fields, message),
    info: (message, fields) => logger.info(fields, message),
    warn: (message, fields) => logger.warn(fields, message),
    error: (message, fields) => logger.error(fields, message),
  };
}

/** Loaded only at a terminal. */
async function prettyLogger(level: string): Promise<Logger> {
  const { PinoPretty } = await import('pino-pretty');
  const stream = PinoPretty({
    destination: 2,
    sync: true,
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
  });
  return pino({ level, base: null }, stream);
}

import { createRequire } from 'node:module';
import type { DestinationStream, Logger, pino as Pino } from 'pino';
import { toPrintableJson } from '../../core/printable.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { Stderr } from '../../platform/stderr.ts';
import { isCredentialKey } from '../../core/secrets/credential-names.ts';
import { MASKED } from '../../core/secrets/secret-shapes.ts';
import { formatTerminalLine } from './terminal-line.ts';
import type { JsonObject } from '../../core/json-object.ts';

interface LogOptions {
  /** One of pino's levels, or `silent`. */
  readonly level: string;
  /** Whether to write lines for a terminal, with or without colours, instead of JSON. */
  readonly terminal: { readonly hasColours: boolean } | undefined;
  /** Masks the secrets in a text. */
  readonly mask: (text: string) => string;
  /** For a command that rarely logs: only its first line loads the library. */
  readonly isQuiet?: boolean;
  /** Takes each line. Defaults to stderr. */
  readonly write?: ((line: string) => void) | undefined;
}

export const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * The log. Goes to stderr by default, because stdout is for results and, with stdio, for JSON-RPC only. If it is not
 * read, lines beyond a limit are dropped and their number is logged. Secrets are masked in every line.
 */
export function openLog({ level, terminal, isQuiet = false, mask, write }: LogOptions): Log {
  const inForm =
    terminal === undefined
      ? toPrintableJson
      : (line: string) => formatTerminalLine(line, terminal.hasColours);
  const take = write ?? stderrIn(inForm);
  const destination: DestinationStream = { write: (line) => take(inForm(line)) };
  let opened: Logger | undefined;
  const logger = (): Logger => (opened ??= pino()({ level, base: null }, destination));
  const minLevel = LOG_LEVELS.indexOf(level);
  const say = (wanted: keyof Log): Log[keyof Log] => {
    if (LOG_LEVELS.indexOf(wanted) < minLevel) return () => undefined;
    return (message, fields = {}) => logger()[wanted](maskFields(fields, mask), mask(message));
  };
  if (!isQuiet) setTimeout(logger, LOAD_AFTER_MS).unref();
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

function stderrIn(form: (line: string) => string): (line: string) => void {
  const stderr = new Stderr({ onDropped: (count) => form(droppedLine(count)) });
  return (line) => stderr.write(line);
}

/**
 * Delay in ms before the library is loaded, to keep it out of startup. The first line loads it at once, synchronously:
 * a line must be written before the process ends, so it cannot wait for an import.
 */
const LOAD_AFTER_MS = 100;

function pino(): typeof Pino {
  return (createRequire(import.meta.url)('pino') as { readonly pino: typeof Pino }).pino;
}

/** In pino's format. */
function droppedLine(dropped: number): string {
  let text = '';
  pino()({ base: null }, { write: (line) => (text = line) }).warn(
    { dropped },
    'log lines were dropped because they were not read in time',
  );
  return text;
}

/** Maximum depth shown. */
const MAX_DEPTH = 8;
const TOO_DEEP = '[too deep]';

/**
 * The fields of a log line, with `mask` applied to every string and credentials, as told by their key, masked entirely.
 * Masking happens before serialization, so that the line stays valid JSON.
 */
export function maskFields(fields: JsonObject, mask: (text: string) => string): JsonObject {
  return maskedObject(fields, mask, 0);
}

function maskedObject(object: object, mask: (text: string) => string, depth: number): JsonObject {
  const entries = Object.entries(object).map(([key, value]) => {
    const isHidden =
      isCredentialKey(key) && value !== undefined && value !== null && typeof value !== 'boolean';
    return [mask(key), isHidden ? MASKED : maskedValue(value, mask, depth + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function maskedValue(value: unknown, mask: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return TOO_DEEP;
  if (value instanceof Error) return mask(value.stack ?? value.message);
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return maskedValue((value as { toJSON: () => unknown }).toJSON(), mask, depth + 1);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, mask, depth + 1));
  return maskedObject(value, mask, depth);
}

import { toPrintableJson } from '@assay-mcp/kit/printable';
import type { Log } from '../../gateway/ports/log.ts';
import { Stderr } from '@assay-mcp/kit/platform/stderr';
import { isCredentialKey } from '@assay-mcp/kit/credential-names';
import { MASKED } from '@assay-mcp/kit/secret-shapes';
import { formatTerminalLine } from './terminal-line.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

interface LogOptions {
  /** One of `LOG_LEVELS`. */
  readonly level: string;
  /** Whether to write lines for a terminal, with or without colours, instead of JSON. */
  readonly terminal: { readonly hasColours: boolean } | undefined;
  /** Masks the secrets in a text. */
  readonly mask: (text: string) => string;
  /** Takes each line. Defaults to stderr. */
  readonly write?: ((line: string) => void) | undefined;
}

/** A level's number in a line is ten times its place, from 10 for `trace`, as many programs write and read it. */
export const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * The log. Goes to stderr by default, because stdout is for results and, with stdio, for JSON-RPC only. If it is not
 * read, lines beyond a limit are dropped and their number is logged. Secrets are masked in every line.
 */
export function openLog({ level, terminal, mask, write }: LogOptions): Log {
  const inForm = chooseForm(terminal);
  const take = write ?? openStderr(terminal);
  const minLevel = LOG_LEVELS.indexOf(level);
  const say = (wanted: keyof Log): Log[keyof Log] => {
    if (LOG_LEVELS.indexOf(wanted) < minLevel) return () => undefined;
    return (message, fields = {}) =>
      take(inForm(formatLine(wanted, mask(message), maskFields(fields, mask))));
  };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

function chooseForm(terminal: LogOptions['terminal']): (line: string) => string {
  return terminal === undefined ? toPrintableJson : (line) => formatTerminalLine(line, terminal.hasColours);
}

/** Writes lines to stderr. A process has one such writer, as lines of two could be mixed up. */
export function openStderr(terminal: LogOptions['terminal']): (line: string) => void {
  const form = chooseForm(terminal);
  const stderr = new Stderr({ onDropped: (count) => form(formatDropped(count)) });
  return (line) => stderr.write(line);
}

function formatDropped(dropped: number): string {
  return formatLine('warn', 'log lines were dropped because they were not read in time', { dropped });
}

function formatLine(level: keyof Log, msg: string, fields: JsonObject): string {
  const head = { level: 10 * (1 + LOG_LEVELS.indexOf(level)), time: Date.now() };
  return `${JSON.stringify({ ...head, ...fields, msg })}\n`;
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
  // JSON has no such number.
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return TOO_DEEP;
  if (value instanceof Error) return mask(value.stack ?? value.message);
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return maskedValue((value as { toJSON: () => unknown }).toJSON(), mask, depth + 1);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, mask, depth + 1));
  return maskedObject(value, mask, depth);
}

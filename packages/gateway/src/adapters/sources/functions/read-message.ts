import { isFunctionResult, isRecord, type FromRunner } from '@assay-mcp/functions/function-messages';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isDeeper } from '@assay-mcp/kit/json-object';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

/** Deeper than any intentional nesting, but far from overflowing the stack. */
const MAX_DEPTH = 500;

/**
 * Reads a message from a module's process, whose code may have tampered with the runner. The error is a phrase: what
 * arrived instead of a message.
 */
export function readMessage(text: string): Result<FromRunner, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err('no JSON');
  }
  const kind = isRecord(value) ? value['kind'] : undefined;
  const fits = typeof kind === 'string' && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as Kind] : undefined; // a key
  if (fits === undefined) return err('no message');
  if (!fits(value as Fields)) return err(`a "${kind as Kind}" of another shape`); // only a record has a known kind
  // The text of a result is limited, and its writer handles a failed serialization.
  if (kind !== 'done' && isDeeper(value, MAX_DEPTH))
    return err(`a "${kind as Kind}" that is nested too deeply`);
  return ok(value as FromRunner); // checked against its shape
}

type Kind = FromRunner['kind'];
type Fields = Readonly<Record<string, unknown>>;
type Fits = (value: unknown) => boolean;

const SHAPES: Readonly<Record<Kind, (message: Fields) => boolean>> = {
  file: (told) => isText(told['path']),
  ready: (told) => isListOf(told['tools'], isFacts) && isListOf(told['skipped'], isSkipped),
  broken: (told) => isText(told['fault']),
  begun: (told) => isId(told['id']),
  done: (told) => isId(told['id']) && isFunctionResult(told['result']),
  progress: (told) =>
    isId(told['id']) &&
    isNumber(told['progress']) &&
    orAbsent(told['total'], isNumber) &&
    orAbsent(told['message'], isText),
  log: (told) => isId(told['id']) && isText(told['level']),
  ask: (told) =>
    isId(told['id']) && isId(told['call']) && isText(told['message']) && isRecord(told['schema']),
  pong: (told) => isId(told['id']),
  exit: (told) => isText(told['code']) && orAbsent(told['at'], isText),
  stray: (told) => isText(told['fault']),
};

function isFacts(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, title, description, inputSchema, outputSchema, annotations, timeoutMs } = value;
  return (
    isText(name) &&
    orAbsent(title, isText) &&
    orAbsent(description, isText) &&
    isRecord(inputSchema) &&
    orAbsent(outputSchema, isRecord) &&
    orAbsent(annotations, isRecord) &&
    orAbsent(timeoutMs, (limit) => isNumber(limit) && limit > 0 && limit <= MAX_TIMER_MS)
  );
}

function isSkipped(value: unknown): boolean {
  return isRecord(value) && isText(value['what']) && isText(value['why']);
}

function isListOf(value: unknown, fits: Fits): boolean {
  return Array.isArray(value) && value.every(fits);
}

function orAbsent(value: unknown, fits: Fits): boolean {
  return value === undefined || fits(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value);
}

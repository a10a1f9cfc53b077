import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { HeaderParameter, HeaderParameters } from './header-parameters.ts';
import { decodeHeader, encodeHeader } from './headers.ts';
import { isParsable, TOO_LARGE_TO_PARSE, type RequestMessage } from './message.ts';
import { scanObject } from './scan.ts';
import { findMember, readRawValue, readJsonString, type JsonObject, type Span } from './spans.ts';

/** All lines of each header, by name in lower case. */
export type HeaderLines = Readonly<Record<string, readonly string[] | undefined>>;

/** What is wrong with a header; the reason is a phrase. */
export interface HeaderFault {
  readonly header: string;
  readonly reason: string;
}

/**
 * The headers that repeat a call's arguments, alternating names and values. Ambiguous arguments are not repeated:
 * rejecting them is up to the server.
 */
export function buildParameterHeaders(
  message: RequestMessage,
  parameters: HeaderParameters,
): readonly string[] {
  const given = argumentsOf(message, parameters);
  if (!given.ok) return [];
  return parameters.all.flatMap(({ header, path }) => {
    const { text } = valueAt(given.value, path);
    return text === undefined ? [] : [header, encodeHeader(text)];
  });
}

/**
 * The first disagreement between a call's headers and its arguments; undefined if none
 * (2026-07-28, basic/transports/streamable-http#server-behavior-for-custom-headers).
 */
export function findParameterFault(
  message: RequestMessage,
  parameters: HeaderParameters,
  lines: HeaderLines,
): HeaderFault | undefined {
  const given = argumentsOf(message, parameters);
  for (const parameter of parameters.all) {
    const reason = given.ok ? disagreement(parameter, given.value, lines) : given.error;
    if (reason !== undefined) return { header: parameter.header, reason };
  }
  return undefined;
}

function disagreement(
  { field, path }: HeaderParameter,
  given: Arguments,
  lines: HeaderLines,
): string | undefined {
  const value = valueAt(given, path);
  const [line, second] = lines[field] ?? [];
  const argument = `arguments.${path.join('.')}`;
  if (line === undefined)
    return value.text === undefined ? undefined : `it is missing, but there is ${argument}`;
  if (second !== undefined) return 'it is there twice';
  const decoded = decodeHeader(line);
  if (decoded === undefined) return 'it is not encoded as the transport asks';
  if (value.kind === 'none') return `it is there, but ${argument} is not`;
  return agrees(decoded, value) ? undefined : `it differs from ${argument}`;
}

interface Arguments {
  readonly bytes: Buffer;
  /** Undefined if there are no arguments or they are not an object. */
  readonly root: JsonObject | undefined;
}

const NONE: Arguments = { bytes: Buffer.alloc(0), root: undefined };

/** The error is a phrase: the arguments are not JSON or are ambiguous because of a duplicate key. */
function argumentsOf(message: RequestMessage, { plan }: HeaderParameters): Result<Arguments, string> {
  const { bytes, params } = message;
  const only = findMember(params, 'arguments');
  if (only === undefined) return ok(NONE);
  if (!isParsable(message)) return err(`the arguments are ${TOO_LARGE_TO_PARSE}`);
  const inner = bytes.subarray(only.start, only.end);
  const scan = scanObject(inner, { plan, strict: false, refusesTwice: true });
  if (scan.ok) return ok({ bytes: inner, root: scan.value });
  return scan.fault.isOtherType === true
    ? ok(NONE)
    : err(`the arguments cannot be read: ${scan.fault.reason}`);
}

/** `text`: the header's value; undefined if there should be no header. */
type Value =
  | { readonly kind: 'none' | 'other'; readonly text: undefined }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string | undefined; readonly raw: string };

const ABSENT: Value = { kind: 'none', text: undefined };
/** An object or array, which its schema does not allow; the server decides how to handle it. */
const OTHER: Value = { kind: 'other', text: undefined };

function valueAt({ bytes, root }: Arguments, path: readonly string[]): Value {
  let object = root;
  let span: Span | undefined;
  for (const key of path) {
    const member = findMember(object, key);
    span = member;
    object = member?.object;
  }
  if (span === undefined) return ABSENT;
  const raw = readRawValue(bytes, span);
  if (raw === 'null') return ABSENT;
  if (raw === 'true' || raw === 'false') return { kind: 'text', text: raw };
  if (raw.startsWith('{') || raw.startsWith('[')) return OTHER;
  if (!raw.startsWith('"')) return { kind: 'number', text: decimalOf(raw), raw };
  const text = readJsonString(bytes, span);
  return text === undefined ? OTHER : { kind: 'text', text };
}

/** Integers beyond the safe range are not allowed, so clients do not repeat them. */
function decimalOf(raw: string): string | undefined {
  const number = Number(raw);
  const isUnsafe = !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number));
  return isUnsafe ? undefined : String(number);
}

const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Numbers are compared by value, so that 42.0 is 42 (2026-07-28, basic/transports/streamable-http#server-validation).
 */
function agrees(header: string, value: Exclude<Value, { readonly kind: 'none' }>): boolean {
  if (value.kind !== 'number') return header === value.text;
  if (value.text === undefined || !DECIMAL.test(header)) return header === value.raw;
  return decimalOf(header) === value.text;
}

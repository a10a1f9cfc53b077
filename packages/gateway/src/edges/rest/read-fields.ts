import type * as z from 'zod';
import type { FieldError } from '../../core/field-error.ts';
import { parsePointer, formatPointerStep } from '@assay-mcp/kit/json-pointer';
import { findNearest } from '@assay-mcp/kit/nearest';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { truncateText } from '@assay-mcp/kit/shorten';
import { mapObjects } from './schema-members.ts';

/** A body, and where its parts are in the request. */
export interface ReadBody<T> {
  readonly value: T;
  /** The JSON pointer to a part of the value in the body as sent. */
  readonly pointerTo: (path: readonly PropertyKey[]) => string;
}

/** A body before it is read. `fieldErrors`: faults that were found in it already. */
export interface SentBody extends ReadBody<unknown> {
  readonly fieldErrors: readonly FieldError[];
}

/** A body that was sent in the names of its schema. */
export function toSentBody(value: unknown): SentBody {
  return { value, fieldErrors: [], pointerTo: (path) => path.map(formatPointerStep).join('') };
}

/** Reads the fields of a body. Unknown names are reported alone. BODY_INVALID */
export function readFields<T>(sent: SentBody, schema: z.ZodType<T>): Result<ReadBody<T>, Refusal> {
  const read = readValue(sent, schema, 'field');
  return read.ok
    ? ok({ value: read.value, pointerTo: sent.pointerTo })
    : err({ code: 'BODY_INVALID', fieldErrors: read.error });
}

/** Reads query parameters with a schema for strings. QUERY_INVALID */
export function readQuery<T>(sent: SentBody, schema: z.ZodType<T>): Result<T, Refusal> {
  const read = readValue(sent, schema, 'parameter');
  return read.ok ? read : err({ code: 'QUERY_INVALID', fieldErrors: read.error.map(inQuery) });
}

/** QUERY_INVALID */
export function findRepeatedParameters(query: URLSearchParams): Refusal | undefined {
  const names = [...query.keys()];
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  if (twice.length === 0) return undefined;
  const fieldErrors = twice.map((at) => ({ at, kind: 'twice', reason: 'it is given twice' }) as const);
  return { code: 'QUERY_INVALID', fieldErrors: fieldErrors.slice(0, MAX_FIELD_ERRORS) };
}

function inQuery({ at, ...fieldError }: FieldError): FieldError {
  return { ...fieldError, at: parsePointer(at).join('/') };
}

function readValue<T>(sent: SentBody, schema: z.ZodType<T>, noun: Noun): Result<T, readonly FieldError[]> {
  const wrong = [...sent.fieldErrors, ...findUnknownMembers(sent, schema, noun)];
  if (wrong.length > 0) return err(wrong.slice(0, MAX_FIELD_ERRORS));
  const read = schema.safeParse(sent.value, { reportInput: true });
  return read.success ? ok(read.data) : err(toFieldErrors(read.error, sent.pointerTo));
}

/** How errors name the members. */
type Noun = 'field' | 'parameter';

const MAX_KEY_LENGTH = 100;

function findUnknownMembers(
  { value, pointerTo }: SentBody,
  schema: z.ZodType,
  noun: Noun,
): readonly FieldError[] {
  const fieldErrors: FieldError[] = [];
  mapObjects(schema, value, (object, members, path) => {
    for (const key of Object.keys(object))
      if (!members.has(key))
        fieldErrors.push({
          at: pointerTo([...path, truncateText(key, MAX_KEY_LENGTH)]),
          kind: 'unknown',
          reason: unknownReason(key, [...members.keys()], noun),
        });
    return object;
  });
  return fieldErrors;
}

function unknownReason(key: string, known: readonly string[], noun: Noun): string {
  const meant = findNearest(key, known);
  if (meant !== undefined) return `there is no such ${noun}; did you mean ${JSON.stringify(meant)}`;
  return known.length === 0
    ? `there is no such ${noun}`
    : `there is no such ${noun}; there are ${known.join(', ')}`;
}

type Issue = z.core.$ZodIssue;

/** Maximum number of fieldErrors reported per body. */
const MAX_FIELD_ERRORS = 50;

/** Translates schema issues into our own wording. */
export function toFieldErrors(
  { issues }: z.core.$ZodError,
  pointerTo: ReadBody<unknown>['pointerTo'],
): readonly FieldError[] {
  return issues.slice(0, MAX_FIELD_ERRORS).map((issue) => ({
    at: pointerTo(issue.path),
    kind: isMissing(issue) ? 'missing' : 'invalid',
    reason: reasonOf(issue),
  }));
}

function isMissing(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.input === undefined;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return isMissing(issue) ? 'it is missing' : `it must be ${kind(issue.expected)}`;
    case 'too_small':
    case 'too_big':
      return boundReason(issue);
    case 'invalid_value':
      return `it must be ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`.replace(
        /, (?=[^,]*$)/,
        ' or ',
      );
    case 'invalid_union':
      return unionReason(issue.errors.flat());
    case 'invalid_format':
      return issue.message.startsWith('Invalid') ? `it is not a valid ${issue.format}` : issue.message;
    default:
      return issue.message;
  }
}

function kind(expected: string): string {
  return KINDS[expected] ?? `of the type ${expected}`;
}

function boundReason(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const [word, bound] = issue.code === 'too_small' ? ['at least', issue.minimum] : ['at most', issue.maximum];
  if (issue.origin === 'string') return `it must have ${word} ${bound} characters`;
  if (issue.origin === 'array' || issue.origin === 'set') return `it must have ${word} ${bound} entries`;
  return `it must be ${word} ${bound}`;
}

/** For a union of types, lists them. For other unions, reports the deepest issue. */
function unionReason(issues: readonly Issue[]): string {
  const expected = issues.flatMap((issue) =>
    issue.code === 'invalid_type' && issue.path.length === 0 ? [kind(issue.expected)] : [],
  );
  if (expected.length === issues.length && expected.length > 0) return `it must be ${expected.join(' or ')}`;
  const maxDepth = [...issues].sort((one, other) => other.path.length - one.path.length)[0];
  return maxDepth === undefined ? 'it has none of the forms that it may have' : reasonOf(maxDepth);
}

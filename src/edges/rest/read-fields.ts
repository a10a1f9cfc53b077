import type * as z from 'zod';
import type { FieldError } from '../../core/field-error.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { foldNames, getSchemaMembers } from './fold-names.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { truncateText } from '../../core/shorten.ts';
import { parsePointer, formatPointerStep } from '../../core/json-pointer.ts';

/** A body that matches its schema. */
export interface ReadBody<T> {
  readonly value: T;
  /** The JSON pointer to a part of the value in the body as sent. */
  readonly pointerTo: (path: readonly PropertyKey[]) => string;
}

/**
 * Reads the fields of a body, either bare or inside one object named `wrapper`. Unknown names are reported alone, since
 * values are checked under the schema's names. BODY_INVALID
 */
export function readFields<T>(
  given: unknown,
  { schema, wrapper }: { readonly schema: z.ZodType<T>; readonly wrapper: string },
): Result<ReadBody<T>, Refusal> {
  const inner = unwrapped(given, wrapper, schema);
  const {
    value,
    fieldErrors: ofNames,
    pointerTo,
  } = foldNames(schema, inner.value, { noun: 'field', base: inner.base });
  const wrong = [...inner.fieldErrors, ...ofNames];
  if (wrong.length > 0) return err({ code: 'BODY_INVALID', fieldErrors: wrong.slice(0, MAX_FIELD_ERRORS) });
  const read = schema.safeParse(value, { reportInput: true });
  return read.success
    ? ok({ value: read.data, pointerTo })
    : err({ code: 'BODY_INVALID', fieldErrors: fieldErrorsOf(read.error.issues, pointerTo) });
}

/** Reads query parameters with a schema for strings. QUERY_INVALID */
export function readQuery<T>(query: URLSearchParams, schema: z.ZodType<T>): Result<T, Refusal> {
  const names = [...query.keys()];
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  if (twice.length > 0) {
    const fieldErrors = twice.map((at) => ({ at, kind: 'twice', reason: 'it is given twice' }) as const);
    return err({ code: 'QUERY_INVALID', fieldErrors: fieldErrors.slice(0, MAX_FIELD_ERRORS) });
  }
  const { value, fieldErrors, pointerTo } = foldNames(schema, Object.fromEntries(query), {
    noun: 'parameter',
    base: '',
  });
  const read = schema.safeParse(value, { reportInput: true });
  const wrong =
    fieldErrors.length > 0 || read.success ? fieldErrors : fieldErrorsOf(read.error.issues, pointerTo);
  if (wrong.length === 0 && read.success) return ok(read.data);
  return err({ code: 'QUERY_INVALID', fieldErrors: wrong.slice(0, MAX_FIELD_ERRORS).map(inQuery) });
}

function inQuery({ at, ...fieldError }: FieldError): FieldError {
  return { ...fieldError, at: parsePointer(at).join('/') };
}

interface Unwrapped {
  readonly value: unknown;
  readonly base: string;
  readonly fieldErrors: readonly FieldError[];
}

function unwrapped(given: unknown, wrapper: string, schema: z.ZodType): Unwrapped {
  const isObject = isJsonObject(given);
  const isWrapped =
    isObject && Object.hasOwn(given, wrapper) && getSchemaMembers(schema)?.has(wrapper) !== true;
  if (!isWrapped) return { value: given, base: '', fieldErrors: [] };
  const others = Object.keys(given).filter((key) => key !== wrapper);
  const reason = `there is no such field beside ${JSON.stringify(wrapper)}`;
  const fieldErrors = others.map(
    (key) => ({ at: formatPointerStep(truncateText(key, 100)), kind: 'unknown', reason }) as const,
  );
  return { value: given[wrapper], base: formatPointerStep(wrapper), fieldErrors };
}

type Issue = z.core.$ZodIssue;

/** Maximum number of fieldErrors reported per body. */
const MAX_FIELD_ERRORS = 50;

/** Translates schema issues into our own wording. */
function fieldErrorsOf(
  issues: readonly Issue[],
  pointerTo: (path: readonly PropertyKey[]) => string,
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

import type { z } from '@hono/zod-openapi';
import type { Misfit } from '../../core/refusal.ts';

type Issue = z.core.$ZodIssue;

/** Most misfits of one body that are told. */
export const MOST_MISFITS = 50;

/** What a schema found wrong, in our words. */
export function misfitsOf(
  issues: readonly Issue[],
  pointerTo: (path: readonly PropertyKey[]) => string,
): readonly Misfit[] {
  return issues.slice(0, MOST_MISFITS).map((issue) => ({
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
      return issue.message.startsWith('Invalid') ? `it is no ${issue.format}` : issue.message;
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

/** Of a choice of types, which they are; of another choice, what comes first. */
function unionReason(issues: readonly Issue[]): string {
  const expected = issues.flatMap((issue) =>
    issue.code === 'invalid_type' && issue.path.length === 0 ? [kind(issue.expected)] : [],
  );
  if (expected.length === issues.length && expected.length > 0) return `it must be ${expected.join(' or ')}`;
  const deepest = [...issues].sort((one, other) => other.path.length - one.path.length)[0];
  return deepest === undefined ? 'it has none of the forms that it may have' : reasonOf(deepest);
}

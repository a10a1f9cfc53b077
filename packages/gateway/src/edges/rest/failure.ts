import { capitalize } from '@assay-mcp/kit/capitalize';
import type { FieldProblem, CodedProblem } from '../../api/problem.ts';
import { formatChallenge, type Challenged } from '../../core/challenge.ts';
import { getRestStatus } from '../../core/errors.ts';
import type { PlacedRefusal, Refusal, RefusalCode } from '../../core/refusal.ts';
import { pickCauseCode } from '../../core/refusal-cause.ts';
import { formatRefusal } from '../../core/sentences.ts';

/** Why a request is refused, with the location in its body if known. */
export type Failure = PlacedRefusal | FieldFailure;

export interface FieldFailure {
  readonly refusal: Refusal;
  /** A JSON pointer into the body as sent. */
  readonly pointer: string;
}

/** A field that passes the schema but is not acceptable. */
export function toFieldError(at: string, reason: string): Failure {
  return { code: 'BODY_INVALID', fieldErrors: [{ at, kind: 'invalid', reason }] };
}

export const PROBLEM_TYPE = 'application/problem+json';

export function toProblemResponse(
  failure: Failure,
  request: Challenged & { readonly path: string },
): Response {
  const refusal = refusalIn(failure);
  const problem = toProblem(failure, request.path);
  const headers = {
    'content-type': PROBLEM_TYPE,
    'cache-control': 'no-store',
    ...headersOf(refusal, request),
  };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

export function toProblem(failure: Failure, instance: string): CodedProblem {
  const refusal = refusalIn(failure);
  const { code } = refusal;
  const parts = partsOf(failure);
  return {
    type: `/docs/errors#${code}`,
    title: formatCodeTitle(code),
    status: getRestStatus(code),
    detail: formatRefusal(refusal),
    instance,
    code,
    ...pickCauseCode(refusal),
    ...(parts.length > 0 && { errors: parts }),
  };
}

/** `TOOLSET_UNKNOWN` → "Toolset unknown". */
export function formatCodeTitle(code: RefusalCode): string {
  const words = code.toLowerCase().replaceAll('_', ' ').replace('json', 'JSON');
  return capitalize(words);
}

function refusalIn(failure: Failure): Refusal {
  return 'refusal' in failure ? failure.refusal : failure;
}

function partsOf(failure: Failure): readonly FieldProblem[] {
  if ('refusal' in failure) {
    const { pointer, refusal } = failure;
    return [{ pointer, detail: formatRefusal(refusal), code: refusal.code }];
  }
  if (failure.code === 'BODY_INVALID')
    return failure.fieldErrors.map(({ at, kind, reason }) => ({ pointer: at, detail: reason, code: kind }));
  if (failure.code === 'QUERY_INVALID')
    return failure.fieldErrors.map(({ at, kind, reason }) => ({ parameter: at, detail: reason, code: kind }));
  return [];
}

function headersOf(refusal: Refusal, challenged: Challenged): Readonly<Record<string, string>> {
  switch (refusal.code) {
    case 'TOKEN_REQUIRED':
    case 'SCOPE_MISSING':
      return { 'www-authenticate': formatChallenge(refusal, challenged) };
    case 'TOO_MANY_FAILURES':
    case 'ISSUER_UNAVAILABLE':
    case 'BODIES_FULL':
    case 'CHANGES_LIMIT':
    case 'STORE_STALE':
      return { 'retry-after': String(refusal.waitSeconds) };
    case 'HTTP_METHOD_UNKNOWN':
      return { allow: refusal.allowed };
    case 'PRECONDITION_FAILED':
      return { etag: refusal.etag };
    default:
      return {};
  }
}

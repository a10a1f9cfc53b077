import { isSafeMethod } from '../../../core/hints/infer.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { HttpAnswer, HttpCall } from './http-call.ts';

/** What is sent next. */
export type Step = Pick<HttpCall, 'method' | 'url' | 'headers' | 'body'>;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether an answer sends one elsewhere, and a request of that method may be sent twice without harm. */
export function isFollowed(method: string, status: number, headers: HttpAnswer['headers']): boolean {
  return REDIRECTS.has(status) && isSafeMethod(method) && headers['location'] !== undefined;
}

/** Where an answer with a redirect points to; undefined: nowhere that is an address. */
export function redirectTarget(url: URL, { headers }: Pick<HttpAnswer, 'headers'>): URL | undefined {
  const { location } = headers;
  return typeof location === 'string' ? (URL.parse(location, url.href) ?? undefined) : undefined;
}

/**
 * The request that follows a redirect (RFC 9110, section 15.4). What says who asks does not go to another origin, nor does
 * a body; `secrets` are further names of such headers, in lower case. The error is a phrase.
 */
export function nextStep(
  step: Step,
  answer: Pick<HttpAnswer, 'status' | 'headers'>,
  secrets: ReadonlySet<string>,
): Result<Step, string> {
  const url = redirectTarget(step.url, answer);
  if (url === undefined) return err('redirects to what is no address');
  if (step.url.protocol === 'https:' && url.protocol !== 'https:')
    return err(`redirects to ${JSON.stringify(url.origin)}, which is not encrypted, so it was not followed`);
  const isSameOrigin = url.origin === step.url.origin;
  const becomesGet = answer.status === 303 && step.method !== 'HEAD';
  return ok({
    method: becomesGet ? 'GET' : step.method,
    url,
    headers: isSameOrigin ? step.headers : step.headers.filter(([name]) => !isSecret(name, secrets)),
    body: isSameOrigin && !becomesGet ? step.body : undefined,
  });
}

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

function isSecret(name: string, secrets: ReadonlySet<string>): boolean {
  const lower = name.toLowerCase();
  return CREDENTIALS.has(lower) || secrets.has(lower);
}

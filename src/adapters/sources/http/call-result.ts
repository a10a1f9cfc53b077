import { type BuiltInResult, refused } from '../built-in-tool.ts';
import { type AnswerOptions, answerResult } from './answer-result.ts';
import type { HttpCall, HttpPort } from './open-http.ts';

/** The request of a call, ready to be sent. */
export type ReadyRequest = Pick<HttpCall, 'method' | 'url' | 'headers' | 'body' | 'secretHeaders'> & {
  readonly shownUrl: string;
};

interface Sending
  extends
    Pick<HttpCall, 'chosenBy' | 'maxBytes' | 'signal'>,
    Pick<AnswerOptions, 'filter' | 'hasOutputSchema'> {
  readonly http: HttpPort;
}

/** How sentences call a request. */
export function shownRequest({ method, shownUrl }: ReadyRequest): string {
  return `${method} ${shownUrl}`;
}

/** Sends a request; what a model gets of it. Throws where nobody waits any more: there is nobody to read a result. */
export async function callResult(request: ReadyRequest, sending: Sending): Promise<BuiltInResult> {
  const { http, chosenBy, maxBytes, signal, filter, hasOutputSchema } = sending;
  const answer = await http.send({ ...request, chosenBy, maxBytes, signal });
  if (!answer.ok) {
    signal.throwIfAborted();
    return refused(answer.error);
  }
  return answerResult(answer.value, {
    filter,
    signal,
    hasOutputSchema,
    request: shownRequest(request),
    url: request.url,
  });
}

const MASK = '***';
/** A shorter one stands in many a word. */
const SHORTEST = 4;

/**
 * A result without what its request said of who asks, where it is an error: that is told in words of ours, and an API that
 * quotes what it was sent must not make us tell it. What comes of a call that went well is the API's own, and stays.
 */
export function withoutSecrets(result: BuiltInResult, secrets: readonly string[]): BuiltInResult {
  if (result.isError !== true) return result;
  const forms = [...new Set(secrets.flatMap(formsOf))].sort((one, other) => other.length - one.length);
  const masked = (text: string): string => forms.reduce((left, form) => left.replaceAll(form, MASK), text);
  const content = result.content.map((part) =>
    typeof part['text'] === 'string' ? { ...part, text: masked(part['text']) } : part,
  );
  return { ...result, content };
}

/** What a header holds is a secret as a whole, and what of it stands behind a scheme (RFC 9110, section 11.4). */
export function secretsInHeader(value: string): readonly string[] {
  const [, scheme = '', credentials = ''] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value) ?? [];
  if (credentials === '') return [value];
  if (scheme.toLowerCase() !== 'basic') return [value, credentials];
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return [value, credentials, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** As it is, and as it stands in a URL, in a form and in JSON. */
function formsOf(secret: string): readonly string[] {
  if (secret.length < SHORTEST || !secret.isWellFormed()) return [];
  const inUrl = encodeURIComponent(secret);
  const inForm = new URLSearchParams({ a: secret }).toString().slice(2);
  return [secret, inUrl, inForm, JSON.stringify(secret).slice(1, -1)];
}

import type { BuiltInResult } from '../built-in-tool.ts';

const MASK = '***';
/** Shorter secrets are not masked: they are part of many words. */
const MIN_LENGTH = 4;

/**
 * Masks the request's secrets in an error: an API may quote them, and the error text is ours. A successful result is
 * the API's own and stays unchanged.
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

/** Raw, and as encoded in a URL, a form and JSON. */
function formsOf(secret: string): readonly string[] {
  if (secret.length < MIN_LENGTH || !secret.isWellFormed()) return [];
  const inUrl = encodeURIComponent(secret);
  const inForm = new URLSearchParams({ a: secret }).toString().slice(2);
  return [secret, inUrl, inForm, JSON.stringify(secret).slice(1, -1)];
}

/** A header's value, and the credentials after its scheme (RFC 9110, section 11.4). */
export function secretsInHeader(value: string): readonly string[] {
  const [, scheme = '', credentials = ''] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value) ?? [];
  if (credentials === '') return [value];
  if (scheme.toLowerCase() !== 'basic') return [value, credentials];
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  return [value, credentials, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** Parts of an address's path and query that look like keys. */
export function keysIn(address: string): readonly string[] {
  return address.split(/\{[^{}]*\}|[/?&=#]/).filter((part) => LIKE_A_KEY.test(part));
}

/** At least 16 characters, with both letters and digits. */
const LIKE_A_KEY = /^(?=.*[A-Za-z])(?=.*\d).{16,}$/;

/** An address for messages: origin and path, with `{argument}` unfilled and anything that looks like a key masked. */
export function shownAddress(origin: string, path: string): string {
  const steps = path.split('/').map((step) => step.replace(/\{[^{}]*\}|[^{}]+/g, shownPart));
  return origin + steps.join('/');
}

function shownPart(part: string): string {
  return !part.startsWith('{') && LIKE_A_KEY.test(part) ? '***' : part;
}

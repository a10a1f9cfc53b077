import { MASKED } from '@assay-mcp/kit/secret-shapes';
import { isKeyInUrl } from '../../../core/secrets/secret-values.ts';
import { Secrets } from '../../../core/secrets/secrets.ts';
import type { BuiltInResult } from '../built-in-tool.ts';

/** Shorter secrets are not masked: they are part of many words. */
const MIN_LENGTH = 4;

/**
 * Masks the request's secrets in an error: an API may quote them, and the error text is ours. A successful result is
 * the API's own and stays unchanged.
 */
export function maskResultSecrets(result: BuiltInResult, secrets: readonly string[]): BuiltInResult {
  if (result.isError !== true) return result;
  const known = new Secrets(MIN_LENGTH);
  known.add(secrets);
  const content = result.content.map((part) =>
    typeof part['text'] === 'string' ? { ...part, text: known.maskKnown(part['text']) } : part,
  );
  return { ...result, content };
}

/** An address for messages: origin and path, with `{argument}` unfilled and anything that looks like a key masked. */
export function formatAddress(origin: string, path: string): string {
  const steps = path.split('/').map((step) => step.replace(/\{[^{}]*\}|[^{}]+/g, shownPart));
  return origin + steps.join('/');
}

function shownPart(part: string): string {
  return !part.startsWith('{') && isKeyInUrl(part) ? MASKED : part;
}

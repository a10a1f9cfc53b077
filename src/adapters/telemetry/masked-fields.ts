import { isCredentialKey } from './credential-names.ts';
import { MASKED } from './secret-shapes.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Deeper than this nothing is shown: nobody reads it in a log. */
const MOST_DEPTH = 8;
const TOO_DEEP = '[too deep]';

/**
 * The fields of a log line with `mask` applied to every text in them, and with what a key says to be a credential masked
 * whole. Texts are masked before they are written as JSON, so that the line is JSON afterwards too.
 */
export function maskedFields(fields: Fields, mask: (text: string) => string): Fields {
  return maskedObject(fields, mask, 0);
}

function maskedObject(object: object, mask: (text: string) => string, depth: number): Fields {
  const entries = Object.entries(object).map(([key, value]) => {
    const isHidden =
      isCredentialKey(key) && value !== undefined && value !== null && typeof value !== 'boolean';
    return [mask(key), isHidden ? MASKED : maskedValue(value, mask, depth + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function maskedValue(value: unknown, mask: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MOST_DEPTH) return TOO_DEEP;
  if (value instanceof Error) return mask(value.stack ?? value.message);
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return maskedValue((value as { toJSON: () => unknown }).toJSON(), mask, depth + 1);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, mask, depth + 1));
  return maskedObject(value, mask, depth);
}

import { type Cause, mapTexts } from './cause.ts';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from './refusal.ts';
import { shorten } from '@assay-mcp/kit/shorten';

const MAX_TEXT_LENGTH = 200;
const MAX_TEXTS = 50;

/** Truncates texts, since their length is controlled by the peer. */
export function shortenRefusal(refusal: Refusal): Refusal {
  const entries = Object.entries(refusal).map(([key, value]) => [key, boundedValue(key, value)] as const);
  return Object.fromEntries(entries) as unknown as Refusal; // the same members, of the same types
}

function boundedValue(key: string, value: unknown): unknown {
  if (key === 'cause') return value === undefined ? undefined : mapTexts(value as Cause, shortenPeerText); // its only type
  if (Array.isArray(value)) return value.slice(0, MAX_TEXTS).map((one) => boundedValue('', one));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, boundedValue(name, one)]));
  return typeof value === 'string' ? shortenPeerText(value) : value;
}

export function shortenPeerText(text: string): string {
  return shorten(text, MAX_TEXT_LENGTH);
}

import type { Refusal } from './refusal.ts';

/** Why something could not be stored, as a phrase; undefined for a refusal that has nothing to do with the store. */
export function unsavedReason(refusal: Refusal): string | undefined {
  if (refusal.code === 'STORE_UNAVAILABLE') return refusal.reason;
  if (refusal.code !== 'STORE_MOVED') return undefined;
  return 'the file of the store was deleted, moved or replaced';
}

import { shortHash } from '../digest.ts';

const DIGITS = 8;

/**
 * A mark of something that must not be told, such as an address: it changes with it, so that a definition does, and what
 * was said of the one does not hold for the other.
 */
export function markOf(what: string): string {
  return shortHash(what, DIGITS);
}

/** The member of `_meta` in which a function says of which module it is. */
export const FUNCTION_FACTS = 'assay/function';

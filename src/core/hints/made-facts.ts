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

/** The member of `_meta` in which a tool that makes an HTTP request says which one. Hints follow from its method. */
export const HTTP_FACTS = 'assay/http';

export interface HttpFacts {
  /** In capitals; absent: nobody said it, and nothing follows. */
  readonly method?: string | undefined;
  /** A mark of where its requests go. */
  readonly target?: string | undefined;
  /** Path template of the operation in its document. */
  readonly path?: string | undefined;
}

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

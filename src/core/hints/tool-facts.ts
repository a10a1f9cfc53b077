import { shortHash } from '../digest.ts';

/**
 * What Assay knows of a tool that it builds itself. It is kept beside the definition, which clients see, and never in it:
 * a server's own `_meta` must not be taken for it.
 */
export interface ToolFacts {
  readonly kind: 'rest' | 'openapi' | 'function';
  /** HTTP method of its request, in capitals; absent where nobody stated it, so that nothing may be inferred. */
  readonly method?: string | undefined;
  /** Path template of the operation in its document. */
  readonly path?: string | undefined;
  /** Mark of the URL that its requests go to. */
  readonly target?: string | undefined;
  /** Mark of the path of its function module. */
  readonly module?: string | undefined;
}

const MARK_DIGITS = 8;

/** A short hash in place of an address or path that must not be disclosed, but whose change must be noticed. */
export function markOf(text: string): string {
  return shortHash(text, MARK_DIGITS);
}

/** The member that holds the facts in the text of a tool's record. */
export const FACTS_MEMBER = 'source';

/**
 * JSON text of everything that a source says about a tool: what digests, drift and toolsets are computed from. It is the
 * definition itself, with the facts as one more member where Assay builds the tool.
 */
export function recordText(definition: string, facts: ToolFacts | undefined): string {
  if (facts === undefined) return definition;
  return `${definition.slice(0, definition.lastIndexOf('}'))},${JSON.stringify(FACTS_MEMBER)}:${JSON.stringify(facts)}}`;
}

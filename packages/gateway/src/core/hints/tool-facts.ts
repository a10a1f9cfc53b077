/**
 * Assay's own facts about a tool that it builds. They are kept beside the definition that clients see, never in it: a
 * server's own `_meta` must not be taken for them.
 */
export interface ToolFacts {
  readonly kind: 'rest' | 'openapi' | 'function';
  /** HTTP method of its request, in capitals. Absent if it was not stated, so that nothing is inferred. */
  readonly method?: string | undefined;
  /** Path template of the operation in its document. */
  readonly path?: string | undefined;
  /** Short hash of the URL that its requests go to. */
  readonly target?: string | undefined;
  /** Short hash of the path of its function module. */
  readonly module?: string | undefined;
}

/** The member that holds the facts in the text of a tool's record. */
export const FACTS_MEMBER = 'source';

/**
 * JSON text of everything that a source declares about a tool, from which digests, drift and toolsets are computed: the
 * definition itself, plus the facts as one more member if Assay builds the tool.
 */
export function serializeDeclared(definition: string, facts: ToolFacts | undefined): string {
  if (facts === undefined) return definition;
  return `${definition.slice(0, definition.lastIndexOf('}'))},${JSON.stringify(FACTS_MEMBER)}:${JSON.stringify(facts)}}`;
}

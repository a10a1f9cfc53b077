import type { Node } from 'web-tree-sitter';
import type { ChunkKind } from '../../source-chunk.ts';

/** The role of a syntax node in dividing a file into chunks. Nodes without a rule are not entered. */
export type Rule =
  /** A declaration. */
  | { readonly role: 'symbol'; readonly describe: Describe }
  /** A namespace: only the names in it matter. */
  | { readonly role: 'scope' }
  /** Belongs to the declaration in it, such as `export` and decorators. */
  | { readonly role: 'wrapper' }
  /** May contain declarations, if it has at least this many lines. */
  | { readonly role: 'through'; readonly minLines: number }
  /** Belongs to the declaration that follows: a comment, an attribute. */
  | { readonly role: 'lead' };

export interface Description {
  readonly kind: ChunkKind;
  readonly name: string | null;
  /** The symbol that this one is a member of, although it is declared elsewhere. */
  readonly owner?: string | null | undefined;
  /** Where the signature ends. */
  readonly body?: Node | null | undefined;
}

/** Returns undefined if the node is not a declaration after all; if large, it is then searched for declarations. */
export type Describe = (node: Node) => Description | 'scope' | 'through' | undefined;

/** Rules by node type. */
export type Rules = Readonly<Record<string, Rule>>;

export const WRAPPER: Rule = { role: 'wrapper' };
export const THROUGH: Rule = { role: 'through', minLines: 0 };
export const LEAD: Rule = { role: 'lead' };
export const SCOPE: Rule = { role: 'scope' };
/** Statements and expressions of this size may be a whole module, as in `(function () { … })()`. */
export const LARGE_LINES: number = 40;
export const LARGE: Rule = { role: 'through', minLines: LARGE_LINES };
/** A value with fewer lines stays with the code around it. */
const CONSTANT_LINES = 3;

/** A declaration with the fields `name` and `body`. */
export function createNamedRule(kind: ChunkKind): Rule {
  return createSymbolRule((node) => ({
    kind,
    name: getFieldText(node, 'name'),
    body: node.childForFieldName('body'),
  }));
}

export function createSymbolRule(describe: Describe): Rule {
  return { role: 'symbol', describe };
}

/** A value that has a name, if it is long enough for a chunk of its own. */
export function describeConstant(
  node: Node,
  name: string | null | undefined,
  value: Node | null,
): Description | undefined {
  if (countLines(node) < CONSTANT_LINES || !DOTTED_NAME.test(name ?? '')) return undefined;
  const parts = (name ?? '').split(SEPARATOR);
  const last = parts.pop() ?? '';
  return { kind: 'constant', name: last, owner: parts.length === 0 ? null : parts.join('.'), body: value };
}

/** `x`, `$x`, `@x`, `Point.ORIGIN` or `Point::ORIGIN`. Does not match a pattern of several names. */
const DOTTED_NAME = /^@{0,2}[\p{L}_$][\p{L}\p{M}\p{N}_$]*(?:(?:[.]|::)[\p{L}_$][\p{L}\p{M}\p{N}_$]*)*$/u;
const SEPARATOR = /[.]|::/;

export function countLines({ startPosition, endPosition }: Node): number {
  return endPosition.row - startPosition.row + 1;
}

export function getFieldText(node: Node, field: string): string | null {
  return node.childForFieldName(field)?.text ?? null;
}

/** The first child of one of these types. */
export function findChildOfType(node: Node, ...types: readonly string[]): Node | undefined {
  return node.namedChildren.find(({ type }) => types.includes(type));
}

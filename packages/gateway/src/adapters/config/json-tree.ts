import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** The first position where a text stops being JSON. */
export interface SyntaxFault {
  readonly offset: number;
  readonly reason: string;
}

/** Parses JSON as editors allow it in settings, with comments and trailing commas. Nodes have their positions. */
export function parseJsonTree(text: string): Result<Node, SyntaxFault> {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [first] = errors;
  if (first !== undefined)
    return err({
      offset: first.offset,
      reason: FAULTS.get(printParseErrorCode(first.error)) ?? 'this is not JSON',
    });
  return root === undefined ? err({ offset: 0, reason: 'the file is empty' }) : ok(root);
}

/** A member of an object: its key, the key's node, and its value. */
export interface TreeMember {
  readonly key: string;
  readonly keyNode: Node;
  readonly value: Node;
}

export function getTreeMembers(object: Node): readonly TreeMember[] {
  return (object.children ?? []).flatMap(({ children: [keyNode, value] = [] }) =>
    keyNode === undefined || value === undefined ? [] : [{ key: String(keyNode.value), keyNode, value }],
  );
}

/**
 * The tree of a value that was not parsed as JSON. `offsetAt` returns the offset of a value that has one of its own.
 */
export function toTree(
  value: unknown,
  offset: number,
  offsetAt: (path: readonly string[]) => number | undefined = () => undefined,
): Node {
  const span = { offset, length: 0 };
  const inner = (key: string, member: unknown): Node =>
    toTree(member, offsetAt([key]) ?? offset, (path) => offsetAt([key, ...path]));
  if (Array.isArray(value))
    return { ...span, type: 'array', children: value.map((item, index) => inner(String(index), item)) };
  if (isJsonObject(value)) {
    const children = Object.entries(value).map(([key, member]): Node => {
      const node = inner(key, member);
      const keyNode: Node = { ...span, offset: node.offset, type: 'string', value: key };
      return { ...span, offset: node.offset, type: 'property', children: [keyNode, node] };
    });
    return { ...span, type: 'object', children };
  }
  if (typeof value === 'boolean') return { ...span, type: 'boolean', value };
  if (typeof value === 'number') return { ...span, type: 'number', value };
  return value === null ? { ...span, type: 'null', value } : { ...span, type: 'string', value };
}

/** Line and column of an offset, both counted from 1. */
export function toPosition(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const FAULTS: ReadonlyMap<string, string> = new Map([
  ['InvalidSymbol', 'this is not a JSON value'],
  ['InvalidNumberFormat', 'this is not a JSON number'],
  ['PropertyNameExpected', 'a key in double quotes is expected here'],
  ['ValueExpected', 'a value is expected here'],
  ['ColonExpected', 'a colon is expected here'],
  ['CommaExpected', 'a comma is expected here'],
  ['CloseBraceExpected', 'a closing brace is missing'],
  ['CloseBracketExpected', 'a closing bracket is missing'],
  ['EndOfFileExpected', 'the file should end here'],
  ['UnexpectedEndOfComment', 'a comment is not closed'],
  ['UnexpectedEndOfString', 'a string is not closed'],
  ['UnexpectedEndOfNumber', 'a number is not complete'],
  ['InvalidUnicode', 'a "\\u" escape is not complete'],
  ['InvalidEscapeCharacter', 'this escape does not exist in JSON'],
  ['InvalidCharacter', 'a string contains a control character'],
]);

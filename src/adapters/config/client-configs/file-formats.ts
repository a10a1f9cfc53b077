import type { Node } from 'jsonc-parser';
import type { Result } from '../../../core/result.ts';
import { withMember, withoutMember, type Edited } from '../json-edit.ts';
import { membersOf, parseJsonTree, type SyntaxFault } from '../json-tree.ts';
import type { Client } from './clients.ts';
import { parseTomlTree, withTable, withoutTable } from './toml-file.ts';

/** Reads and edits one format of settings files. An edit leaves all bytes outside the member unchanged. */
interface FileFormat {
  /** A tree of JSON values with their positions. */
  readonly parse: (text: string) => Result<Node, SyntaxFault>;
  readonly withMember: (text: string, path: readonly string[], value: unknown) => Result<Edited, SyntaxFault>;
  /** Undefined if there is no such member. */
  readonly withoutMember: (text: string, path: readonly string[]) => string | undefined;
}

export const FORMATS: Readonly<Record<Client['format'], FileFormat>> = {
  json: { parse: parseJsonTree, withMember, withoutMember },
  toml: { parse: parseTomlTree, withMember: withTable, withoutMember: withoutTable },
};

/** The object at a path. Undefined if something else is there, or nothing. */
export function objectAt(root: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const key of path) node = node && valueAt(node, key);
  return node?.type === 'object' ? node : undefined;
}

export function valueAt(node: Node, key: string): Node | undefined {
  return node.type === 'object' ? membersOf(node).find((one) => one.key === key)?.value : undefined;
}

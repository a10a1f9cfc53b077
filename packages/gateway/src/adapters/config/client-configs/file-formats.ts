import type { Node } from 'jsonc-parser';
import type { Result } from '@assay-mcp/kit/result';
import { setJsonMember, removeJsonMember, type Edited } from '../json-edit.ts';
import { getTreeMembers, parseJsonTree, type SyntaxFault } from '../json-tree.ts';
import type { Client } from './clients.ts';
import { parseTomlTree, setTomlTable, removeTomlTable } from './toml-file.ts';

/** Reads and edits one format of settings files. An edit leaves all bytes outside the member unchanged. */
interface FileFormat {
  /** A tree of JSON values with their positions. */
  readonly parse: (text: string) => Result<Node, SyntaxFault>;
  readonly withMember: (text: string, path: readonly string[], value: unknown) => Result<Edited, SyntaxFault>;
  /** Undefined if there is no such member. */
  readonly withoutMember: (text: string, path: readonly string[]) => string | undefined;
}

export const FORMATS: Readonly<Record<Client['format'], FileFormat>> = {
  json: { parse: parseJsonTree, withMember: setJsonMember, withoutMember: removeJsonMember },
  toml: { parse: parseTomlTree, withMember: setTomlTable, withoutMember: removeTomlTable },
};

/** The object at a path. Undefined if something else is there, or nothing. */
export function findObjectAt(root: Node, path: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const key of path) node = node && findValueAt(node, key);
  return node?.type === 'object' ? node : undefined;
}

export function findValueAt(node: Node, key: string): Node | undefined {
  return node.type === 'object' ? getTreeMembers(node).find((one) => one.key === key)?.value : undefined;
}

import assert from 'node:assert/strict';
import { parseTree, type Node } from 'jsonc-parser';

/** The value of a JSON text in UTF-8. Undefined if it is not JSON. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * Asserts that all parsers find the same value at each path, whether they take the first or the last of duplicate
 * members, and even if they ignore case (as Go's `encoding/json` does).
 */
export function sameForAllReaders(bytes: Buffer, paths: readonly (readonly string[])[]): void {
  const root = parseTree(bytes.toString());
  assert.ok(root);
  for (const path of paths) {
    const parent = path.slice(0, -1).reduce<Node | undefined>((node, key) => named(node, key)[0], root);
    const found = named(parent, path.at(-1) ?? '');
    assert.ok(found.length <= 1, `${path.join('.')} stands ${found.length} times`);
  }
}

function named(node: Node | undefined, key: string): readonly Node[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap(({ children: [name, value] = [] }) =>
    value !== undefined && folded(String(name?.value)) === folded(key) ? [value] : [],
  );
}

/** Simple Unicode case folding, for keys that fold to ASCII, as the long s and the Kelvin sign also do. */
function folded(key: string): string {
  return key.replaceAll('\u017f', 's').toLowerCase();
}

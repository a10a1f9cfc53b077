import { getNodeValue, type Node } from 'jsonc-parser';
import type { Fault } from '@assay-mcp/kit/json-position';
import { described, object, optional, type Reader } from '@assay-mcp/kit/json-reader';
import { readRules } from '../../core/policy/read-rules.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatKeyPath, resolvePosition } from './problem-collector.ts';
import { getTreeMembers, type SyntaxFault } from './json-tree.ts';

const POLICY = 'policy';

/** `policy` of a config. */
export const policy: Reader<{ readonly rules?: readonly PolicyRule[] | undefined }> = object({
  rules: described('rules in any order', optional(readRules)),
});

/**
 * `policy` of a config. A file with an invalid rule is rejected as a whole: skipping a rule that refuses would allow
 * calls that its author wants refused.
 */
export function readPolicy(node: Node): Result<readonly PolicyRule[], SyntaxFault> {
  const twice = repeatedKey(node);
  if (twice !== undefined) return err(twice);
  const faults: Fault[] = [];
  const { rules = [] } = policy({ value: getNodeValue(node), pointer: '', faults });
  const [first] = faults;
  return first === undefined ? ok(rules) : err(faultIn(node, first));
}

function faultIn(policy: Node, { pointer, reason }: Fault): SyntaxFault {
  const { node, path } = resolvePosition({ node: policy, path: [POLICY] }, pointer);
  return { offset: node.offset, reason: `${formatKeyPath(path)}: ${reason}` };
}

/** Parsers differ in which of two equal keys they use, and one may allow what the other refuses. */
function repeatedKey(node: Node): SyntaxFault | undefined {
  const seen = new Set<string>();
  for (const { key, keyNode } of node.type === 'object' ? getTreeMembers(node) : []) {
    if (seen.has(key))
      return { offset: keyNode.offset, reason: `the key ${JSON.stringify(key)} appears twice` };
    seen.add(key);
  }
  for (const child of node.children ?? []) {
    const found = repeatedKey(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

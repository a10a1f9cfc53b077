import assert from 'node:assert/strict';
import type { Fault } from '@assay-mcp/kit/json-position';
import { compilePolicy } from '../../../packages/gateway/src/core/policy/compile-policy.ts';
import { readRules } from '../../../packages/gateway/src/core/policy/read-rules.ts';
import type { PolicyRule } from '../../../packages/gateway/src/core/policy/rule.ts';
import {
  ALL_HINTS,
  callerWith,
  cautionOf,
  claimsOf,
  DEFAULT_PREFERENCES,
  toolWith,
} from '../../../packages/gateway/test/core/policy/tools.ts';
import { jsonOf } from '../readers.ts';

const TOOLS = ALL_HINTS.map((hints, at) =>
  toolWith(claimsOf(hints, 'trusted'), { server: `s${at % 3}`, name: `t${at}`, tags: ['outbound'] }),
);
const CALLERS = [
  callerWith(),
  callerWith({ toolset: 'a', labels: new Set(['saw-untrusted', 'saw-private']) }),
];

/**
 * Rules are refused with their faults, or decide the same in any order; an added rule that refuses makes no decision less
 * cautious.
 */
export function fuzz(bytes: Buffer): void {
  const faults: Fault[] = [];
  const rules = readRules({ value: jsonOf(bytes), pointer: '', faults });
  if (faults.length > 0) return;
  const cautions = cautionsOf(rules);
  assert.deepEqual(cautionsOf(rules.toReversed()), cautions);
  const stricter = cautionsOf([...rules, { effect: 'refuse', tool: ['s1.*'] }]);
  for (const [at, caution] of cautions.entries()) assert.ok((stricter[at] ?? 0) >= caution);
}

function cautionsOf(rules: readonly PolicyRule[]): readonly number[] {
  const policy = compilePolicy({ preferences: { ...DEFAULT_PREFERENCES, approvals: 'gateway' }, rules });
  return CALLERS.flatMap((caller) => TOOLS.map((tool) => cautionOf(policy.decide({ ...caller, tool }))));
}

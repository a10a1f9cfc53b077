import * as z from 'zod';
import { EFFECTS } from '../core/policy/policy.ts';
import type { Data } from './data.ts';
import { mapHints } from './hint.ts';

const PATTERNS = z.array(z.string()).exactOptional();

/** A rule as in the config file. */
export const POLICY_RULE = z
  .object({
    effect: z.enum(EFFECTS),
    name: z.string().exactOptional(),
    because: z
      .string()
      .exactOptional()
      .meta({ description: 'The reason, shown when a call needs an approval or is refused.' }),
    server: PATTERNS,
    tool: PATTERNS.meta({ description: 'Patterns that match `server.tool`.' }),
    tag: PATTERNS,
    toolset: PATTERNS,
    token: PATTERNS,
    hints: z
      .object(mapHints(z.boolean().exactOptional()))
      .exactOptional()
      .meta({ description: 'Effective values. An unknown value never satisfies `allow`.' }),
  })
  .meta({ id: 'PolicyRule' });

export type PolicyRule = Data<typeof POLICY_RULE>;

export const POLICY_RULE_LIST = z
  .object({
    rules: z.array(POLICY_RULE).meta({ description: 'The stored rules.' }),
    configFileRules: z
      .array(POLICY_RULE)
      .meta({ description: 'The rules of the config file, which can be changed only there.' }),
  })
  .meta({ id: 'PolicyRules' });

export type PolicyRuleList = Data<typeof POLICY_RULE_LIST>;

const PATTERNS_INPUT = z.union([z.string(), z.array(z.string())]).optional();

const RULE_INPUT = POLICY_RULE.extend({
  server: PATTERNS_INPUT,
  tool: PATTERNS_INPUT,
  tag: PATTERNS_INPUT,
  toolset: PATTERNS_INPUT,
  token: PATTERNS_INPUT,
}).meta({ id: 'PolicyRuleInput', description: 'A list of one pattern may be given as its text.' });

export const POLICY_RULES_INPUT = z.object({ rules: z.array(RULE_INPUT) }).meta({ id: 'PolicyRulesInput' });

/** The body that replaces the stored rules. */
export type PolicyRulesInput = Data<typeof POLICY_RULES_INPUT>;

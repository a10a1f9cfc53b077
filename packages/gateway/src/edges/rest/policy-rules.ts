import { POLICY_RULE_LIST, POLICY_RULES_INPUT, type PolicyRule } from '../../api/policy-rule.ts';
import type { Fault } from '@assay-mcp/kit/json-position';
import { readRules } from '../../core/policy/read-rules.ts';
import { err, ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import type { Failure } from './failure.ts';
import { route, type Route } from './route.ts';

const EXAMPLE: PolicyRule = {
  effect: 'refuse',
  name: 'no deletes',
  tool: ['linear.delete_*'],
  because: 'Ask Ann first.',
};

const ANSWER = {
  about: 'The stored rules, and those of the config file, which have equal weight.',
  schema: POLICY_RULE_LIST,
  example: { rules: [EXAMPLE], configFileRules: [] },
};

/** Routes of the rules by which calls are decided. */
export function policyRuleRoutes({ policyRules }: Pick<AdminDeps, 'policyRules'>): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/policy/rules',
        id: 'getPolicyRules',
        summary: 'List the policy rules',
        answer: ANSWER,
      },
      async () => {
        const viewed = await policyRules.view();
        return viewed.ok ? ok({ kind: 'one', body: viewed.value }) : viewed;
      },
    ),
    route(
      {
        method: 'put',
        path: '/policy/rules',
        id: 'putPolicyRules',
        summary: 'Replace the stored rules',
        about: 'They take effect at once. Rules of the config file are not changed.',
        isConditional: true,
        body: {
          schema: POLICY_RULES_INPUT,
          examples: { refuse: { rules: [EXAMPLE] } },
        },
        answer: ANSWER,
        refusals: ['RECORD_UNREADABLE'],
      },
      async ({ body, identity, pointerTo, unmet }) => {
        const faults: Fault[] = [];
        const position = { value: body.rules, pointer: pointerTo('rules'), faults };
        const rules = readRules(position);
        if (faults.length > 0) return err(invalid(faults));
        const done = await policyRules.replace(rules, { by: identity.subject, unmet });
        return done.ok ? ok({ kind: 'one', body: done.value }) : done;
      },
    ),
  ];
}

function invalid(faults: readonly Fault[]): Failure {
  return {
    code: 'BODY_INVALID',
    fieldErrors: faults.map(({ pointer, reason }) => ({ at: pointer, kind: 'invalid', reason })),
  };
}

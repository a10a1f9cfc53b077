import { z } from '@hono/zod-openapi';
import { HINTS } from '../../core/hints/hint.ts';
import type { Fault } from '../../core/json-position.ts';
import { EFFECTS, readRules } from '../../core/policy/read-rules.ts';
import { err, ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { Failure } from './failure.ts';
import { route, type Route } from './route.ts';

const PATTERNS = z.union([z.string(), z.array(z.string())]).optional();

const RULE = z
  .object({
    effect: z.enum(EFFECTS),
    name: z.string().optional(),
    because: z
      .string()
      .optional()
      .openapi({ description: 'The reason, shown when a call needs an approval or is refused.' }),
    server: PATTERNS,
    tool: PATTERNS.openapi({ description: 'Patterns that match `server.tool`.' }),
    tag: PATTERNS,
    toolset: PATTERNS,
    token: PATTERNS,
    hints: z
      .object(Object.fromEntries(HINTS.map((hint) => [hint, z.boolean().optional()])))
      .optional()
      .openapi({ description: 'Effective values. An unknown value never satisfies `allow`.' }),
  })
  .openapi('PolicyRule');

const EXAMPLE = {
  effect: 'refuse',
  name: 'no deletes',
  tool: ['linear.delete_*'],
  because: 'Ask Ann first.',
};

const ANSWER = {
  about: 'The stored rules, and those of the config file, which have equal weight.',
  schema: z.object({ rules: z.array(RULE), configFileRules: z.array(RULE) }).openapi('PolicyRules'),
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
          schema: z.object({ rules: z.array(RULE) }).openapi('PolicyRulesInput'),
          wrapper: 'policy',
          examples: { refuse: { rules: [EXAMPLE] } },
          current: async () => {
            const viewed = await policyRules.view();
            return viewed.ok ? { ...viewed.value } : undefined;
          },
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

import { z } from '@hono/zod-openapi';
import { CONFIRMS } from '../../core/confirm.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { SESSION_LABELS } from '../../core/policy/policy.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

const EFFECT = z.enum(['allow', 'ask', 'refuse']);

const DECISION = z
  .object({
    tool: z.string(),
    namespacedName: z.string(),
    decision: EFFECT,
    per: z
      .enum(['call', 'session'])
      .optional()
      .openapi({ description: 'Whether each call is asked for, or only the first one of a session.' }),
    isCarriedOut: z.boolean().openapi({ description: 'Whether such a call would be carried out now.' }),
    reasons: z
      .array(z.looseObject({ code: z.string(), text: z.string() }))
      .openapi({ description: 'The first one decides.' }),
    warnings: z.array(z.string()).openapi({ description: 'What a person should know before they confirm.' }),
    hints: z.array(
      z.object({
        hint: z.enum(HINTS),
        value: z.boolean().openapi({ description: 'The value that decisions use.' }),
        isKnown: z.boolean().openapi({ description: 'Whether a trusted source or an operator states it.' }),
        reason: z.string(),
        reasonCode: z.string(),
      }),
    ),
    rules: z.array(z.object({ rule: z.string(), effect: EFFECT, applies: z.boolean() })),
    labels: z.array(z.enum(SESSION_LABELS)).openapi({ description: 'What the caller has seen.' }),
    tags: z.array(z.string()).openapi({ description: 'The tags of the tool and of its gateway.' }),
    confirm: z
      .enum([...CONFIRMS, 'suspended'])
      .optional()
      .openapi({ description: 'What was set for the tool.' }),
    preferences: z
      .looseObject({ approvals: z.enum(['client', 'gateway']) })
      .optional()
      .openapi({ description: 'Absent if the store could not be read.' }),
  })
  .openapi('Decision');

const QUERY = z.object({
  token: z.string().optional().openapi({ description: 'Name of the token that calls; default: local.' }),
  toolset: z.string().optional().openapi({ description: 'Name of the toolset through which it is called.' }),
});

/** Explains how calls of a tool are decided. Calls nothing. */
export function decisionRoutes({ tools }: AdminDeps): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/tools/{id}/decision',
        id: 'explainDecision',
        summary: 'Whether a call of a tool is allowed, asked for or refused, and why',
        query: QUERY,
        answer: { about: 'The decision, and everything that it is based on.', schema: DECISION },
        refusals: ['TOOL_UNKNOWN'],
      },
      async ({ param, query: { token = LOCAL_USER.subject, toolset } }) => {
        const explained = await tools.explain(param('id'), { token, toolset });
        return explained.ok ? ok({ kind: 'one', body: explained.value }) : explained;
      },
    ),
  ];
}

import { z } from '@hono/zod-openapi';
import { CONFIRMS } from '../../core/confirm.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { ASKED_PER, SESSION_LABELS } from '../../core/policy/policy.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';
import { reasonsFor } from './without-evidence.ts';

const EFFECT = z.enum(['allow', 'ask', 'refuse']);

const DECISION = z
  .object({
    tool: z.string(),
    namespacedName: z.string(),
    decision: EFFECT,
    per: z.enum(ASKED_PER).optional().openapi({
      description:
        'Whether every call needs an approval, or only the first of a session, of the tool or to its server.',
    }),
    isCarriedOut: z.boolean().openapi({ description: 'Whether such a call would be sent now.' }),
    reasons: z
      .array(z.looseObject({ code: z.string(), text: z.string() }))
      .openapi({ description: 'The first entry is decisive.' }),
    warnings: z.array(z.string()).openapi({ description: 'Warnings to show before an approval.' }),
    hints: z.array(
      z.object({
        hint: z.enum(HINTS),
        value: z.boolean().openapi({ description: 'The value used for decisions.' }),
        isKnown: z
          .boolean()
          .openapi({ description: 'Whether the value comes from a trusted source or an operator.' }),
        reason: z.string(),
        reasonCode: z.string(),
      }),
    ),
    rules: z.array(z.object({ rule: z.string(), effect: EFFECT, applies: z.boolean() })),
    labels: z
      .array(z.enum(SESSION_LABELS))
      .openapi({ description: 'Labels of the content that the caller has received.' }),
    tags: z.array(z.string()).openapi({ description: 'Tags of the tool and of its gateway.' }),
    confirm: z
      .enum([...CONFIRMS, 'suspended'])
      .optional()
      .openapi({ description: 'The setting of the tool.' }),
    preferences: z
      .looseObject({ approvals: z.enum(['client', 'gateway']) })
      .optional()
      .openapi({ description: 'Absent if the store could not be read.' }),
  })
  .openapi('Decision');

const QUERY = z.object({
  token: z.string().optional().openapi({ description: 'Name of the caller’s token. Default: `local`.' }),
  toolset: z.string().optional().openapi({ description: 'Name of the toolset that the call goes through.' }),
});

/** Explains how calls of a tool are decided. Calls nothing. */
export function decisionRoutes({ tools }: AdminDeps): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/tools/{id}/decision',
        id: 'explainDecision',
        summary: 'Explain whether a call of a tool is allowed, needs an approval or is refused',
        query: QUERY,
        answer: { about: 'The decision and everything it is based on.', schema: DECISION },
        refusals: ['TOOL_UNKNOWN'],
      },
      async ({ param, identity, query: { token = LOCAL_USER.subject, toolset } }) => {
        const explained = await tools.explain(param('id'), { token, toolset });
        if (!explained.ok) return explained;
        const tool = await tools.find(param('id'));
        if (!tool.ok) return tool;
        const hints = reasonsFor(identity, explained.value.hints, tool.value.hints);
        return ok({ kind: 'one', body: { ...explained.value, hints } });
      },
    ),
  ];
}

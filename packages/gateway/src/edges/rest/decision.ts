import * as z from 'zod';
import { DECISION } from '../../api/decision.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';
import { hideReasonEvidence } from './without-evidence.ts';

const QUERY = z.object({
  token: z.string().optional().meta({ description: 'Name of the caller’s token. Default: `local`.' }),
  toolset: z.string().optional().meta({ description: 'Name of the toolset that the call goes through.' }),
});

/** Explains how calls of a tool are decided. Calls nothing. */
export function decisionRoutes({ tools }: Pick<AdminDeps, 'tools'>): readonly Route[] {
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
        const hints = hideReasonEvidence(identity, explained.value.hints, tool.value.hints);
        return ok({ kind: 'one', body: { ...explained.value, hints } });
      },
    ),
  ];
}

import * as z from 'zod';
import { CLIENT_SNIPPET_LIST } from '../../api/client-snippet.ts';
import { err, ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

export function snippetRoutes({
  running,
  publicUrl,
  snippets,
  needsToken,
  toolsets,
}: AdminDeps): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/snippets',
        id: 'listClientSnippets',
        summary: 'Get the entries for the config files of MCP clients',
        about: 'The same entries that `assay connect` writes.',
        query: z.object({
          toolset: z.string().optional().meta({ description: 'Absent: the equipped toolset.' }),
        }),
        answer: { about: 'Entries by client.', schema: CLIENT_SNIPPET_LIST },
        refusals: ['TOOLSET_UNKNOWN'],
      },
      async ({ query: { toolset } }) => {
        const ready = await toolsets.ready();
        if (!ready.ok) return ready;
        if (toolset !== undefined && toolsets.find(toolset) === undefined)
          return err(toolsets.unknown(toolset));
        const base = `${publicUrl ?? running().url}/mcp`;
        const url = toolset === undefined ? base : `${base}/toolsets/${toolset}`;
        const clients = await snippets({ url, toolset });
        return ok({ kind: 'one', body: { url, needsToken, clients } });
      },
    ),
  ];
}

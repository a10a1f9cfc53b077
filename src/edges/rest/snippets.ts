import { z } from '@hono/zod-openapi';
import { err, ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

const SNIPPETS = z.object({
  url: z.string().openapi({ description: 'The endpoint.' }),
  needsToken: z.boolean().openapi({ description: 'Whether clients must send a token.' }),
  clients: z.array(
    z.object({
      id: z.string(),
      label: z.string(),
      path: z.string().openapi({ description: 'The client’s config file, for the user who runs Assay.' }),
      format: z.enum(['json', 'toml']),
      stdio: z.string().openapi({ description: 'For clients that start Assay themselves; needs no token.' }),
      http: z.string().optional().openapi({ description: 'Absent if the client supports commands only.' }),
      next: z.string(),
    }),
  ),
});

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
          toolset: z.string().optional().openapi({ description: 'Absent: the equipped toolset.' }),
        }),
        answer: { about: 'Entries by client.', schema: SNIPPETS },
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

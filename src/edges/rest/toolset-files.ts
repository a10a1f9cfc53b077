import * as z from 'zod';
import { IMPORTED_TOOLSETS, TOOLSETS_FILE } from '../../api/toolset.ts';
import { ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

type Deps = Pick<AdminDeps, 'toolsetService' | 'nowMs'>;

/** Toolsets as a document, to keep in a file. */
export function toolsetFileRoutes(deps: Deps): readonly Route[] {
  return [exportRoute(deps), importRoute(deps)];
}

const EXPORT_QUERY = z.object({
  names: z.string().optional().meta({
    description: 'Names of toolsets, separated by commas. Default: all.',
    example: 'triage,release',
  }),
});

function exportRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/export/toolsets',
      id: 'exportToolsets',
      summary: 'Export toolsets with their notes',
      query: EXPORT_QUERY,
      answer: {
        about: 'The toolsets, with the definitions that tools are pinned to.',
        schema: TOOLSETS_FILE,
      },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ query }) => {
      const exported = await toolsetService.export(query.names?.split(',') ?? []);
      return exported.ok ? ok({ kind: 'one', body: exported.value }) : exported;
    },
  );
}

const MIB = 1024 * 1024;

function importRoute({ toolsetService, nowMs }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/import/toolsets',
      id: 'importToolsets',
      summary: 'Import toolsets with their notes',
      about:
        'In one transaction. A toolset that is equipped stays so, so that clients see no other tools. A tool without a server is kept.',
      body: {
        schema: z
          .object({
            document: z.unknown().meta({
              type: 'object',
              description: 'An export of toolsets, a single toolset of one, or config.json of HyperTool.',
            }),
            replace: z
              .boolean()
              .default(false)
              .meta({ description: 'Whether to replace toolsets with the same names.' }),
          })
          .meta({ id: 'ToolsetsImport' }),
        examples: {
          one: { document: { name: 'triage', tools: [{ namespacedName: 'linear.list_issues' }] } },
        },
        limits: { bytes: 16 * MIB, depth: 90 },
      },
      answer: {
        about: 'What was imported.',
        schema: IMPORTED_TOOLSETS,
        example: { imported: [{ name: 'triage', outcome: 'created' }], leftOut: [], missing: [] },
      },
      refusals: ['PARAMS_INVALID', 'TOOLSET_EXISTS', 'TOOLSETS_FULL', 'TOOLSET_FULL'],
    },
    async ({ body, identity }) => {
      const { document, replace: replaces } = body;
      // Texts are read as a file has them.
      const text = document === undefined ? '' : JSON.stringify(document);
      const done = await toolsetService.import(text, { replaces, nowMs: nowMs() }, identity);
      return done.ok ? ok({ kind: 'one', body: done.value }) : done;
    },
  );
}

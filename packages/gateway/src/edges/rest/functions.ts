import * as z from 'zod';
import { FUNCTION_MODULE } from '../../api/function-module.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import { route, type Route } from './route.ts';

const MODULE_INPUT = z
  .object({
    module: z
      .string()
      .meta({ description: 'Path of a .js, .mjs or .ts file on the machine that runs Assay.' }),
    env: z.record(z.string(), z.string()).optional(),
    reads: z.array(z.string()).optional(),
    writes: z.array(z.string()).optional(),
    memoryMb: z.int().optional(),
    timeoutMs: z.int().optional(),
  })
  .meta({ id: 'FunctionModuleInput' });

type FunctionDeps = Pick<AdminDeps, 'functionModules' | 'mayExecute'>;

/** Routes for modules whose exports are tools. */
export function functionRoutes(deps: FunctionDeps): readonly Route[] {
  return [listRoute(deps), addRoute(deps), removeRoute(deps)];
}

function listRoute({ functionModules }: FunctionDeps): Route {
  return route(
    {
      method: 'get',
      path: '/functions',
      id: 'listFunctions',
      summary: 'List the modules whose exports are tools',
      answer: { about: 'The complete list.', schema: z.object({ functions: z.array(FUNCTION_MODULE) }) },
    },
    async () => ok({ kind: 'list', body: { functions: await functionModules.list() } }),
  );
}

function addRoute(deps: FunctionDeps): Route {
  return route(
    {
      method: 'post',
      path: '/functions',
      id: 'addFunctions',
      summary: 'Add a module whose exports become tools',
      about:
        'The module runs in its own process on the machine that runs Assay, so this requires a token with the scope `execute`, and Assay must listen on loopback.',
      body: {
        schema: MODULE_INPUT,
        examples: { module: { module: '/home/me/tools/weather.ts' } },
      },
      answer: { status: 201, about: 'The module.', schema: FUNCTION_MODULE },
      refusals: ['MODULE_EXISTS', 'MODULE_INVALID', 'EXECUTE_OFF', 'KEY_UNUSABLE'],
    },
    async (call) => {
      const denied = findExecuteRefusal(deps, call);
      if (denied !== undefined) return err(denied);
      const added = await deps.functionModules.add(call.body, call.identity.subject);
      if (added.ok) return ok({ kind: 'one', body: added.value });
      if (added.error.code !== 'MODULE_INVALID') return added;
      const fieldErrors = added.error.faults.map(({ field, reason }) => ({
        at: call.pointerTo(field),
        kind: 'invalid' as const,
        reason: reason.replace(/\.$/, ''),
      }));
      return err({ code: 'BODY_INVALID', fieldErrors });
    },
  );
}

function removeRoute(deps: FunctionDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/functions',
      id: 'removeFunctions',
      summary: 'Remove a module',
      about: 'Its file is kept.',
      query: z.object({ path: z.string() }),
      answer: { status: 204, about: 'The module and its tools are removed.' },
      refusals: ['MODULE_UNKNOWN', 'MODULE_READ_ONLY'],
    },
    async (call) => {
      const removed = await deps.functionModules.remove(call.query.path, call.identity.subject);
      return removed.ok ? ok({ kind: 'none' }) : removed;
    },
  );
}

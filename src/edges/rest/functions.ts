import { z } from '@hono/zod-openapi';
import { err, ok } from '../../core/result.ts';
import { type AdminDeps, executeRefusal } from './admin-deps.ts';
import { route, type Route } from './route.ts';

const MODULE = z
  .object({
    path: z.string(),
    origin: z.enum(['config_file', 'registered']),
    env: z.array(z.string()).openapi({ description: 'Names alone.' }),
    reads: z.array(z.string()),
    writes: z.array(z.string()),
    memoryMb: z.int(),
    timeoutMs: z.int(),
    faults: z.array(z.string()).openapi({ description: 'Why it, or one of its tools, cannot be used.' }),
  })
  .openapi('FunctionModule');

const MODULE_INPUT = z
  .object({
    module: z
      .string()
      .openapi({ description: 'The path of a .js, .mjs or .ts file on the machine of Assay.' }),
    env: z.record(z.string(), z.string()).optional(),
    reads: z.array(z.string()).optional(),
    writes: z.array(z.string()).optional(),
    memoryMb: z.int().optional(),
    timeoutMs: z.int().optional(),
  })
  .openapi('FunctionModuleInput');

/** Routes for modules whose exports are tools. */
export function functionRoutes(deps: AdminDeps): readonly Route[] {
  return [listRoute(deps), addRoute(deps), removeRoute(deps)];
}

function listRoute({ functionModules }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/functions',
      id: 'listFunctions',
      summary: 'The modules whose exports are tools',
      answer: { about: 'All of them.', schema: z.object({ functions: z.array(MODULE) }) },
    },
    () => ok({ kind: 'list', body: { functions: functionModules.all() } }),
  );
}

function addRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/functions',
      id: 'addFunctions',
      summary: 'Make tools of the exports of a module',
      about:
        'The module runs in a process of its own on the machine of Assay, so that it takes a token with the scope `execute` and an Assay that listens on loopback.',
      body: {
        schema: MODULE_INPUT,
        wrapper: 'function',
        examples: { module: { module: '/home/me/tools/weather.ts' } },
      },
      answer: { status: 201, about: 'The module.', schema: MODULE },
      refusals: ['MODULE_EXISTS', 'MODULE_INVALID', 'EXECUTE_OFF', 'KEY_UNUSABLE'],
    },
    async (call) => {
      const denied = executeRefusal(deps, call);
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

function removeRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/functions',
      id: 'removeFunctions',
      summary: 'Take a module away',
      about: 'Its file stays as it is.',
      query: z.object({ path: z.string() }),
      answer: { status: 204, about: 'Its tools are gone.' },
      refusals: ['MODULE_UNKNOWN', 'MODULE_READ_ONLY'],
    },
    async (call) => {
      const removed = await deps.functionModules.remove(call.query.path, call.identity.subject);
      return removed.ok ? ok({ kind: 'none' }) : removed;
    },
  );
}

import { z } from '@hono/zod-openapi';
import { gatewayIdOf } from '../../core/hints/hint.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Server } from '../../gateway/catalog/server.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

const INSTRUCTIONS = z
  .object({
    gatewayId: z.string(),
    serverName: z.string(),
    digest: z
      .string()
      .openapi({ description: 'SHA-256 of the full accepted text, which may be longer than `text`.' }),
    text: z.string().openapi({ description: 'The accepted text, as sent to models.' }),
    drift: z.object({ since: z.iso.datetime(), digest: z.string(), text: z.string() }).optional().openapi({
      description: 'The server’s current text. It is not sent to models before it has been reviewed.',
    }),
  })
  .openapi('Instructions');

const QUERY = z.object({ drift: z.enum(['any', 'none']).optional() });

export function instructionsRoutes(deps: AdminDeps): readonly Route[] {
  return [listRoute(deps), readRoute(deps), reviewRoute(deps)];
}

function listRoute({ catalog, instructions }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/instructions',
      id: 'listInstructions',
      summary: 'List the instructions of gateways, and those that need a review',
      query: QUERY,
      answer: {
        about: 'One entry for each gateway that has ever sent instructions.',
        schema: z.object({ instructions: z.array(INSTRUCTIONS) }),
      },
    },
    ({ query }) => {
      const all = catalog.servers.flatMap(({ spec }) => instructions.viewOf(spec) ?? []);
      const wanted = all.filter(
        ({ drift }) => query.drift === undefined || (query.drift === 'any') === (drift !== undefined),
      );
      return Promise.resolve(ok({ kind: 'list', body: { instructions: wanted } }));
    },
  );
}

function readRoute({ catalog, instructions }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}/instructions',
      id: 'readInstructions',
      summary: 'Get the instructions of a gateway',
      answer: { about: 'The instructions.', schema: INSTRUCTIONS },
      refusals: ['SERVER_UNKNOWN'],
    },
    ({ param }) => {
      const server = serverOf(catalog.servers, param('id'));
      const view = server.ok ? instructions.viewOf(server.value.spec) : undefined;
      if (!server.ok) return Promise.resolve(server);
      return Promise.resolve(
        view === undefined
          ? err({ code: 'SERVER_UNKNOWN', name: server.value.spec.name, known: [] })
          : ok({ kind: 'one', body: view }),
      );
    },
  );
}

function reviewRoute({ catalog, instructions }: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/gateways/{id}/instructions/review',
      id: 'reviewInstructions',
      summary: 'Accept the current instructions of a gateway',
      about: 'They are sent to models from then on. Send If-Match so that you accept the text that you saw.',
      isConditional: true,
      answer: { about: 'The updated instructions.', schema: INSTRUCTIONS },
      refusals: ['SERVER_UNKNOWN'],
    },
    async (call) => {
      const server = serverOf(catalog.servers, call.param('id'));
      if (!server.ok) return server;
      const accepted = await instructions.accept(server.value.spec, {
        subject: call.identity.subject,
        objection: (view) => call.unmet(view),
      });
      return accepted.ok ? ok({ kind: 'one', body: accepted.value }) : accepted;
    },
  );
}

function serverOf(servers: readonly Server[], id: string): Result<Server, Refusal> {
  const server = servers.find(({ spec }) => gatewayIdOf(spec.name) === id || spec.name === id);
  const known = servers.map(({ spec }) => spec.name);
  return server === undefined ? err({ code: 'SERVER_UNKNOWN', name: id, known }) : ok(server);
}

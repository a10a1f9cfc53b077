import * as z from 'zod';
import { INSTRUCTIONS, INSTRUCTIONS_LIST } from '../../api/instructions.ts';
import { sha256 } from '@assay-mcp/kit/digest';
import { computeGatewayId } from '../../core/record-ids.ts';
import { ok } from '@assay-mcp/kit/result';
import type { NeededTools } from '../../gateway/services/tools/tool-service.ts';
import type { Server } from '../../gateway/catalog/server.ts';
import type { AdminDeps } from './admin-deps.ts';
import { REFRESH } from './refresh.ts';
import { route, type Route } from './route.ts';

const QUERY = z.object({ drift: z.enum(['any', 'none']).optional(), refresh: REFRESH });

export interface InstructionsDeps extends Pick<AdminDeps, 'instructions'> {
  readonly catalog: { readonly servers: readonly Pick<Server, 'spec'>[] };
  readonly servers: Pick<AdminDeps['servers'], 'specOf'>;
  /** Resolves when the servers that a command needs have been started. Absent in a running gateway. */
  readonly listed?: (needed: NeededTools) => Promise<void>;
}

export function instructionsRoutes(deps: InstructionsDeps): readonly Route[] {
  return [listRoute(deps), readRoute(deps), reviewRoute(deps)];
}

function listRoute({ catalog, instructions, listed }: InstructionsDeps): Route {
  return route(
    {
      method: 'get',
      path: '/instructions',
      id: 'listInstructions',
      summary: 'List the instructions of gateways, and those that need a review',
      query: QUERY,
      answer: {
        about: 'One entry for each gateway that has ever sent instructions.',
        schema: INSTRUCTIONS_LIST,
      },
    },
    async ({ query }) => {
      await listed?.({ server: undefined, isFresh: query.refresh === 'true' });
      const all = catalog.servers.flatMap(({ spec }) => instructions.viewOf(spec) ?? []);
      const wanted = all.filter(
        ({ drift }) => query.drift === undefined || (query.drift === 'any') === (drift !== undefined),
      );
      return ok({ kind: 'list', body: { instructions: wanted } });
    },
  );
}

function readRoute({ servers, instructions, listed }: InstructionsDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}/instructions',
      id: 'readInstructions',
      summary: 'Get the instructions of a gateway',
      answer: { about: 'The instructions; an empty text if it never sent any.', schema: INSTRUCTIONS },
      refusals: ['SERVER_UNKNOWN'],
    },
    async ({ param }) => {
      const spec = servers.specOf(param('id'));
      if (!spec.ok) return spec;
      await listed?.({ server: spec.value.name });
      const view = instructions.viewOf(spec.value);
      return ok({ kind: 'one', body: view ?? noneOf(spec.value.name) });
    },
  );
}

function reviewRoute({ servers, instructions, listed }: InstructionsDeps): Route {
  return route(
    {
      method: 'post',
      path: '/gateways/{id}/instructions/review',
      id: 'reviewInstructions',
      summary: 'Accept the current instructions of a gateway',
      about: 'They are sent to models from then on. Send If-Match so that you accept the text that you saw.',
      isConditional: true,
      answer: { about: 'The updated instructions.', schema: INSTRUCTIONS },
      refusals: ['SERVER_UNKNOWN', 'INSTRUCTIONS_ABSENT'],
    },
    async (call) => {
      const spec = servers.specOf(call.param('id'));
      if (!spec.ok) return spec;
      await listed?.({ server: spec.value.name });
      const accepted = await instructions.accept(spec.value, {
        subject: call.identity.subject,
        objection: (view) => call.unmet(view),
      });
      return accepted.ok ? ok({ kind: 'one', body: accepted.value }) : accepted;
    },
  );
}

/** Of a gateway that has sent none so far. */
function noneOf(serverName: string): z.input<typeof INSTRUCTIONS> {
  return { gatewayId: computeGatewayId(serverName), serverName, digest: sha256(''), text: '' };
}

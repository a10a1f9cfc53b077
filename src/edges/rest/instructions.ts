import * as z from 'zod';
import { INSTRUCTIONS, INSTRUCTIONS_LIST } from '../../api/instructions.ts';
import { sha256 } from '../../core/digest.ts';
import { computeGatewayId } from '../../core/record-ids.ts';
import { ok } from '../../core/result.ts';
import type { Server } from '../../gateway/catalog/server.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

const QUERY = z.object({ drift: z.enum(['any', 'none']).optional() });

export interface InstructionsDeps extends Pick<AdminDeps, 'instructions'> {
  readonly catalog: { readonly servers: readonly Pick<Server, 'spec'>[] };
  readonly servers: Pick<AdminDeps['servers'], 'specOf'>;
}

export function instructionsRoutes(deps: InstructionsDeps): readonly Route[] {
  return [listRoute(deps), readRoute(deps), reviewRoute(deps)];
}

function listRoute({ catalog, instructions }: InstructionsDeps): Route {
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
    ({ query }) => {
      const all = catalog.servers.flatMap(({ spec }) => instructions.viewOf(spec) ?? []);
      const wanted = all.filter(
        ({ drift }) => query.drift === undefined || (query.drift === 'any') === (drift !== undefined),
      );
      return Promise.resolve(ok({ kind: 'list', body: { instructions: wanted } }));
    },
  );
}

function readRoute({ servers, instructions }: InstructionsDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}/instructions',
      id: 'readInstructions',
      summary: 'Get the instructions of a gateway',
      answer: { about: 'The instructions; an empty text if it never sent any.', schema: INSTRUCTIONS },
      refusals: ['SERVER_UNKNOWN'],
    },
    ({ param }) => {
      const spec = servers.specOf(param('id'));
      if (!spec.ok) return Promise.resolve(spec);
      const view = instructions.viewOf(spec.value);
      return Promise.resolve(ok({ kind: 'one', body: view ?? noneOf(spec.value.name) }));
    },
  );
}

function reviewRoute({ servers, instructions }: InstructionsDeps): Route {
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

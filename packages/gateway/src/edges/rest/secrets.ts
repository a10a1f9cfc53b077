import { SECRET, SECRET_INPUT, SECRET_LIST } from '../../api/secret.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import { route, type Route } from './route.ts';

type Deps = Pick<AdminDeps, 'secrets' | 'mayExecute'>;

const EXAMPLE = {
  name: 'GITHUB_TOKEN',
  savedAt: '2026-11-28T09:00:00.000Z',
  uses: [{ server: 'github', what: 'npx -y @modelcontextprotocol/server-github', isCurrent: true }],
  refused: [],
};

/** Routes for the secrets that entries refer to. */
export function secretRoutes(deps: Deps): readonly Route[] {
  return [listRoute(deps), setRoute(deps), removeRoute(deps)];
}

function listRoute({ secrets }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/secrets',
      id: 'listSecrets',
      summary: 'List the secrets, without their values, and the servers that may use them',
      answer: {
        about: 'All secrets, and references to secrets that are not stored.',
        schema: SECRET_LIST,
        example: { secrets: [EXAMPLE], missing: [] },
      },
    },
    async () => {
      const listed = await secrets.list();
      return listed.ok ? ok({ kind: 'list', body: listed.value }) : listed;
    },
  );
}

function setRoute(deps: Deps): Route {
  return route(
    {
      method: 'put',
      path: '/secrets/{name}',
      id: 'setSecret',
      summary: 'Store a secret, or allow servers to use it',
      about:
        'A server may use a secret as long as its command or origin stays the same. Requires a token with the scope `execute`, and Assay must listen on loopback.',
      body: {
        schema: SECRET_INPUT,
        examples: { allow: { servers: ['github'] } },
      },
      answer: { about: 'The secret, without its value.', schema: SECRET, example: EXAMPLE },
      refusals: ['SECRET_UNKNOWN', 'SERVER_UNKNOWN', 'SERVER_CHANGED', 'EXECUTE_OFF', 'KEY_UNUSABLE'],
    },
    async (call) => {
      const denied = findExecuteRefusal(deps, call);
      if (denied !== undefined) return err(denied);
      const set = await deps.secrets.set(call.param('name'), call.body, call.identity.subject);
      return set.ok ? ok({ kind: 'one', body: set.value }) : set;
    },
  );
}

function removeRoute(deps: Deps): Route {
  return route(
    {
      method: 'delete',
      path: '/secrets/{name}',
      id: 'removeSecret',
      summary: 'Remove a secret',
      about: 'Servers that refer to it cannot be connected again until it is stored again.',
      answer: { status: 204, about: 'The secret is removed.' },
      refusals: ['SECRET_UNKNOWN', 'EXECUTE_OFF'],
    },
    async (call) => {
      const denied = findExecuteRefusal(deps, call);
      if (denied !== undefined) return err(denied);
      const removed = await deps.secrets.remove(call.param('name'), call.identity.subject);
      return removed.ok ? ok({ kind: 'none' }) : removed;
    },
  );
}

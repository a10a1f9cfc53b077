import { z } from '@hono/zod-openapi';
import type { JsonObject } from '../../core/json-object.ts';
import type { Refusal } from '../../core/refusal.ts';
import { SANDBOX_MODES } from '../../core/sandbox.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { GatewayChanger, ServerInput } from '../../gateway/services/servers/server-service.ts';
import type { GatewayEntry } from '../../gateway/ports/gateways.ts';
import type { GatewayView } from '../../gateway/services/servers/gateway-view.ts';
import { type AdminDeps, executeRefusal } from './admin-deps.ts';
import { AUTH_FIELDS, IGNORED_OF_GATEWAYS, withAuthHeaders } from './contextforge.ts';
import { fieldError, type Failure } from './failure.ts';
import { ENTRY_FIELDS, entryIn, GATEWAY, REFRESHED, runsCommand, TRANSPORT } from './gateway-entry.ts';
import { route, type Call, type Reply, type Route } from './route.ts';
import { TAGS_INPUT } from './tool-schemas.ts';

const ENTRY = {
  url: z.string().nullable().optional(),
  transport: TRANSPORT,
  headers: z.record(z.string(), z.string()).nullable().optional(),
  openapi: z
    .string()
    .nullable()
    .optional()
    .openapi({ description: 'The URL of an OpenAPI document; its path needs the scope `execute`.' }),
  baseUrl: z.string().nullable().optional(),
  credentials: z
    .record(z.string(), z.union([z.string(), z.object({ username: z.string(), password: z.string() })]))
    .nullable()
    .optional()
    .openapi({ description: 'By the name of the security scheme.' }),
  operations: z
    .object({ include: z.array(z.string()).optional(), exclude: z.array(z.string()).optional() })
    .nullable()
    .optional()
    .openapi({ description: 'Which operations become tools, such as `tag:pets`, `/pets/*` or `DELETE /*`.' }),
  maxBytes: z.int().nullable().optional(),
  command: z.string().nullable().optional(),
  args: z.array(z.string()).nullable().optional(),
  env: z.record(z.string(), z.string()).nullable().optional(),
  cwd: z.string().nullable().optional(),
  sandbox: z
    .enum(['off', ...SANDBOX_MODES])
    .nullable()
    .optional()
    .openapi({
      description:
        'twin: calls of its read-only tools go to a second process that cannot change files; strict: the server itself runs in a sandbox, too. docs/SANDBOX.md',
    }),
  roots: z.array(z.string()).nullable().optional().openapi({
    description: 'What its sandboxed processes may read beside `cwd` and the folders in `args`.',
  }),
  timeoutMs: z.int().nullable().optional(),
  prefix: z.boolean().nullable().optional(),
  isolation: z.enum(['session', 'shared']).nullable().optional(),
  tags: TAGS_INPUT,
  enabled: z.boolean().optional().openapi({ description: 'false: keep it, but do not connect to it.' }),
  ...AUTH_FIELDS,
};

const GATEWAY_CHANGE = z
  .object({
    ...ENTRY,
    trust: z.boolean().nullable().optional().openapi({
      description:
        'Whether its hints may lower caution. Holds for this server, not for another under its name.',
    }),
  })
  .openapi('GatewayChange');

const GATEWAY_INPUT = GATEWAY_CHANGE.extend({ name: z.string() }).openapi('GatewayInput');

export function gatewayRoutes(deps: AdminDeps): readonly Route[] {
  return [
    listRoute(deps),
    readRoute(deps),
    registerRoute(deps),
    changeRoute(deps, 'put'),
    changeRoute(deps, 'patch'),
    deleteRoute(deps),
    refreshRoute(deps),
  ];
}

function listRoute({ gateways }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways',
      id: 'listGateways',
      summary: 'The servers whose tools Assay offers',
      about: 'Those of the config file, which are read-only here, and registered ones.',
      answer: { about: 'All of them.', schema: z.object({ gateways: z.array(GATEWAY) }) },
    },
    () => ok({ kind: 'list', body: { gateways: gateways.all() } }),
  );
}

function readRoute({ gateways }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}',
      id: 'readGateway',
      summary: 'One gateway, by its id or name',
      answer: { about: 'The gateway.', schema: GATEWAY },
      refusals: ['SERVER_UNKNOWN'],
    },
    ({ param }) => oneOf(gateways.find(param('id'))),
  );
}

function registerRoute(deps: AdminDeps): Route {
  const { gateways } = deps;
  return route(
    {
      method: 'post',
      path: '/gateways',
      id: 'registerGateway',
      summary: 'Register an MCP server, or an OpenAPI document',
      about:
        'By its URL (Streamable HTTP is tried first, then SSE), by the URL of an OpenAPI document (`openapi`), or by a command, which needs a token with the scope `execute` and an Assay that listens on loopback. Responds when the server is ready, or after 10 s; a server that is not ready is tried again.',
      body: {
        schema: GATEWAY_INPUT,
        wrapper: 'gateway',
        ignores: IGNORED_OF_GATEWAYS,
        examples: {
          url: { name: 'my-mcp-server', url: 'http://localhost:8080/sse' },
          command: {
            name: 'files',
            command: 'npx',
            args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp'],
          },
        },
      },
      answer: { status: 201, about: 'The gateway.', schema: GATEWAY },
      refusals: ['GATEWAY_EXISTS', 'GATEWAY_INVALID', 'EXECUTE_OFF', 'KEY_UNUSABLE'],
    },
    async (call) => {
      const { name, trust, ...given } = call.body;
      const fields = withAuth(call, given);
      if (!fields.ok) return fields;
      const denied = runsCommand(fields.value) ? executeRefusal(deps, call) : undefined;
      if (denied !== undefined) return err(denied);
      const input = { entry: withoutNull(entryIn(fields.value)), trust };
      const { subject } = call.identity;
      return blamed(call, oneOf(await gateways.register(name, input, { subject })));
    },
  );
}

function changeRoute(deps: AdminDeps, method: 'put' | 'patch'): Route {
  const { gateways } = deps;
  return route(
    {
      method,
      path: '/gateways/{id}',
      id: method === 'put' ? 'updateGateway' : 'patchGateway',
      summary: 'Change a gateway',
      about:
        'Changes the fields that it names; null removes one. What GET shows can be sent back. Of a gateway of the config file only `trust` can be changed here, and only if the file does not set it.',
      isConditional: true,
      body: {
        schema: GATEWAY_CHANGE,
        wrapper: 'gateway',
        ignores: IGNORED_OF_GATEWAYS,
        current: (param) => viewIn(gateways.find(param('id'))),
        examples: { trust: { trust: true }, url: { url: 'http://localhost:8081/mcp' } },
      },
      answer: { about: 'The gateway as it is now.', schema: GATEWAY },
      refusals: [
        'SERVER_UNKNOWN',
        'GATEWAY_READ_ONLY',
        'GATEWAY_INVALID',
        'EXECUTE_OFF',
        'KEY_UNUSABLE',
        'REVOCATION_UNSAVED',
      ],
    },
    async (call) => {
      const { trust, ...given } = call.body;
      const found = gateways.find(call.param('id'));
      const fields = withAuth(call, given, found.ok ? found.value.headers : undefined);
      if (!fields.ok) return fields;
      const entry = entryIn(fields.value);
      const isCommand = found.ok && found.value.command !== undefined && Object.keys(entry).length > 0;
      const denied = isCommand || runsCommand(fields.value) ? executeRefusal(deps, call) : undefined;
      if (denied !== undefined) return err(denied);
      const input: ServerInput = { entry, trust };
      return blamed(call, oneOf(await gateways.change(call.param('id'), input, changerOf(call))));
    },
  );
}

function deleteRoute({ gateways }: AdminDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/gateways/{id}',
      id: 'deleteGateway',
      summary: 'Delete a registered gateway',
      about: 'Overrides on its tools are kept, and apply if the same server is registered again.',
      isConditional: true,
      answer: { status: 204, about: 'Deleted.' },
      refusals: ['SERVER_UNKNOWN', 'GATEWAY_READ_ONLY'],
    },
    async (call) => {
      const removed = await gateways.remove(call.param('id'), changerOf(call));
      return removed.ok ? ok({ kind: 'none' }) : removed;
    },
  );
}

function refreshRoute({ gateways }: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/gateways/{id}/refresh',
      id: 'refreshGateway',
      summary: 'Read the tools of a gateway again',
      about: 'Changes are compared with the accepted definitions: see `drift` of each tool.',
      answer: { about: 'What has changed.', schema: REFRESHED },
      refusals: ['SERVER_UNKNOWN', 'SERVER_UNAVAILABLE'],
    },
    async ({ param }) => {
      const refreshed = await gateways.refresh(param('id'));
      return refreshed.ok ? ok({ kind: 'one', body: refreshed.value }) : refreshed;
    },
  );
}

type EntryFields = Omit<z.output<typeof GATEWAY_CHANGE>, 'trust'>;

/** Turns ContextForge's fields for credentials into headers, which replace all `former` ones. */
function withAuth(
  call: Call<unknown, unknown>,
  fields: EntryFields,
  former: readonly string[] = [],
): Result<Omit<EntryFields, keyof typeof AUTH_FIELDS>, Failure> {
  const read = withAuthHeaders(fields);
  if (!read.ok) return err(fieldError(call.pointerTo(read.error.field), read.error.reason));
  const { headers } = read.value;
  const isChanged = fields.headers === undefined && headers !== undefined && headers !== null;
  const lost = isChanged ? former.find((name) => !Object.hasOwn(headers, name)) : undefined;
  if (lost === undefined) return read;
  const reason = `it would remove the header ${JSON.stringify(lost)}; give all of them in "headers"`;
  return err(fieldError(call.pointerTo('authType'), reason));
}

function withoutNull(entry: GatewayEntry): GatewayEntry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
}

function viewIn(found: Result<GatewayView, Refusal>): JsonObject | undefined {
  return found.ok ? { ...found.value } : undefined;
}

function changerOf({ identity, unmet }: Call<unknown, unknown>): GatewayChanger {
  // Runtime state does not count as a change of the gateway.
  return { subject: identity.subject, objection: (view) => unmet(lasting(view)) };
}

function lasting({
  reachable: _,
  state: __,
  cause: ___,
  causeCode: ____,
  toolCount: _____,
  ...view
}: GatewayView): unknown {
  return view;
}

function oneOf(found: Result<GatewayView, Refusal>): Result<Reply, Failure> {
  if (!found.ok) return found;
  return ok({ kind: 'one', body: found.value, of: lasting(found.value) });
}

/** Reports each fault of an entry at its field in the body. */
function blamed(call: Call<unknown, unknown>, done: Result<Reply, Failure>): Result<Reply, Failure> {
  if (done.ok || !('code' in done.error) || done.error.code !== 'GATEWAY_INVALID') return done;
  const fieldErrors = done.error.faults.map(({ field, reason }) => ({
    at: call.pointerTo(field === '' ? 'name' : (ENTRY_FIELDS.get(field) ?? field)),
    kind: 'invalid' as const,
    reason: reason.replace(/\.$/, ''),
  }));
  return err({ code: 'BODY_INVALID', fieldErrors });
}

import {
  DOCUMENT_INPUT,
  DOCUMENT_PREVIEW,
  type DocumentPreview,
  GATEWAY,
  GATEWAY_CHANGE,
  type GatewayChange,
  GATEWAY_INPUT,
  GATEWAY_LIST,
  REFRESH_RESULT,
} from '../../api/server.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { needsExecute } from '../../gateway/services/servers/needs-execute.ts';
import type { ServerInput } from '../../gateway/services/servers/server-service.ts';
import { type AdminDeps, findExecuteRefusal } from './admin-deps.ts';
import { toConfigEntry } from './gateway-entry.ts';
import {
  toGatewayFailure,
  toServerChanger,
  toGatewayReply,
  toViewObject,
  omitNull,
} from './gateway-reply.ts';
import { route, type BodyLimits, type Route } from './route.ts';

/** Maximum number of tools in a preview. */
const MAX_SHOWN = 500;
/** An uploaded document is longer than other bodies. */
const LIMITS: BodyLimits = { bytes: 5 * 1024 * 1024, depth: 64 };

/** A gateway that has one of these can be changed with the scope `execute` only. */
const PRIVILEGED = ['command', 'references', 'clientCertificate', 'ca', 'proxy', 'proxyResolves'] as const;

type GatewayDeps = Pick<AdminDeps, 'servers' | 'documents' | 'mayExecute'>;

export function gatewayRoutes(deps: GatewayDeps): readonly Route[] {
  return [
    importRoute(deps),
    listRoute(deps),
    readRoute(deps),
    registerRoute(deps),
    changeRoute(deps, 'put'),
    changeRoute(deps, 'patch'),
    previewRoute(deps),
    deleteRoute(deps),
    refreshRoute(deps),
  ];
}

function listRoute({ servers }: GatewayDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways',
      id: 'listGateways',
      summary: 'List gateways: the servers whose tools Assay offers',
      about: 'Includes gateways of the config file, which are read-only here, and registered ones.',
      answer: { about: 'The complete list.', schema: GATEWAY_LIST },
    },
    () => ok({ kind: 'list', body: { gateways: servers.all() } }),
  );
}

function readRoute({ servers }: GatewayDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}',
      id: 'readGateway',
      summary: 'Get a gateway by id or name',
      answer: { about: 'The gateway.', schema: GATEWAY },
      refusals: ['SERVER_UNKNOWN'],
    },
    ({ param }) => toGatewayReply(servers.find(param('id'))),
  );
}

function registerRoute(deps: GatewayDeps): Route {
  const { servers } = deps;
  return route(
    {
      method: 'post',
      path: '/gateways',
      id: 'registerGateway',
      summary: 'Register an MCP server or an OpenAPI document',
      about:
        'Give a URL (Streamable HTTP is tried first, then SSE), an OpenAPI document (its URL as `openapi` or its text as `document`), or a command, which requires a token with the scope `execute`, and Assay must listen on loopback. Responds when the server is ready, or after 10 s; a server that is not ready is retried.',
      body: {
        schema: GATEWAY_INPUT,
        limits: LIMITS,
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
      const { name, trust, ...fields } = call.body;
      const denied = needsExecute(toConfigEntry(fields)) ? findExecuteRefusal(deps, call) : undefined;
      if (denied !== undefined) return err(denied);
      const imported = uploadIn(fields, deps);
      const input = { entry: omitNull(toConfigEntry(fields)), trust, imported };
      const { subject } = call.identity;
      return toGatewayFailure(call, toGatewayReply(await servers.register(name, input, { subject })));
    },
  );
}

function changeRoute(deps: GatewayDeps, method: 'put' | 'patch'): Route {
  const { servers } = deps;
  return route(
    {
      method,
      path: '/gateways/{id}',
      id: method === 'put' ? 'updateGateway' : 'patchGateway',
      summary: 'Change a gateway',
      about:
        'Changes the given fields; null removes one. The body of a GET can be sent back. For a gateway of the config file, only `trust` can be changed here, and only if the file does not set it.',
      isConditional: true,
      body: {
        schema: GATEWAY_CHANGE,
        limits: LIMITS,
        current: (param) => Promise.resolve(toViewObject(servers.find(param('id')))),
        examples: { trust: { trust: true }, url: { url: 'http://localhost:8081/mcp' } },
      },
      answer: { about: 'The updated gateway.', schema: GATEWAY },
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
      const { trust, ...fields } = call.body;
      const found = servers.find(call.param('id'));
      const entry = toConfigEntry(fields);
      const isPrivileged =
        found.ok &&
        PRIVILEGED.some((member) => found.value[member] !== undefined) &&
        Object.keys(entry).length > 0;
      const denied = isPrivileged || needsExecute(entry) ? findExecuteRefusal(deps, call) : undefined;
      if (denied !== undefined) return err(denied);
      const input: ServerInput = { entry, trust, imported: uploadIn(fields, deps) };
      return toGatewayFailure(
        call,
        toGatewayReply(await servers.change(call.param('id'), input, toServerChanger(call))),
      );
    },
  );
}

function importRoute(deps: GatewayDeps): Route {
  return route(
    {
      method: 'post',
      path: '/openapi',
      id: 'importDocument',
      summary: 'Register an OpenAPI document, or read it again',
      about:
        'Like registering a gateway, but a source with this name and document is updated instead, and keeps the fields that are not given. A document that cannot be read changes nothing.',
      body: {
        schema: DOCUMENT_INPUT,
        limits: LIMITS,
        examples: { url: { name: 'pets', openapi: 'https://api.example.com/openapi.json' } },
      },
      answer: { status: 201, about: 'The gateway.', schema: GATEWAY },
      refusals: [
        'GATEWAY_EXISTS',
        'GATEWAY_INVALID',
        'GATEWAY_READ_ONLY',
        'SERVER_UNAVAILABLE',
        'EXECUTE_OFF',
        'KEY_UNUSABLE',
      ],
    },
    async (call) => {
      const { name, isNameGiven = false, trust, ...fields } = call.body;
      const entry = omitNull(toConfigEntry(fields));
      const denied = needsExecute(entry) ? findExecuteRefusal(deps, call) : undefined;
      if (denied !== undefined) return err(denied);
      const input = { name, isNameGiven, entry, trust: trust ?? undefined };
      const imported = await deps.documents.import(input, call.identity.subject);
      return toGatewayFailure(call, toGatewayReply(imported));
    },
  );
}

function previewRoute(deps: GatewayDeps): Route {
  return route(
    {
      method: 'post',
      path: '/openapi/preview',
      id: 'previewDocument',
      summary: 'Preview the tools of an OpenAPI document',
      about:
        'Takes the same body as registering the document, and stores nothing. An unusable document is refused with the location of the fault.',
      body: {
        schema: GATEWAY_CHANGE,
        limits: LIMITS,
        examples: { url: { openapi: 'https://api.example.com/openapi.json' } },
      },
      answer: { about: 'Its tools with their hints, and the skipped operations.', schema: DOCUMENT_PREVIEW },
      refusals: ['GATEWAY_INVALID', 'EXECUTE_OFF'],
    },
    async (call) => {
      const { trust, ...fields } = call.body;
      const denied = needsExecute(toConfigEntry(fields)) ? findExecuteRefusal(deps, call) : undefined;
      if (denied !== undefined) return err(denied);
      const entry = { ...omitNull(toConfigEntry(fields)), type: 'openapi' };
      const read = await deps.documents.preview(entry, trust ?? undefined);
      if (!read.ok) return toGatewayFailure(call, read);
      const { tools, skipped } = read.value;
      const shown = skipped.map(({ what, why }) => ({ what, why }));
      const body: DocumentPreview = { total: tools.length, tools: tools.slice(0, MAX_SHOWN), skipped: shown };
      return ok({ kind: 'list', body });
    },
  );
}

/** Reads an uploaded document before it is stored. */
function uploadIn({ document }: GatewayChange, { documents }: GatewayDeps): ServerInput['imported'] {
  return typeof document === 'string' ? documents.upload() : undefined;
}

function deleteRoute({ servers }: GatewayDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/gateways/{id}',
      id: 'deleteGateway',
      summary: 'Delete a registered gateway',
      about: 'Overrides of its tools are kept and apply again if the same server is registered again.',
      isConditional: true,
      answer: { status: 204, about: 'Deleted.' },
      refusals: ['SERVER_UNKNOWN', 'GATEWAY_READ_ONLY'],
    },
    async (call) => {
      const removed = await servers.remove(call.param('id'), toServerChanger(call));
      return removed.ok ? ok({ kind: 'none' }) : removed;
    },
  );
}

function refreshRoute({ servers }: GatewayDeps): Route {
  return route(
    {
      method: 'post',
      path: '/gateways/{id}/refresh',
      id: 'refreshGateway',
      summary: 'Refresh the tools of a gateway',
      about: 'Changes are compared with the accepted definitions; see `drift` of each tool.',
      answer: { about: 'The changes.', schema: REFRESH_RESULT },
      refusals: ['SERVER_UNKNOWN', 'SERVER_UNAVAILABLE'],
    },
    async ({ param }) => {
      const refreshed = await servers.refresh(param('id'));
      return refreshed.ok ? ok({ kind: 'one', body: refreshed.value }) : refreshed;
    },
  );
}

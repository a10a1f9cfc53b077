import { findToolDescriptionFault } from '../../core/tool-settings.ts';
import * as z from 'zod';
import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import { LINT_RULES } from '../../core/hints/lint.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Identity } from '../../core/subject.ts';
import type { ToolFilter, ToolLocation } from '../../gateway/services/tools/tool-service.ts';
import type { AnnotationPatch, ToolPatch } from '../../gateway/services/tools/tool-edit.ts';
import { mapHints } from '../../api/hint.ts';
import {
  type Tool,
  TOOL_HINTS,
  TOOL,
  TOOL_INPUT,
  TOOL_PAGE,
  TOOL_SETTINGS,
  type ToolSettings,
} from '../../api/tool.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toFieldError, type Failure } from './failure.ts';
import { encodeCursor, readCursor } from './paging.ts';
import { toToolFailure, pickRequestFields } from './custom-tools.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';
import { REFRESH } from './refresh.ts';
import { omitGuarantee, toToolReply } from './tool-reply.ts';
import { toToolSummary } from './tool-summary.ts';
import { hideHintEvidence, hideToolEvidence } from './without-evidence.ts';

const FLAG = z.enum(['true', 'false']).optional();

const TOOL_QUERY = z.object({
  server: z.string().optional().meta({ description: 'The name of a gateway.' }),
  gatewayId: z.string().optional(),
  text: z.string().optional().meta({ description: 'Words of its name, title or description.' }),
  enabled: FLAG,
  ...mapHints(FLAG.meta({ description: 'The effective value.' })),
  lint: z.enum(['any', 'none', ...LINT_RULES]).optional(),
  drift: z.enum(['any', 'dangerous', 'none']).optional(),
  summary: FLAG.meta({
    description: '`true`: return summaries, without schemas, claims and annotations.',
  }),
  refresh: REFRESH,
});

type ToolDeps = Pick<AdminDeps, 'tools' | 'servers' | 'customTools'>;

export function toolRoutes(deps: ToolDeps): readonly Route[] {
  return [
    listRoute(deps),
    readRoute(deps),
    changeRoute(deps, 'put'),
    changeRoute(deps, 'patch'),
    claimsRoute(deps),
    reviewRoute(deps),
  ];
}

function listRoute({ tools, servers }: ToolDeps): Route {
  return route(
    {
      method: 'get',
      path: '/tools',
      id: 'listTools',
      summary: 'List the tools of all gateways, in their order; disabled ones last',
      about: 'Filter hints by their effective values: `?readOnlyHint=true&openWorldHint=false`.',
      isPaged: true,
      query: TOOL_QUERY,
      answer: { about: 'A page of tools.', schema: TOOL_PAGE },
    },
    async ({ query, page, identity }) => {
      const after = page.cursor === undefined ? undefined : locationIn(page.cursor);
      if (page.cursor !== undefined && after === undefined) return err({ code: 'CURSOR_INVALID' });
      const isFresh = query.refresh === 'true';
      const { next, ...body } = await tools.page(filterOf(query, servers), {
        after,
        limit: page.limit,
        isFresh,
      });
      const nextCursor = next && encodeCursor(`${next.index} ${next.id}`);
      const shown =
        query.summary === 'true'
          ? body.tools.map(toToolSummary)
          : body.tools.map((tool) => hideToolEvidence(identity, tool));
      return ok({ kind: 'list', body: { ...body, tools: shown, ...(nextCursor && { nextCursor }) } });
    },
  );
}

function locationIn(cursor: string): ToolLocation | undefined {
  const [, index, id] = /^(\d{1,9}) (\w+)$/.exec(readCursor(cursor) ?? '') ?? [];
  return index === undefined || id === undefined ? undefined : { index: Number(index), id };
}

function filterOf(query: z.output<typeof TOOL_QUERY>, servers: AdminDeps['servers']): ToolFilter {
  const { gatewayId, server, text, enabled, lint, drift } = query;
  const named = gatewayId === undefined ? undefined : servers.find(gatewayId);
  const hints = HINTS.flatMap((hint) => {
    const wanted = query[hint];
    return wanted === undefined ? [] : [[hint, wanted === 'true'] as const];
  });
  return {
    // An unknown gateway has no tools.
    server: named === undefined ? server : named.ok ? named.value.name : '',
    text,
    enabled: enabled === undefined ? undefined : enabled === 'true',
    ...(hints.length > 0 && { hints: Object.fromEntries(hints) }),
    lint: lint === 'any' ? true : lint === 'none' ? false : lint,
    drift,
  };
}

function readRoute({ tools }: ToolDeps): Route {
  return route(
    {
      method: 'get',
      path: '/tools/{id}',
      id: 'readTool',
      summary: 'Get a tool, with all claims about its hints',
      answer: { about: 'The tool.', schema: TOOL },
      refusals: ['TOOL_UNKNOWN'],
    },
    async ({ param, identity }) => oneOf(await tools.find(param('id')), identity),
  );
}

type PatchCall = RestCall<unknown, z.output<typeof TOOL_INPUT>>;

const ABOUT = {
  put: 'Changes the given fields. `annotations` replace all earlier overrides: a hint that is omitted returns to what its server declares, or, for a REST tool, to what its method implies. The body of a GET can be sent back.',
  patch:
    'Changes the given fields, and within `annotations` the given hints. null returns a hint to what its server declares, or, for a REST tool, to what its method implies.',
};

function changeRoute({ tools, customTools }: ToolDeps, method: 'put' | 'patch'): Route {
  return route(
    {
      method,
      path: '/tools/{id}',
      id: method === 'put' ? 'updateTool' : 'patchTool',
      summary: method === 'put' ? 'Set the annotations of a tool' : 'Change a tool',
      about: `${ABOUT[method]} The server’s own declaration is kept. For a REST tool, the request can be changed too.`,
      isConditional: true,
      body: {
        schema: TOOL_INPUT,
        current: async (param) => viewIn(await tools.find(param('id'))),
        examples: {
          'read-only': { annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } },
          disabled: { enabled: false },
        },
      },
      answer: { about: 'The updated tool.', schema: TOOL },
      refusals: [
        'TOOL_UNKNOWN',
        'HINTS_CONTRADICT',
        'TOOL_EXISTS',
        'TOOL_READ_ONLY',
        'TOOL_INVALID',
        'KEY_UNUSABLE',
        'REVOCATION_UNSAVED',
      ],
    },
    async (call) => {
      const found = await tools.find(call.param('id'));
      const id = found.ok ? found.value.id : call.param('id');
      const own = found.ok && found.value.source === 'rest' ? found.value : undefined;
      const patch = patchOf(call, { replaces: method === 'put', own });
      if (!patch.ok) return patch;
      // For a REST tool, the description is part of the request.
      const request = pickRequestFields(own ? call.body : { ...call.body, description: undefined });
      const changed = await customTools.change(id, { request, patch: patch.value }, changerOf(call));
      if (changed.ok) return oneOf(changed, call.identity);
      const failure = atHints(call, changed.error);
      return 'code' in failure ? toToolFailure(call, failure) : err(failure);
    },
  );
}

function viewIn(found: Result<Tool, Refusal>): JsonObject | undefined {
  return found.ok ? { ...found.value } : undefined;
}

function atHints(call: PatchCall, failure: Failure): Failure {
  const isOfHints = 'code' in failure && failure.code === 'HINTS_CONTRADICT';
  return isOfHints ? { refusal: failure, pointer: call.pointerTo('annotations') } : failure;
}

function patchOf(
  call: PatchCall,
  { replaces, own }: { readonly replaces: boolean; readonly own: Tool | undefined },
): Result<ToolPatch, Failure> {
  const settings = pickSettings(call.body);
  const { annotations, title, confirm, cacheMs } = settings;
  const { name, description } = own ? {} : call.body;
  if (own && call.body.name !== undefined && call.body.name !== own.name)
    return err(toFieldError(call.pointerTo('name'), 'a REST tool cannot be renamed; create a new one'));
  if (title !== undefined && annotations?.title !== undefined && title !== annotations.title)
    return err(
      toFieldError(call.pointerTo('annotations', 'title'), 'it differs from title; give only one of them'),
    );
  const wrong = typeof description === 'string' ? findToolDescriptionFault(description) : undefined;
  if (wrong !== undefined) return err(toFieldError(call.pointerTo('description'), wrong));
  return ok({
    ...settings,
    name,
    confirm: confirm === 'session' ? 'first' : confirm === 'suspended' ? undefined : confirm,
    cacheMs: cacheMs === 'suspended' ? undefined : cacheMs,
    ...((typeof description === 'string' || description === null) && { description }),
    annotations: annotations && annotationsOf(annotations, replaces),
  });
}

/** Without the request of a REST tool. */
function pickSettings(body: ToolSettings): ToolSettings {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in TOOL_SETTINGS.shape));
}

function annotationsOf(
  { title, ...given }: NonNullable<ToolSettings['annotations']>,
  replaces: boolean,
): AnnotationPatch {
  const hints: Partial<Record<Hint, boolean | null>> = {};
  for (const hint of HINTS) {
    const value = given[hint];
    if (value !== undefined) hints[hint] = value;
  }
  return { replaces, hints, title };
}

function claimsRoute({ tools }: ToolDeps): Route {
  return route(
    {
      method: 'get',
      path: '/tools/{id}/claims',
      id: 'listClaims',
      summary: 'Get the claims about the hints of a tool, and the resulting values',
      answer: {
        about: 'By hint.',
        schema: z.object({ toolId: z.string(), hints: TOOL_HINTS }),
      },
      refusals: ['TOOL_UNKNOWN'],
    },
    async ({ param, identity }) => {
      const found = await tools.find(param('id'));
      if (!found.ok) return found;
      const { id, hints } = found.value;
      return ok({ kind: 'one', body: { toolId: id, hints: hideHintEvidence(identity, hints) } });
    },
  );
}

function reviewRoute({ tools }: ToolDeps): Route {
  return route(
    {
      method: 'post',
      path: '/tools/{id}/review',
      id: 'reviewTool',
      summary: 'Accept the current definition of a tool',
      about: 'Suspended overrides apply again. Send If-Match so that you accept the definition that you saw.',
      isConditional: true,
      answer: { about: 'The updated tool.', schema: TOOL },
      refusals: ['TOOL_UNKNOWN'],
    },
    async (call) => oneOf(await tools.review(call.param('id'), changerOf(call)), call.identity),
  );
}

type Changer = Parameters<AdminDeps['tools']['review']>[1];

function changerOf({ identity, unmet }: Pick<RestCall<unknown, unknown>, 'identity' | 'unmet'>): Changer {
  return { subject: identity.subject, objection: (view) => unmet(omitGuarantee(view)) };
}

function oneOf(found: Result<Tool, Refusal>, identity: Identity): Result<Reply, Failure> {
  return found.ok ? ok(toToolReply(found.value, identity)) : found;
}

import { z } from '@hono/zod-openapi';
import { SANDBOX_CONCESSIONS, SANDBOX_MODES } from '../../core/sandbox.ts';
import { WARNINGS } from './route.ts';
import { ofHints } from './tool-schemas.ts';
import type { ConfigEntry } from '../../gateway/ports/config-entries.ts';

/** `type` values of `mcp.json`, and spellings used by ContextForge. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ['stdio', 'stdio'],
  ['openapi', 'openapi'],
  ['codebase', 'codebase'],
  ['auto', 'http'],
  ['http', 'http'],
  ['streamable-http', 'streamable-http'],
  ['streamablehttp', 'streamable-http'],
  ['sse', 'sse'],
]);

/** The fields that define how a gateway is reached. */
interface Fields {
  readonly transport?: string | null | undefined;
  readonly enabled?: boolean | undefined;
}

export const TRANSPORT: z.ZodOptional<z.ZodNullable<z.ZodString>> = z
  .string()
  .refine((text) => TRANSPORTS.has(text.toLowerCase()), {
    error: 'it must be auto, streamable-http, sse, stdio, openapi or codebase',
  })
  .nullable()
  .optional();

const SANDBOX_VALUES = ['off', ...SANDBOX_MODES] as const;

const TEXTS = z.array(z.string()).nullable().optional();

/** The fields of an entry about its sandbox. */
export const SANDBOX_FIELDS: Readonly<Record<'sandbox' | 'roots' | 'network' | 'sandboxAccepts', z.ZodType>> =
  {
    sandbox: z.enum(SANDBOX_VALUES).nullable().optional().openapi({
      description:
        '`twin`: calls of read-only tools go to a second process that cannot change files. `strict`: the server itself runs in a sandbox as well. See docs/SANDBOX.md.',
    }),
    roots: TEXTS.openapi({
      description:
        'Paths that its sandboxed processes may read, in addition to `cwd` and the folders in `args`.',
    }),
    network: TEXTS.openapi({
      description:
        'Hosts that its sandboxed processes may connect to, such as `api.example.com`, `*.example.com` or `localhost:8080`. Absent: all hosts at public addresses. `*`: the same, except that a `strict` server shares the network of this machine.',
    }),
    sandboxAccepts: z.array(z.enum(SANDBOX_CONCESSIONS)).nullable().optional().openapi({
      description:
        "`separate_state`: read-only tools run in a second process although the server's tools keep state in memory. `node_permission`: where no sandbox can start, they run under Node's permission model. See docs/SANDBOX.md.",
    }),
  };

/** Fields whose names differ between `mcp.json` and the API. */
export const ENTRY_FIELDS: ReadonlyMap<string, string> = new Map([
  ['type', 'transport'],
  ['disabled', 'enabled'],
]);

/** Converts the fields to those of `mcp.json`. */
export function entryIn({ transport, enabled, ...fields }: Fields): ConfigEntry {
  const disabled = enabled === undefined ? undefined : enabled ? null : true;
  const type = typeof transport === 'string' ? TRANSPORTS.get(transport.toLowerCase()) : transport;
  return Object.fromEntries(
    Object.entries({ ...fields, type, disabled }).filter(([, value]) => value !== undefined),
  );
}

export const GATEWAY: z.ZodObject = z
  .object({
    id: z.string(),
    name: z.string(),
    origin: z
      .enum(['config_file', 'registered'])
      .openapi({ description: 'Gateways of the config file are read-only here.' }),
    transport: z.enum(['stdio', 'auto', 'streamable-http', 'sse', 'codebase', 'openapi', 'local']).optional(),
    openapi: z.string().optional().openapi({ description: 'The OpenAPI document.' }),
    baseUrl: z.string().optional(),
    operations: z
      .object({ include: z.array(z.string()).optional(), exclude: z.array(z.string()).optional() })
      .optional(),
    credentials: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Names of the security schemes only.' }),
    url: z.string().optional(),
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    cwd: z.string().optional(),
    sandbox: z.enum(SANDBOX_MODES).optional().openapi({ description: 'Absent: off.' }),
    roots: z.array(z.string()).optional(),
    network: z.array(z.string()).optional(),
    sandboxAccepts: z.array(z.enum(SANDBOX_CONCESSIONS)).optional(),
    stateful: z.array(z.string()).optional().openapi({
      description:
        'Tools observed to keep state in memory. If there are any, the twin refuses read-only tools unless `sandboxAccepts` has `separate_state`.',
    }),
    env: z.array(z.string()).optional().openapi({ description: 'Names only.' }),
    headers: z.array(z.string()).optional().openapi({ description: 'Names only.' }),
    timeoutMs: z.int().optional(),
    prefix: z.boolean().optional(),
    isolation: z.enum(['session', 'shared']).optional(),
    tags: z.array(z.string()).optional().openapi({ description: 'Tags that apply to all its tools.' }),
    enabled: z.boolean().openapi({ description: '`false`: the gateway is kept but not connected.' }),
    reachable: z.boolean(),
    state: z.string(),
    cause: z
      .string()
      .optional()
      .openapi({ description: 'Why it is down, or why its tools are from an earlier read.' }),
    causeCode: z
      .string()
      .optional()
      .openapi({ description: 'The code of that cause, such as PROCESS_EXITED; docs/CAUSES.md lists all.' }),
    era: z.string().optional(),
    revision: z.string().optional(),
    trust: z
      .object({ value: z.boolean(), origin: z.enum(['config_file', 'operator', 'default']) })
      .optional(),
    toolCount: z.int(),
    skipped: z
      .array(z.object({ what: z.string(), why: z.string() }))
      .optional()
      .openapi({ description: 'Parts of the source that could not be turned into tools.' }),
    shadows: z.literal(true).optional().openapi({
      description:
        'A registered gateway has the same name; the config file takes precedence. DELETE removes the registered one.',
    }),
    createdAt: z.iso.datetime().optional(),
    createdBy: z.string().optional(),
    warnings: WARNINGS,
  })
  .openapi('Gateway');

export const REFRESHED: z.ZodObject = z
  .object({
    gatewayId: z.string(),
    success: z.boolean(),
    toolsAdded: z.array(z.string()),
    toolsUpdated: z.array(z.string()),
    toolsRemoved: z.array(z.string()),
    durationMs: z.int(),
    refreshedAt: z.iso.datetime(),
  })
  .openapi('RefreshResult');

const TOLD_HINT = z.object({ effective: z.boolean(), decidedBy: z.string(), reason: z.string() });

export const DOCUMENT_TOOLS: z.ZodObject = z
  .object({
    total: z.int(),
    tools: z
      .array(
        z.object({
          name: z.string(),
          title: z.string().optional(),
          method: z.string().optional(),
          path: z.string().optional(),
          hints: z.object(ofHints(TOLD_HINT)),
        }),
      )
      .openapi({ description: 'The first 500.' }),
    skipped: z
      .array(z.object({ what: z.string(), why: z.string() }))
      .openapi({ description: 'Operations that could not be turned into tools.' }),
  })
  .openapi('DocumentTools');

import { z } from '@hono/zod-openapi';
import type { GatewayEntry } from '../../gateway/ports/gateways.ts';

export const GATEWAY: z.ZodObject = z
  .object({
    id: z.string(),
    name: z.string(),
    origin: z
      .enum(['config file', 'registered'])
      .openapi({ description: 'What the config file has is fixed there.' }),
    transport: z.enum(['stdio', 'auto', 'streamable-http', 'sse']).optional(),
    url: z.string().optional(),
    command: z.string().optional(),
    args: z.array(z.string()).optional(),
    cwd: z.string().optional(),
    env: z.array(z.string()).optional().openapi({ description: 'Names alone.' }),
    headers: z.array(z.string()).optional().openapi({ description: 'Names alone.' }),
    timeoutMs: z.int().optional(),
    prefix: z.boolean().optional(),
    isolation: z.enum(['session', 'shared']).optional(),
    reachable: z.boolean(),
    state: z.string(),
    cause: z.string().optional().openapi({ description: 'Why it is down.' }),
    era: z.string().optional(),
    revision: z.string().optional(),
    trust: z
      .object({ value: z.boolean(), origin: z.enum(['config file', 'operator', 'default']) })
      .optional(),
    toolCount: z.int(),
    createdAt: z.iso.datetime().optional(),
    createdBy: z.string().optional(),
  })
  .openapi('Gateway');

/** As `type` of `mcp.json` has them, and as users of ContextForge write them. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ['stdio', 'stdio'],
  ['auto', 'http'],
  ['http', 'http'],
  ['streamable-http', 'streamable-http'],
  ['streamablehttp', 'streamable-http'],
  ['sse', 'sse'],
]);

const ENTRY = {
  url: z.string().nullable().optional(),
  transport: z
    .string()
    .refine((text) => TRANSPORTS.has(text.toLowerCase()), {
      error: 'it must be auto, streamable-http, sse or stdio',
    })
    .nullable()
    .optional(),
  headers: z.record(z.string(), z.string()).nullable().optional(),
  command: z.string().nullable().optional(),
  args: z.array(z.string()).nullable().optional(),
  env: z.record(z.string(), z.string()).nullable().optional(),
  cwd: z.string().nullable().optional(),
  timeoutMs: z.int().nullable().optional(),
  prefix: z.boolean().nullable().optional(),
  isolation: z.enum(['session', 'shared']).nullable().optional(),
};

export const GATEWAY_CHANGE = z
  .object({
    ...ENTRY,
    trust: z.boolean().nullable().optional().openapi({
      description:
        'Whether its hints may lower caution. Holds for this server, not for another under its name.',
    }),
  })
  .openapi('GatewayChange');

export const GATEWAY_WISH = GATEWAY_CHANGE.extend({ name: z.string() }).openapi('GatewayWish');

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
  .openapi('Refreshed');

type Fields = Omit<z.output<typeof GATEWAY_CHANGE>, 'trust'>;

/** What the entry of `mcp.json` calls otherwise than the API does. */
export const ENTRY_FIELDS: ReadonlyMap<string, string> = new Map([['type', 'transport']]);

/** The fields as `mcp.json` has them. */
export function entryIn({ transport, ...fields }: Fields): GatewayEntry {
  const type = typeof transport === 'string' ? TRANSPORTS.get(transport.toLowerCase()) : transport;
  return Object.fromEntries(Object.entries({ ...fields, type }).filter(([, value]) => value !== undefined));
}

/** Whether it takes more than the right to administer: a process is started by it. */
export function runsCommand({ command, args, env, cwd, transport }: Fields): boolean {
  return (
    [command, args, env, cwd].some((field) => field !== undefined && field !== null) ||
    transport?.toLowerCase() === 'stdio'
  );
}

import { z } from '@hono/zod-openapi';

export const GATEWAY: z.ZodObject = z
  .object({
    id: z.string(),
    name: z.string(),
    origin: z
      .enum(['config file', 'registered'])
      .openapi({ description: 'What the config file has is fixed there.' }),
    transport: z.enum(['stdio', 'auto', 'streamable-http', 'sse', 'openapi', 'local']).optional(),
    openapi: z.string().optional().openapi({ description: 'The OpenAPI document.' }),
    baseUrl: z.string().optional(),
    credentials: z.array(z.string()).optional().openapi({ description: 'Names of security schemes alone.' }),
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
    cause: z
      .string()
      .optional()
      .openapi({ description: 'Why it is down, or why its tools are those of an earlier reading.' }),
    era: z.string().optional(),
    revision: z.string().optional(),
    trust: z
      .object({ value: z.boolean(), origin: z.enum(['config file', 'operator', 'default']) })
      .optional(),
    toolCount: z.int(),
    skipped: z
      .array(z.object({ what: z.string(), why: z.string() }))
      .optional()
      .openapi({ description: 'What its source has that no tool could be made of.' }),
    shadows: z.literal(true).optional().openapi({
      description: 'One of this name was registered too; the config file goes first. DELETE takes it away.',
    }),
    createdAt: z.iso.datetime().optional(),
    createdBy: z.string().optional(),
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
  .openapi('Refreshed');

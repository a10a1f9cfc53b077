import { z } from '@hono/zod-openapi';
import type { GatewayEntry } from '../../gateway/ports/gateways.ts';

/** As `type` of `mcp.json` has them, and as users of ContextForge write them. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ['stdio', 'stdio'],
  ['openapi', 'openapi'],
  ['auto', 'http'],
  ['http', 'http'],
  ['streamable-http', 'streamable-http'],
  ['streamablehttp', 'streamable-http'],
  ['sse', 'sse'],
]);

/** What may be said of how a gateway is reached. */
export interface Fields {
  readonly transport?: string | null | undefined;
  readonly openapi?: string | null | undefined;
  readonly command?: unknown;
  readonly args?: unknown;
  readonly env?: unknown;
  readonly cwd?: unknown;
}

export const TRANSPORT: z.ZodOptional<z.ZodNullable<z.ZodString>> = z
  .string()
  .refine((text) => TRANSPORTS.has(text.toLowerCase()), {
    error: 'it must be auto, streamable-http, sse, stdio or openapi',
  })
  .nullable()
  .optional();

/** What the entry of `mcp.json` calls otherwise than the API does. */
export const ENTRY_FIELDS: ReadonlyMap<string, string> = new Map([['type', 'transport']]);

/** The fields as `mcp.json` has them. */
export function entryIn({ transport, ...fields }: Fields): GatewayEntry {
  const type = typeof transport === 'string' ? TRANSPORTS.get(transport.toLowerCase()) : transport;
  return Object.fromEntries(Object.entries({ ...fields, type }).filter(([, value]) => value !== undefined));
}

/** Whether it takes more than the right to administer: a process is started by it, or a file read. */
export function runsCommand({ command, args, env, cwd, transport, openapi }: Fields): boolean {
  // A path is one of this machine, whose files are not everybody's to read.
  const readsFile = typeof openapi === 'string' && !/^https?:\/\//i.test(openapi);
  return (
    readsFile ||
    [command, args, env, cwd].some((field) => field !== undefined && field !== null) ||
    transport?.toLowerCase() === 'stdio'
  );
}

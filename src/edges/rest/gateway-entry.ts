import * as z from 'zod';
import { SANDBOX_CONCESSIONS, SANDBOX_MODES } from '../../core/sandbox.ts';
import type { ConfigEntry } from '../../gateway/ports/config-entries.ts';

/** `type` values of `mcp.json`, by transport. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ['stdio', 'stdio'],
  ['openapi', 'openapi'],
  ['codebase', 'codebase'],
  ['auto', 'http'],
  ['http', 'http'],
  ['streamable-http', 'streamable-http'],
  ['sse', 'sse'],
]);

/** The fields that define how a gateway is reached. */
interface Fields {
  readonly transport?: string | null | undefined;
  readonly enabled?: boolean | undefined;
}

export const TRANSPORT: z.ZodOptional<z.ZodNullable<z.ZodString>> = z
  .string()
  .refine((text) => TRANSPORTS.has(text), {
    error: 'it must be auto, streamable-http, sse, stdio, openapi or codebase',
  })
  .nullable()
  .optional();

const SANDBOX_VALUES = ['off', ...SANDBOX_MODES] as const;

const TEXTS = z.array(z.string()).nullable().optional();

/** The fields of an entry about its sandbox. */
export const SANDBOX_FIELDS: Readonly<Record<'sandbox' | 'roots' | 'network' | 'sandboxAccepts', z.ZodType>> =
  {
    sandbox: z.enum(SANDBOX_VALUES).nullable().optional().meta({
      description:
        '`twin`: calls of read-only tools go to a second process that cannot change files. `strict`: the server itself runs in a sandbox as well. See docs/SANDBOX.md.',
    }),
    roots: TEXTS.meta({
      description:
        'Paths that its sandboxed processes may read, in addition to `cwd` and the folders in `args`.',
    }),
    network: TEXTS.meta({
      description:
        'Hosts that its sandboxed processes may connect to, such as `api.example.com`, `*.example.com` or `localhost:8080`. Absent: all hosts at public addresses. `*`: the same, except that a `strict` server shares the network of this machine.',
    }),
    sandboxAccepts: z.array(z.enum(SANDBOX_CONCESSIONS)).nullable().optional().meta({
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
export function toConfigEntry({ transport, enabled, ...fields }: Fields): ConfigEntry {
  const disabled = enabled === undefined ? undefined : enabled ? null : true;
  const type = typeof transport === 'string' ? TRANSPORTS.get(transport) : transport;
  return Object.fromEntries(
    Object.entries({ ...fields, type, disabled }).filter(([, value]) => value !== undefined),
  );
}

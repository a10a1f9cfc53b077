import type { GatewayChange } from '../../api/server.ts';
import type { ConfigEntry } from '../../gateway/ports/config-entries.ts';

/** Fields whose names differ between `mcp.json` and the API. */
export const ENTRY_FIELDS: ReadonlyMap<string, string> = new Map([
  ['type', 'transport'],
  ['disabled', 'enabled'],
]);

/** Converts the fields to those of `mcp.json`. */
export function toConfigEntry({ transport, enabled, ...fields }: GatewayChange): ConfigEntry {
  const disabled = enabled === undefined ? undefined : enabled ? null : true;
  const type = transport === 'auto' ? 'http' : transport;
  return Object.fromEntries(
    Object.entries({ ...fields, type, disabled }).filter(([, value]) => value !== undefined),
  );
}

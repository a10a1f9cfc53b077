import type { EntryFault } from '../../../core/sources/entry-fault.ts';
import type { GatewayEntry } from '../../ports/gateways.ts';

/** A credential that was given for one origin goes to no other by itself. */
export function elsewhereFault(former: GatewayEntry, wished: GatewayEntry): EntryFault | undefined {
  const [before, after] = [originOf(former), originOf({ ...former, ...wished })];
  const isElsewhere = before !== undefined && after !== undefined && before !== after;
  const left = ['headers', 'auth', 'credentials'].find(
    (field) => given(former[field]) && wished[field] === undefined,
  );
  if (!isElsewhere || left === undefined) return undefined;
  return {
    field: PLACES.find((place) => wished[place] !== undefined) ?? 'url',
    reason: `it leads to another origin than "${left}" was given for; give "${left}" again, or null`,
  };
}

/** Where requests go: what stands first counts. Without a base an OpenAPI document says it itself. */
const PLACES = ['url', 'baseUrl', 'openapi'] as const;

function originOf(entry: GatewayEntry): string | undefined {
  const place = PLACES.map((name) => entry[name]).find(given);
  return typeof place === 'string' ? (URL.parse(place)?.origin ?? place) : undefined;
}

/** Null takes away what was there. */
function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}

import type { EntryFault } from '../../core/sources/entry-fault.ts';
import type { GatewayEntry } from '../ports/gateways.ts';

/** A credential that was given for one origin goes to no other by itself. */
export function elsewhereFault(former: GatewayEntry, wished: GatewayEntry): EntryFault | undefined {
  const [before, after] = [originOf(former), originOf(wished)];
  const isElsewhere = before !== undefined && after !== undefined && before !== after;
  const left = ['headers', 'auth', 'credentials'].find(
    (field) => former[field] !== undefined && wished[field] === undefined,
  );
  if (!isElsewhere || left === undefined) return undefined;
  return {
    field: 'url',
    reason: `it leads to another origin than "${left}" was given for; give "${left}" again, or null`,
  };
}

function originOf({ url, openapi, baseUrl }: GatewayEntry): string | undefined {
  const place = url ?? baseUrl ?? openapi;
  return typeof place === 'string' ? (URL.parse(place)?.origin ?? place) : undefined;
}

import { queryOptions } from '@tanstack/react-query';
import type { GatewayTrust, GatewayTrustChange } from '../../../gateway/src/api/server.ts';
import { read, write } from './api.ts';

function toTrustPath(server: string): string {
  return `/gateways/${encodeURIComponent(server)}/trust`;
}

/** By id or by name. Under `gateways`, so that a change of a server refreshes it. */
export const trustQuery = (server: string) =>
  queryOptions({
    queryKey: ['gateways', 'trust', server],
    queryFn: ({ signal }) => read<GatewayTrust>(toTrustPath(server), signal),
  });

/** Trusts, does not trust, or with null decides nothing about exactly the command or origin of the view. Refused if another one replaced it. */
export function changeTrust(
  { gatewayId, identity }: GatewayTrust,
  isTrusted: boolean | null,
): Promise<GatewayTrust> {
  const change: GatewayTrustChange = { trust: isTrusted, identity };
  return write('PUT', toTrustPath(gatewayId), change);
}

type NamedTools = GatewayTrust['notAsked'];

const MAX_SHOWN = 12;

/** The names to show, and how many more there are. */
export function toShownNames({ total, names }: NamedTools): {
  readonly names: readonly string[];
  readonly more: number;
} {
  const shown = names.slice(0, MAX_SHOWN);
  return { names: shown, more: total - shown.length };
}

/** What a verification on this machine knows about the hints of the server. */
export function formatVerified({ verified, contradicted, toolCount }: GatewayTrust): string {
  if (verified === 0) return 'No verification on this machine has called its tools.';
  const seen = `A verification on this machine called ${verified} of ${toolCount} tools`;
  return contradicted.total === 0
    ? `${seen} and contradicted no hint.`
    : `${seen}. Contradicted hints never lower caution:`;
}

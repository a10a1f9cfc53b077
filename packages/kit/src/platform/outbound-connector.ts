import { buildConnector } from 'undici';
import type { SecureContext } from 'node:tls';
import { formatProxyUrl, type ConnectionTarget, type Outbound, type ProxyServer } from '../outbound.ts';
import type { Reach } from '../reach.ts';
import { err } from '../result.ts';
import { getLiteralReach, getReach } from './addresses.ts';
import {
  createCheckedLookup,
  ForbiddenAddress,
  resolveAddresses,
  type ConnectionRules,
} from './checked-lookup.ts';
import { waitAtMost } from './pause.ts';
import { createTunnelStarter, openTunnel, ProxyError, toTarget, type TunnelTarget } from './tunnel.ts';

export interface ConnectorOptions extends ConnectionRules {
  readonly limitMs: number;
  readonly outbound?: Outbound | undefined;
  /** Certificates for TLS with the target; never for TLS with a proxy. */
  readonly secureContext?: SecureContext | undefined;
  /** Whether direct connections may be HTTP/2. Default: yes. */
  readonly allowH2?: boolean;
}

const LOOPBACK: ReadonlySet<Reach> = new Set(['loopback']);

/**
 * For undici: connections to allowed addresses only, directly or through a proxy. What is on this machine is always
 * reached directly.
 */
export function createOutboundConnector(options: ConnectorOptions): buildConnector.connector {
  const { resolve, reaches, onAllowed, limitMs, outbound, secureContext, allowH2 = true } = options;
  const common = { timeout: limitMs, allowH2, ...(secureContext && { secureContext }) };
  const direct = buildConnector({ ...common, lookup: createCheckedLookup({ reaches, resolve, onAllowed }) });
  if (outbound === undefined) return direct;
  const local = buildConnector({
    ...common,
    lookup: createCheckedLookup({ reaches: LOOPBACK, resolve, onAllowed }),
  });
  const start = createTunnelStarter(limitMs, secureContext);
  return (wanted, callback) => {
    const target: ConnectionTarget = {
      ...toTarget(wanted),
      protocol: wanted.protocol === 'https:' ? 'https:' : 'http:',
    };
    const proxy = isOfThisMachine(target.host) ? undefined : outbound.findProxy(target);
    if (proxy === undefined) {
      direct(wanted, callback);
      return;
    }
    if ('code' in proxy) return callback(new ProxyError(proxy), null);
    findTunnelTarget(target, proxy, options).then(
      (end) => {
        if (end === 'loopback') {
          local(wanted, callback);
          return;
        }
        openTunnel(proxy, end, { limitMs, resolve }).then(
          (socket) => start(socket, wanted, callback),
          (error: unknown) => callback(error as Error, null),
        );
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}

function isOfThisMachine(host: string): boolean {
  return getLiteralReach(host) === 'loopback' || /^(?:.+\.)?localhost\.?$/i.test(host);
}

/**
 * Where the proxy is asked to connect to; nothing is if any address of the target is forbidden. A certificate proves that
 * an https target is the one that was named, wherever the proxy finds it, and many proxies decide by name. Nothing proves
 * that for http, so there the proxy gets the address that was checked (docs/adr/0108).
 */
async function findTunnelTarget(
  { host, port, protocol }: ConnectionTarget,
  proxy: ProxyServer,
  { reaches, resolve, onAllowed, outbound, limitMs }: ConnectorOptions,
): Promise<TunnelTarget | 'loopback'> {
  const literal = getLiteralReach(host);
  if (literal !== undefined && !reaches.has(literal)) throw new ForbiddenAddress([literal]);
  if (literal !== undefined) return { host, port };
  const found = (await waitAtMost(resolveAddresses(host, resolve), limitMs)) ?? err('ETIMEDOUT');
  if (!found.ok && outbound?.proxyResolves === true) return { host, port };
  if (!found.ok) {
    const fault = { code: 'PROXY_TARGET_UNRESOLVED', proxy: formatProxyUrl(proxy.url) } as const;
    throw new ProxyError({ ...fault, error: found.error });
  }
  const addresses = found.value;
  const met = [...new Set(addresses.map(({ address }) => getReach(address)))];
  // The proxy may choose any of them.
  const forbidden = met.filter((reach) => !reaches.has(reach));
  if (forbidden.length > 0) throw new ForbiddenAddress(forbidden);
  if (met.includes('loopback')) return 'loopback';
  onAllowed?.(host, met);
  if (protocol === 'https:' || outbound?.proxyResolves === true) return { host, port };
  const address = addresses.find(({ family }) => family === 4) ?? addresses[0];
  return { host: address?.address ?? host, port };
}

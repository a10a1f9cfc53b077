import { BlockList, isIP } from 'node:net';
import type { ConnectionTarget, FindProxy, InvalidProxy, ProxyServer } from '../outbound.ts';
import { readProxyUrl } from '../outbound.ts';
import { CHOSEN_BY_OPERATOR } from '../reach.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The proxies that the environment names, with the variables of curl: https_proxy and HTTPS_PROXY, http_proxy in lower
 * case only, no_proxy and NO_PROXY. Undefined if it names none.
 */
export function readProxyEnvironment(env: Variables): FindProxy | undefined {
  const secure = readVariable(env, ['https_proxy', 'HTTPS_PROXY']);
  // A web server passes the header "Proxy" of a request to its CGI programs as HTTP_PROXY.
  const plain = readVariable(env, ['http_proxy']);
  if (secure === undefined && plain === undefined) return undefined;
  const isExcluded = readExclusions(env[findVariable(env, ['no_proxy', 'NO_PROXY']) ?? ''] ?? '');
  return (target) => {
    const proxy = target.protocol === 'https:' ? secure : plain;
    return proxy === undefined || isExcluded(target) ? undefined : proxy;
  };
}

function readVariable(env: Variables, names: readonly string[]): ProxyServer | InvalidProxy | undefined {
  const variable = findVariable(env, names);
  if (variable === undefined) return undefined;
  const url = readProxyUrl(env[variable] ?? '');
  return url.ok
    ? { url: url.value, reaches: CHOSEN_BY_OPERATOR }
    : { code: 'PROXY_INVALID', variable, reason: url.error };
}

/** The first that is set to something. */
function findVariable(env: Variables, names: readonly string[]): string | undefined {
  return names.find((name) => (env[name] ?? '').trim() !== '');
}

/**
 * Separated by commas or spaces: `*` for all hosts, a name for itself and all names below it, an address, or a network
 * such as 10.0.0.0/8 for addresses in URLs. Names and addresses may have a port.
 */
function readExclusions(text: string): (target: ConnectionTarget) => boolean {
  const rules = text.split(/[\s,]+/).flatMap((item) => readExclusion(item.toLowerCase()) ?? []);
  return (target) => {
    const host = target.host.toLowerCase().replace(/\.$/, '');
    return rules.some((rule) => rule({ ...target, host }));
  };
}

function readExclusion(item: string): ((target: ConnectionTarget) => boolean) | undefined {
  if (item === '') return undefined;
  if (item === '*') return () => true;
  const network = readNetwork(item);
  if (network !== undefined) return ({ host }) => network(host);
  const [, bracketed, bare, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(item) ?? [];
  const name = (bracketed ?? bare ?? item).replace(/^\*?\./, '').replace(/\.$/, '');
  if (name === '') return undefined;
  const isPort = (port: number): boolean => digits === undefined || Number(digits) === port;
  const address = toBlockList(name, undefined);
  if (address !== undefined) return ({ host, port }) => isPort(port) && address(host);
  return ({ host, port }) => isPort(port) && (host === name || host.endsWith(`.${name}`));
}

function readNetwork(item: string): ((host: string) => boolean) | undefined {
  const [, address = '', bits = ''] = /^\[?([^/\]]+)\]?\/(\d{1,3})$/.exec(item) ?? [];
  return bits === '' ? undefined : toBlockList(address, Number(bits));
}

/** Undefined if it is neither an address nor a network. */
function toBlockList(address: string, bits: number | undefined): ((host: string) => boolean) | undefined {
  const version = isIP(address);
  const length = version === 6 ? 128 : 32;
  if (version === 0 || (bits ?? length) > length) return undefined;
  const list = new BlockList();
  list.addSubnet(address, bits ?? length, version === 6 ? 'ipv6' : 'ipv4');
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

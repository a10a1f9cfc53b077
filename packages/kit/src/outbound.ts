import type { Reach } from './reach.ts';
import { err, ok, type Result } from './result.ts';

/** The end of a connection. */
export interface ConnectionTarget {
  readonly protocol: 'http:' | 'https:';
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** An HTTP proxy, and where it may be. */
export interface ProxyServer {
  /** Of `http:` or `https:`. May contain credentials. */
  readonly url: URL;
  readonly reaches: ReadonlySet<Reach>;
}

/** Why no proxy can be used: a variable of the environment is not valid. `reason`: a sentence without its end. */
export type InvalidProxy = Extract<ProxyFault, { readonly code: 'PROXY_INVALID' }>;

/** The proxy for a target that is not on this machine. Undefined: connect directly. */
export type FindProxy = (target: ConnectionTarget) => ProxyServer | InvalidProxy | undefined;

/** How connections leave this machine. */
export interface Outbound {
  /** Equal for equal ways, so that they can share connections. */
  readonly key: string;
  readonly findProxy: FindProxy;
  /** Whether a proxy may look up a name that cannot be resolved here, so that nothing checks its addresses. */
  readonly proxyResolves: boolean;
}

/** Why a proxy made no connection. Nothing was sent to the target. `proxy`: its URL without credentials. */
export type ProxyFault =
  | { readonly code: 'PROXY_UNREACHABLE'; readonly proxy: string; readonly error: string }
  | { readonly code: 'PROXY_CREDENTIALS_REFUSED'; readonly proxy: string }
  | { readonly code: 'PROXY_REFUSED'; readonly proxy: string; readonly status: number }
  | { readonly code: 'PROXY_NOT_ALLOWED'; readonly proxy: string; readonly reaches: readonly Reach[] }
  | { readonly code: 'PROXY_INVALID'; readonly variable: string; readonly reason: string }
  /** The name of the target cannot be resolved here. `error`: the code of the resolver. */
  | { readonly code: 'PROXY_TARGET_UNRESOLVED'; readonly proxy: string; readonly error: string };

/** A phrase to follow the name of the target, without a full stop. */
export function formatProxyFault(fault: ProxyFault): string {
  switch (fault.code) {
    case 'PROXY_UNREACHABLE':
      return `cannot be reached: no connection to the proxy ${fault.proxy} (${fault.error})`;
    case 'PROXY_CREDENTIALS_REFUSED':
      return `cannot be reached: the proxy ${fault.proxy} answers HTTP 407, so its credentials are missing or wrong`;
    case 'PROXY_REFUSED':
      return `cannot be reached: the proxy ${fault.proxy} refused the connection with HTTP ${fault.status}`;
    case 'PROXY_NOT_ALLOWED':
      return `cannot be reached: the proxy ${fault.proxy} is at a ${fault.reaches.join(' and ')} address, so nothing was sent there`;
    case 'PROXY_INVALID':
      return `cannot be reached: the variable ${fault.variable} cannot be used: ${fault.reason}`;
    case 'PROXY_TARGET_UNRESOLVED':
      return `has a host name that cannot be resolved here (${fault.error}), so its address cannot be checked before the proxy ${fault.proxy} connects to it`;
  }
}

/** Reads the URL of a proxy; without a scheme it is `http:`. The error is a sentence without its end, without the value. */
export function readProxyUrl(text: string): Result<URL, string> {
  const written = text.trim();
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(written) ? written : `http://${written}`);
  if (url === null || url.hostname === '') return err('it is not a URL such as http://proxy.example:3128');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return err('only proxies of http:// and https:// are supported');
  if (url.pathname.length > 1 || url.search !== '' || url.hash !== '')
    return err('the URL of a proxy ends with its port');
  return ok(url);
}

/** The URL of a proxy without credentials, for messages. */
export function formatProxyUrl({ origin }: URL): string {
  return origin;
}

import type { SecureContext } from 'node:tls';
import { Agent, fetch, type Response as Received } from 'undici';
import { getLiteralReach } from './addresses.ts';
import type { Reach } from '../reach.ts';
import { ForbiddenAddress, type ResolveName } from './checked-lookup.ts';
import { formatProxyFault, type Outbound } from '../outbound.ts';
import { createOutboundConnector } from './outbound-connector.ts';
import { ProxyError } from './tunnel.ts';

/** Where requests may go and how large responses may be. */
export interface FetchRules {
  readonly reachesFor: (url: URL) => ReadonlySet<Reach>;
  /** The way through proxies. Undefined: connect directly. */
  readonly outboundFor?: (url: URL) => Outbound | undefined;
  /** A phrase that says what to do if a URL leads to such addresses. */
  readonly remedy: (reaches: readonly Reach[], url: URL) => string;
  readonly resolve?: ResolveName | undefined;
  /** Certificates for connections to a URL; they must depend on its origin only. */
  readonly secureContextFor?: ((url: URL) => SecureContext | undefined) | undefined;
  /** Whether `http:` is allowed to loopback. */
  readonly allowsPlainLoopback: boolean;
  /** Time limit in ms for one request and its response. */
  readonly limitMs: number;
  /** Maximum number of bytes in one response. */
  readonly limitBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface CarefulFetch {
  /** Rejects with Unfetched, also if the rules forbid the request. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** A request without a response. Its message is a phrase that follows a name. A TypeError, like fetch's own error. */
export class Unfetched extends TypeError {}

const CONNECT_LIMIT_MS = 5_000;

/**
 * A fetch for addresses chosen by a peer. Resolved addresses are checked at connection time, so that a second DNS
 * answer cannot lead elsewhere. Redirects are returned to the caller; responses are bounded in size and time.
 */
export function openCarefulFetch(rules: FetchRules): CarefulFetch {
  const agents: {
    readonly reaches: ReadonlySet<Reach>;
    readonly secureContext: SecureContext | undefined;
    readonly key: string | undefined;
    readonly agent: Agent;
  }[] = [];
  const agentFor = (url: URL): Agent => {
    const reaches = rules.reachesFor(url);
    const secureContext = rules.secureContextFor?.(url);
    const outbound = rules.outboundFor?.(url);
    const key = outbound?.key;
    // A connection, or a TLS session, with a certificate must never serve another origin.
    const known = agents.find(
      (one) => one.reaches === reaches && one.secureContext === secureContext && one.key === key,
    );
    if (known !== undefined) return known.agent;
    const { resolve } = rules;
    const connect = createOutboundConnector({
      ...{ reaches, resolve, outbound, secureContext },
      limitMs: CONNECT_LIMIT_MS,
    });
    const agent = new Agent({ connect, pipelining: 1, keepAliveTimeout: 1_000 });
    agents.push({ reaches, secureContext, key, agent });
    return agent;
  };
  return {
    async fetch(url, init = {}) {
      const target = new URL(url);
      const fault = findUrlFault(target, rules);
      if (fault !== undefined) throw new Unfetched(fault);
      const limit = AbortSignal.timeout(rules.limitMs);
      const signal = rules.signal === undefined ? limit : AbortSignal.any([limit, rules.signal]);
      try {
        const response = await fetch(target, {
          method: init.method ?? 'GET',
          headers: [...new Headers(init.headers)],
          body: (init.body ?? null) as URLSearchParams | string | null, // callers here send nothing else
          redirect: 'manual',
          dispatcher: agentFor(target),
          signal,
        });
        return await bounded(response, rules.limitBytes, target);
      } catch (error) {
        throw new Unfetched(`${formatUrl(target)} ${reasonOf(error, target, rules)}`, { cause: error });
      }
    },
    close: async () => {
      await Promise.all(agents.map(({ agent }) => agent.destroy()));
    },
  };
}

/** What is wrong with a URL before any DNS lookup. */
function findUrlFault(url: URL, rules: FetchRules): string | undefined {
  const host = url.hostname;
  const reach = getLiteralReach(host);
  if (url.username !== '' || url.password !== '') return `${formatUrl(url)} holds a user or a password`;
  const isLoopback = reach === 'loopback' || host === 'localhost' || host.endsWith('.localhost');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.allowsPlainLoopback && isLoopback))
    return `${formatUrl(url)} is not an https address`;
  // Literal addresses bypass the lookup.
  if (reach !== undefined && !rules.reachesFor(url).has(reach))
    return `${formatUrl(url)} ${forbidden([reach], url, rules)}`;
  return undefined;
}

function forbidden(reaches: readonly Reach[], url: URL, { remedy }: FetchRules): string {
  return `leads to a ${reaches.join(' and ')} address, so nothing was sent there: ${remedy(reaches, url)}`;
}

/** The response, already read completely. */
async function bounded(response: Received, limitBytes: number, url: URL): Promise<Response> {
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? [];
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > limitBytes) throw new TooLarge(`answered with more than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  const hasBody = status !== 204 && status !== 205 && status !== 304 && status >= 200;
  const whole = new Response(hasBody ? Buffer.concat(chunks) : null, {
    status,
    statusText,
    headers: [...headers],
  });
  Object.defineProperty(whole, 'url', { value: url.href });
  return whole;
}

class TooLarge extends Error {}

/** Host and path only: a query may contain secrets. */
function formatUrl({ origin, pathname }: URL): string {
  return JSON.stringify(`${origin}${pathname}`.slice(0, 200));
}

function reasonOf(error: unknown, url: URL, rules: FetchRules): string {
  if (error instanceof TooLarge) return error.message;
  if (error instanceof Error && error.name === 'TimeoutError') return 'did not answer in time';
  if (error instanceof Error && error.name === 'AbortError') return 'was not waited for any longer';
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof ForbiddenAddress) return forbidden(cause.reaches, url, rules);
  if (cause instanceof ProxyError) return formatProxyFault(cause.fault);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN'
    ? `has a host name that is not known (${code})`
    : `could not be reached (${code ?? (cause instanceof Error ? cause.message : String(cause))})`;
}

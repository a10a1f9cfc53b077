import { Agent, type Dispatcher } from 'undici';
import type { Cancellation } from '../cancellation.ts';
import { formatProxyFault, type Outbound } from '../outbound.ts';
import { getLiteralReach } from './addresses.ts';
import type { Reach } from '../reach.ts';
import { decodeWithin } from './bounded-decoding.ts';
import { getFaultName, guardCallback, type Peer } from './guarded.ts';
import { ForbiddenAddress, type ResolveName } from './checked-lookup.ts';
import { createOutboundConnector } from './outbound-connector.ts';
import { ProxyError } from './tunnel.ts';

export interface PinnedRequest {
  readonly method: string;
  readonly url: URL;
  /** Where the connection may lead. */
  readonly reaches: ReadonlySet<Reach>;
  /** The way through proxies. Undefined: connect directly. */
  readonly outbound?: Outbound | undefined;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string | Buffer | undefined;
  /** Maximum number of response bytes; the connection is closed if there are more. */
  readonly maxBytes: number;
  readonly cancellation: Cancellation;
}

/** `isCut`: the body was truncated. A `reason` is a phrase that follows a host name. */
export type PinnedAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Buffer;
      readonly isCut: boolean;
    }
  | { readonly kind: 'forbidden'; readonly reaches: readonly Reach[] }
  | { readonly kind: 'failed'; readonly reason: string };

export interface PinnedAgent {
  exchange(request: PinnedRequest): Promise<PinnedAnswer>;
  /** Whether a contacted host has ever had a public address. Hosts not remembered count as public. */
  isPublic(hostname: string): boolean;
  close(): Promise<void>;
}

export interface PinnedAgentOptions {
  readonly resolve?: ResolveName | undefined;
}

const CONNECT_LIMIT_MS = 10_000;
const MAX_CONNECTIONS = 256;

/**
 * Keep-alive connections to any origin with allowed addresses. Each is checked when opened and used only by requests
 * with the same rules. Redirects are not followed. undici's own limits of 300 s are off: whoever calls
 * cancels in time.
 */
export function openPinnedAgent({ resolve }: PinnedAgentOptions = {}): PinnedAgent {
  const literals = new LiteralReaches();
  const names = new NamesMet();
  const agents = new Map<ReadonlySet<Reach>, Map<string, Agent>>();
  const agentFor = (reaches: ReadonlySet<Reach>, outbound: Outbound | undefined): Agent => {
    const sameReach = agents.get(reaches) ?? new Map<string, Agent>();
    const key = outbound?.key ?? '';
    const known = sameReach.get(key);
    if (known !== undefined) return known;
    const onAllowed = (name: string, met: readonly Reach[]): void => names.add(name, met);
    const agent = new Agent({
      connect: createOutboundConnector({
        ...{ reaches, resolve, onAllowed, outbound, limitMs: CONNECT_LIMIT_MS },
        allowH2: false,
      }),
      connections: MAX_CONNECTIONS,
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      allowH2: false,
    });
    agents.set(reaches, sameReach.set(key, agent));
    return agent;
  };
  return {
    exchange(request) {
      const { url, reaches, outbound } = request;
      if (url.protocol !== 'https:' && url.protocol !== 'http:')
        return Promise.resolve(failed('is not an http address'));
      if (url.username !== '' || url.password !== '')
        return Promise.resolve(failed('holds a user or a password'));
      const reach = literals.of(url.hostname);
      if (reach !== undefined && !reaches.has(reach))
        return Promise.resolve({ kind: 'forbidden', reaches: [reach] });
      return dispatch(agentFor(reaches, outbound), request);
    },
    isPublic: (hostname) => {
      const reach = literals.of(hostname);
      return reach === undefined ? names.isPublic(hostname) : reach === 'public';
    },
    close: async () => {
      const all = [...agents.values()].flatMap((sameReach) => [...sameReach.values()]);
      await Promise.all(all.map((agent) => agent.destroy()));
    },
  };
}

const MAX_NAMES = 1_000;

/** Remembers, by host name, whether any address was ever public. */
class NamesMet {
  readonly #isPublic = new Map<string, boolean>();

  add(name: string, reaches: readonly Reach[]): void {
    if (this.#isPublic.size >= MAX_NAMES) this.#isPublic.clear();
    this.#isPublic.set(name, this.#isPublic.get(name) === true || reaches.includes('public'));
  }

  isPublic(name: string): boolean {
    return this.#isPublic.get(name) ?? true;
  }
}

const MAX_LITERALS = 1_000;

/** Caches the reach of literal addresses; checking all lists takes a tenth of the time of a request. */
class LiteralReaches {
  readonly #known = new Map<string, Reach | undefined>();

  /** Undefined if the host is a name. */
  of(hostname: string): Reach | undefined {
    if (this.#known.has(hostname)) return this.#known.get(hostname);
    const reach = getLiteralReach(hostname);
    if (this.#known.size >= MAX_LITERALS) this.#known.clear();
    this.#known.set(hostname, reach);
    return reach;
  }
}

function dispatch(agent: Agent, request: PinnedRequest): Promise<PinnedAnswer> {
  return new Promise((resolve) => {
    const { cancellation, url } = request;
    const peer: Peer = {
      name: `server at ${url.origin}`,
      end: (error) =>
        reader.end(failed(`answered something that could not be handled: ${getFaultName(error)}`)),
    };
    const reader = new AnswerReader(request.maxBytes, peer, (answer) => {
      const codings = answer.kind === 'answered' ? answer.headers['content-encoding'] : undefined;
      // First, so that no fault below leaves the caller waiting.
      resolve(codings === undefined ? answer : decoded(answer, String(codings), request));
      cancellation.removeListener(stop);
    });
    const stop = (): void => reader.end(failed('was not waited for any longer'));
    if (cancellation.isCancelled) return stop();
    cancellation.addListener(stop);
    agent.dispatch(
      {
        origin: url.origin,
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: request.headers as string[],
        body: request.body ?? null,
      },
      reader,
    );
  });
}

/** Reads one response. The first end counts, and an early one closes the connection. */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #guard: (event: () => void) => void;
  readonly #chunks: Buffer[] = [];
  #give: ((answer: PinnedAnswer) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #size = 0;
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};

  constructor(maxBytes: number, peer: Peer, give: (answer: PinnedAnswer) => void) {
    this.#maxBytes = maxBytes;
    this.#give = give;
    this.#guard = guardCallback(peer, (event: () => void) => event());
  }

  end(answer: PinnedAnswer): void {
    this.#settle(answer);
    this.#controller?.abort(new Error('aborted'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#give === undefined) controller.abort(new Error('aborted'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#guard(() => {
      const room = this.#maxBytes - this.#size;
      this.#size += chunk.length;
      this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      if (chunk.length > room) this.end(this.#answer(true));
    });
  }

  onResponseEnd(): void {
    this.#guard(() => this.#settle(this.#answer(false)));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#guard(() =>
      this.#settle(
        error instanceof ForbiddenAddress
          ? { kind: 'forbidden', reaches: error.reaches }
          : failed(reasonOf(error)),
      ),
    );
  }

  #answer(isCut: boolean): PinnedAnswer {
    const [only = EMPTY] = this.#chunks;
    const body = this.#chunks.length < 2 ? only : Buffer.concat(this.#chunks);
    return { kind: 'answered', status: this.#status, headers: this.#headers, body, isCut };
  }

  #settle(answer: PinnedAnswer): void {
    const give = this.#give;
    this.#give = undefined;
    give?.(answer);
  }
}

const EMPTY = Buffer.alloc(0);

async function decoded(
  answer: PinnedAnswer,
  codings: string,
  limits: Pick<PinnedRequest, 'maxBytes' | 'cancellation'>,
): Promise<PinnedAnswer> {
  if (answer.kind !== 'answered' || answer.body.length === 0) return answer;
  const plain = await decodeWithin(answer.body, codings, limits);
  if (plain === undefined && limits.cancellation.isCancelled) return failed('was not waited for any longer');
  if (plain === undefined)
    return failed(`answered in the coding ${JSON.stringify(codings.slice(0, 50))}, which cannot be read`);
  return { ...answer, body: plain.body, isCut: answer.isCut || plain.isCut };
}

function failed(reason: string): PinnedAnswer {
  return { kind: 'failed', reason };
}

/** A reason for users that shows what to check. */
function reasonOf(error: Error & { readonly code?: string }): string {
  if (error instanceof ProxyError) return formatProxyFault(error.fault);
  const { code = '' } = error;
  switch (code) {
    case 'ECONNREFUSED':
      return 'refuses connections: nothing listens there (ECONNREFUSED)';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `has a host name that is not known (${code})`;
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `took no connection within ${CONNECT_LIMIT_MS / 1_000} s`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'closed the connection before its answer was whole';
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'answered with more headers than are read';
  }
  if (/CERT|SIGNATURE|ISSUER|^ERR_TLS/.test(code)) return `has a certificate that is not accepted (${code})`;
  if (code.startsWith('HPE_')) return `sent an answer that is not HTTP (${code})`;
  return `could not be asked (${code === '' ? error.name : code})`;
}

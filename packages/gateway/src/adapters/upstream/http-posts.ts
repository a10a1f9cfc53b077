import { type Cause, toCauseJson } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { toCause } from '../../core/refusal-cause.ts';
import type { UpstreamRequest, LinkEvents } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Authorizer } from '../../gateway/ports/credentials.ts';
import type { HttpReach, HttpRequest } from '@assay-mcp/kit/platform/http-client';
import { METHODS, MODERN_VERSION } from '@assay-mcp/protocol/eras';
import * as headers from '@assay-mcp/protocol/headers';
import { buildParameterHeaders } from '@assay-mcp/protocol/parameter-values';
import { findMember, readJsonString } from '@assay-mcp/protocol/spans';
import { NotificationLimiter } from './notification-limiter.ts';
import { type HttpEnd, type HttpExchangeOptions, isHtml, isSuccess } from './http-exchange.ts';
import type { LinkAttempt } from './opening.ts';

interface HttpPostsOptions {
  readonly server: string;
  readonly log: Log;
  /** Starts an exchange through the link. */
  readonly exchange: (
    options: Pick<HttpExchangeOptions, 'request' | 'isStream' | 'onMessage' | 'onEnd'>,
  ) => () => void;
  /** A request with the link's current session and revision. */
  readonly request: (method: 'POST' | 'DELETE', body: Buffer | undefined) => HttpRequest;
}

/** Maximum number of POSTs in flight, not counting requests. */
const MAX_POSTS = 1_024;

/** Messages that are not requests: notifications, responses, and the end of a session. Their answers are ignored. */
export class HttpPosts {
  readonly #options: HttpPostsOptions;
  readonly #limiter: NotificationLimiter;
  #posts = 0;

  constructor(options: HttpPostsOptions) {
    this.#options = options;
    this.#limiter = new NotificationLimiter({ ...options, isTaken: () => this.#posts < MAX_POSTS });
  }

  readonly post = (body: Buffer): void => {
    const { server, log } = this.#options;
    if (!this.#limiter.mayGo()) return;
    this.#posts += 1;
    this.#send('POST', body, (end) => {
      this.#posts -= 1;
      if (end.kind !== 'answered')
        log.debug('a notification did not arrive', { server, ...toCauseJson(end.cause) });
    });
  };

  delete(): Promise<HttpEnd> {
    return new Promise((resolve) => this.#send('DELETE', undefined, resolve));
  }

  #send(method: 'POST' | 'DELETE', body: Buffer | undefined, onEnd: (end: HttpEnd) => void): void {
    const { exchange, request } = this.#options;
    exchange({ request: request(method, body), isStream: false, onMessage: () => undefined, onEnd });
  }
}

export interface HttpLinkOptions {
  readonly server: string;
  readonly url: URL;
  readonly reach: HttpReach;
  /** Headers from the config, sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly ownInfo: string;
  /** Undefined if the configured headers suffice. */
  readonly authorizer: Authorizer | undefined;
  /** The shortest silence that ends a stream whose heartbeat stops; by default 30 s. */
  readonly minSilenceMs?: number | undefined;
}

/** Headers that repeat parts of the body (2026-07-28, basic/transports/streamable-http#request-metadata). */
export function buildModernHeaders(request: UpstreamRequest): readonly string[] {
  const { message, parameters } = request;
  const standard = standardHeaders(request);
  return parameters === undefined ? standard : [...standard, ...buildParameterHeaders(message, parameters)];
}

function standardHeaders({ message, name }: UpstreamRequest): readonly string[] {
  const { method } = message;
  const source = METHODS.get(method)?.named;
  const value = name ?? (source && readJsonString(message.bytes, findMember(message.params, source)));
  const fixed = [headers.PROTOCOL_VERSION, MODERN_VERSION, headers.METHOD, method];
  if (source !== undefined && value !== undefined) fixed.push(headers.NAME, headers.encodeHeader(value));
  return fixed;
}

/** Why a request got no response on an exchange that is over. */
export function toEndRefusal(end: HttpEnd, server: string): Refusal {
  if (end.kind === 'unreached') return { code: 'SERVER_UNREACHED', server, cause: end.cause };
  if (end.kind === 'broken') return { code: 'SERVER_ENDED', server, cause: end.cause };
  if (end.refusal !== undefined) return end.refusal;
  if (isSuccess(end.status)) return { code: 'SERVER_ENDED', server, cause: toStatusCause(end) };
  return { code: 'SERVER_UNAVAILABLE', server, cause: toStatusCause(end), httpStatus: end.status };
}

/** The cause if other requests would fail too, else undefined. Insufficient scope fails only the one call. */
export function findLastCause(end: HttpEnd): Cause | undefined {
  if (end.kind === 'unreached') return end.cause;
  const isWithoutCredentials = end.kind === 'answered' && end.status === 401 && end.refusal !== undefined;
  return isWithoutCredentials ? toCause(end.refusal) : undefined;
}

/** The cause of an answer without a response. */
export function toStatusCause({ status, headers: given }: Extract<HttpEnd, { kind: 'answered' }>): Cause {
  const waitSeconds = WAITING.has(status) ? parseRetryAfter(given['retry-after'], Date.now()) : undefined;
  const wait = waitSeconds === undefined ? {} : { waitSeconds };
  if (isSuccess(status)) return isHtml(given) ? { code: 'ENDPOINT_NOT_MCP' } : INCOMPLETE;
  if (status === 401 || status === 403) return { code: 'CREDENTIALS_REFUSED', status };
  if (MOVED.has(status)) {
    const { location } = given;
    return { code: 'ADDRESS_MOVED', status, location: location && String(location).slice(0, 200) };
  }
  if (status === 404 || status === 405) return { code: 'ENDPOINT_NOT_FOUND', status };
  if (status === 429) return { code: 'RATE_LIMITED', status, ...wait };
  return status >= 500
    ? { code: 'HTTP_SERVER_ERROR', status, ...wait }
    : { code: 'HTTP_STATUS_UNEXPECTED', status };
}

/** Statuses with which a server says when to come back. */
const WAITING: ReadonlySet<number> = new Set([429, 503]);
const MAX_WAIT_SECONDS = 86_400;

/** Seconds, or a date (RFC 9110, section 10.2.3); at most a day. Undefined if it is neither. */
export function parseRetryAfter(value: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const isDate = text.endsWith(' GMT');
  if (!isDate && !/^\d{1,10}$/.test(text)) return undefined;
  const seconds = isDate ? Math.ceil((Date.parse(text) - nowMs) / 1_000) : Number(text);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_WAIT_SECONDS);
}

const INCOMPLETE: Cause = { code: 'RESPONSE_INCOMPLETE' };
/** Redirects are not followed, so credentials never leave the origin. */
const MOVED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The authorizer for a link's requests; undefined if the config provides the credentials. */
export async function getAuthorizer({
  spec,
  deps,
  subject,
  signal,
}: LinkAttempt): Promise<Authorizer | undefined> {
  // A token may have to be requested first, which an attempt that is over does not wait for.
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const stop = (): void => resolve(undefined);
  if (signal.aborted) return undefined;
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([deps.credentials?.authorizer(spec, subject), over]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

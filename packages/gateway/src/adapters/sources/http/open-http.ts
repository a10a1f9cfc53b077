import type { Cancellation } from '@assay-mcp/kit/cancellation';
import { isSafeMethod } from '@assay-mcp/kit/infer-hints';
import {
  getNamedUrlChooser,
  formatReachRemedy,
  toOutbound,
  type ReachRules,
  type UrlChooser,
} from '../../../core/reach-rules.ts';
import type { ProxySpec } from '../../../core/server-spec.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ResolveName } from '@assay-mcp/kit/platform/checked-lookup';
import { openPinnedAgent, type PinnedAgent, type PinnedAnswer } from '@assay-mcp/kit/platform/pinned-agent';

/** Sends requests only to addresses that the operator allows. */
export interface HttpPort {
  /** The error is a sentence for a model or an operator. It holds no secret and names the setting that forbids it. */
  send(call: HttpCall): Promise<Result<HttpAnswer, string>>;
  close(): Promise<void>;
}

/** One HTTP request that a tool makes. */
export interface HttpCall {
  /** In upper case. */
  readonly method: string;
  readonly url: URL;
  readonly chosenBy: UrlChooser;
  /** The proxy of its entry. */
  readonly proxySpec?: ProxySpec | undefined;
  /** How messages name `url`; default: its origin and path. */
  readonly shownUrl?: string | undefined;
  /** Names and values; a value holds no line break. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | Buffer | undefined;
  /** Headers that must not go to another origin than `url`'s, besides Authorization and Cookie. */
  readonly secretHeaders?: readonly string[] | undefined;
  /** Maximum number of bytes to read of the answer. */
  readonly maxBytes: number;
  readonly cancellation: Cancellation;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether the body is longer than `maxBytes`. */
  readonly isCut: boolean;
  /** Whether a public address sent it or redirected to it. */
  readonly isPublic: boolean;
}

interface HttpOptions {
  readonly rules: ReachRules;
  readonly resolve?: ResolveName | undefined;
}

const MAX_REDIRECTS = 5;

/** The caller closes it. */
export function openHttp(options: HttpOptions): HttpPort {
  const agent = openPinnedAgent({ resolve: options.resolve });
  return {
    send: (call) => send(call, agent, options),
    close: () => agent.close(),
  };
}

async function send(
  call: HttpCall,
  agent: PinnedAgent,
  { rules }: HttpOptions,
): Promise<Result<HttpAnswer, string>> {
  const { maxBytes, cancellation } = call;
  let step: Step = { method: call.method, url: call.url, headers: call.headers, body: call.body };
  let chooser = call.chosenBy;
  let isPublic = false;
  for (let hops = 0; ; hops += 1) {
    const { method, url, body } = step;
    const headers = linesOf(step.headers);
    const reaches = rules[chooser];
    const outbound = toOutbound(rules, chooser, call.proxySpec, call.chosenBy);
    const answer = await agent.exchange({
      ...{ method, url, reaches, outbound, headers, body, maxBytes, cancellation },
    });
    const name = (): string =>
      hops === 0 ? formatCallUrl(call) : `${formatCallUrl(call)}, which redirects to ${url.origin},`;
    if (answer.kind !== 'answered') return err(sentenceOf(name(), answer, chooser));
    isPublic ||= agent.isPublic(url.hostname);
    if (!isFollowed(step.method, answer.status, answer.headers)) return ok({ ...answer, isPublic });
    if (hops === MAX_REDIRECTS)
      return err(`${formatCallUrl(call)} redirects more than ${MAX_REDIRECTS} times, so there is no answer.`);
    const secrets = new Set(call.secretHeaders?.map((name) => name.toLowerCase()));
    const next = followRedirect(step, answer, secrets);
    if (!next.ok) return err(`${name()} ${next.error}.`);
    chooser = getNamedUrlChooser(next.value.url, { url, chooser, isPublic });
    step = next.value;
  }
}

/** Alternating names and values. Asks for an unencoded answer by default, which saves decoding. */
function linesOf(headers: HttpCall['headers']): readonly string[] {
  const lines: string[] = [];
  let isEncodingSaid = false;
  for (const [name, value] of headers) {
    lines.push(name, value);
    isEncodingSaid ||= name.length === 15 && name.toLowerCase() === 'accept-encoding';
  }
  if (!isEncodingSaid) lines.push('accept-encoding', 'identity');
  return lines;
}

function sentenceOf(
  name: string,
  answer: Exclude<PinnedAnswer, { readonly kind: 'answered' }>,
  chooser: UrlChooser,
): string {
  if (answer.kind === 'failed') return `${name} ${answer.reason}.`;
  const remedy = formatReachRemedy(answer.reaches, chooser);
  return `${name} leads to a ${answer.reaches.join(' and ')} address, so nothing was sent there: ${remedy}.`;
}

/** Origin and path only: a query may hold secrets. */
function formatCallUrl({ url: { origin, pathname }, shownUrl = `${origin}${pathname}` }: HttpCall): string {
  return JSON.stringify(shownUrl.slice(0, 200));
}

/** One request of a redirect chain. */
export type Step = Pick<HttpCall, 'method' | 'url' | 'headers' | 'body'>;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether the answer is a redirect and its method is safe to send again. */
function isFollowed(method: string, status: number, headers: HttpAnswer['headers']): boolean {
  return REDIRECTS.has(status) && isSafeMethod(method) && headers['location'] !== undefined;
}

/** Target of a redirect. Undefined if its Location is missing or invalid. */
export function findRedirectTarget(url: URL, { headers }: Pick<HttpAnswer, 'headers'>): URL | undefined {
  const { location } = headers;
  return typeof location === 'string' ? (URL.parse(location, url.href) ?? undefined) : undefined;
}

/**
 * The request that follows a redirect (RFC 9110, section 15.4). Credentials and the body do not go to another origin;
 * `secrets` are further credential headers, in lower case. The error is a phrase.
 */
export function followRedirect(
  step: Step,
  answer: Pick<HttpAnswer, 'status' | 'headers'>,
  secrets: ReadonlySet<string>,
): Result<Step, string> {
  const url = findRedirectTarget(step.url, answer);
  if (url === undefined) return err('redirects to an invalid address');
  if (step.url.protocol === 'https:' && url.protocol !== 'https:')
    return err(`redirects to ${JSON.stringify(url.origin)}, which is not encrypted, so it was not followed`);
  const isSameOrigin = url.origin === step.url.origin;
  const becomesGet = answer.status === 303 && step.method !== 'HEAD';
  return ok({
    method: becomesGet ? 'GET' : step.method,
    url,
    headers: isSameOrigin ? step.headers : step.headers.filter(([name]) => !isSecret(name, secrets)),
    body: isSameOrigin && !becomesGet ? step.body : undefined,
  });
}

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

function isSecret(name: string, secrets: ReadonlySet<string>): boolean {
  const lower = name.toLowerCase();
  return CREDENTIALS.has(lower) || secrets.has(lower);
}

/** The same port for the requests of an entry with a proxy of its own. */
export function withProxy(http: HttpPort, { proxy, proxyResolves }: ProxySpec): HttpPort {
  if (proxy === undefined && proxyResolves === undefined) return http;
  const proxySpec = {
    ...(proxy !== undefined && { proxy }),
    ...(proxyResolves !== undefined && { proxyResolves }),
  };
  return { send: (call) => http.send({ ...call, proxySpec }), close: () => http.close() };
}

import { isSafeMethod } from '../../../core/hints/infer.ts';
import { chooserOfNamed, reachRemedy, type ReachRules, type UrlChooser } from '../../../core/reach.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ResolveName } from '../../../platform/checked-lookup.ts';
import { openPinnedAgent, type PinnedAgent, type PinnedAnswer } from '../../../platform/pinned-agent.ts';

/** Sends requests only to where the operator lets them go. */
export interface HttpPort {
  /** The error is a sentence for a model or an operator; it holds no secret, and names the setting where one forbids it. */
  send(call: HttpCall): Promise<Result<HttpAnswer, string>>;
  close(): Promise<void>;
}

/** One HTTP request that a tool makes. */
export interface HttpCall {
  /** In capitals. */
  readonly method: string;
  readonly url: URL;
  readonly chosenBy: UrlChooser;
  /** How sentences call `url`; absent: by its origin and path. */
  readonly shownUrl?: string | undefined;
  /** Names and values; a value holds no line break. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | Buffer | undefined;
  /** Names of headers that must not go to another origin than that of `url`, beside Authorization and Cookie. */
  readonly secretHeaders?: readonly string[] | undefined;
  /** Most bytes of the answer that are read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether there is more of the body than `maxBytes`. */
  readonly isCut: boolean;
  /** Whether it came from a public address, or by way of one. */
  readonly isPublic: boolean;
}

interface HttpOptions {
  readonly rules: ReachRules;
  readonly resolve?: ResolveName | undefined;
}

const MOST_REDIRECTS = 5;

/** Opens what sends requests. The caller closes it. */
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
  const { maxBytes, signal } = call;
  const secrets = new Set(call.secretHeaders?.map((name) => name.toLowerCase()));
  let step: Step = { method: call.method, url: call.url, headers: call.headers, body: call.body };
  let chooser = call.chosenBy;
  let isPublic = false;
  for (let hops = 0; ; hops += 1) {
    const { method, url, body } = step;
    const headers = linesOf(step.headers);
    const reaches = rules[chooser];
    const answer = await agent.exchange({ method, url, reaches, headers, body, maxBytes, signal });
    const name = hops === 0 ? shown(call) : `${shown(call)}, which redirects to ${url.origin},`;
    if (answer.kind !== 'answered') return err(sentenceOf(name, answer, chooser));
    isPublic ||= agent.isPublic(url.hostname);
    if (!isFollowed(step.method, answer.status, answer.headers)) return ok({ ...answer, isPublic });
    if (hops === MOST_REDIRECTS)
      return err(`${shown(call)} redirects more than ${MOST_REDIRECTS} times, so nobody knows its answer.`);
    const next = nextStep(step, answer, secrets);
    if (!next.ok) return err(`${name} ${next.error}.`);
    chooser = chooserOfNamed(next.value.url, { url, chooser, isPublic });
    step = next.value;
  }
}

/** Names and values in turn. An answer that is not encoded needs no decoding. */
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
  const remedy = reachRemedy(answer.reaches, chooser);
  return `${name} leads to a ${answer.reaches.join(' and ')} address, so nothing was sent there: ${remedy}.`;
}

/** Host and path: a query may hold anything. */
function shown({ url: { origin, pathname }, shownUrl = `${origin}${pathname}` }: HttpCall): string {
  return JSON.stringify(shownUrl.slice(0, 200));
}

/** What is sent next. */
export type Step = Pick<HttpCall, 'method' | 'url' | 'headers' | 'body'>;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether an answer sends one elsewhere, and a request of that method may be sent twice without harm. */
function isFollowed(method: string, status: number, headers: HttpAnswer['headers']): boolean {
  return REDIRECTS.has(status) && isSafeMethod(method) && headers['location'] !== undefined;
}

/** Where an answer with a redirect points to; undefined: nowhere that is an address. */
export function redirectTarget(url: URL, { headers }: Pick<HttpAnswer, 'headers'>): URL | undefined {
  const { location } = headers;
  return typeof location === 'string' ? (URL.parse(location, url.href) ?? undefined) : undefined;
}

/**
 * The request that follows a redirect (RFC 9110, section 15.4). What says who asks does not go to another origin, nor does
 * a body; `secrets` are further names of such headers, in lower case. The error is a phrase.
 */
export function nextStep(
  step: Step,
  answer: Pick<HttpAnswer, 'status' | 'headers'>,
  secrets: ReadonlySet<string>,
): Result<Step, string> {
  const url = redirectTarget(step.url, answer);
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

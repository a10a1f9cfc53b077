import { err, ok, type Result } from '../../../core/result.ts';
import type { Reach } from '../../../platform/addresses.ts';
import type { ResolveName } from '../../../platform/checked-lookup.ts';
import { openPinnedAgent, type PinnedAgent, type PinnedAnswer } from '../../../platform/pinned-agent.ts';
import type { HttpAnswer, HttpCall } from './http-call.ts';
import type { HttpPort } from './http-port.ts';
import { isFollowed, nextStep, type Step } from './redirects.ts';

export interface HttpOptions {
  /** Where requests may go. What hands out credentials, or is no address of one machine, is never among it. */
  readonly reaches: ReadonlySet<Reach>;
  /** A sentence: which settings let requests go there. */
  readonly forbidden: (reaches: readonly Reach[]) => string;
  readonly resolve?: ResolveName | undefined;
}

const MOST_REDIRECTS = 5;

/** Opens what sends requests. The caller closes it. */
export function openHttp(options: HttpOptions): HttpPort {
  const reaches = new Set([...options.reaches].filter((reach) => SETTABLE.has(reach)));
  const agent = openPinnedAgent({ reaches, resolve: options.resolve });
  return {
    send: (call) => send(call, agent, options),
    close: () => agent.close(),
  };
}

const SETTABLE: ReadonlySet<Reach> = new Set(['public', 'private', 'loopback']);

async function send(
  call: HttpCall,
  agent: PinnedAgent,
  options: HttpOptions,
): Promise<Result<HttpAnswer, string>> {
  const { maxBytes, signal } = call;
  const secrets = new Set(call.secretHeaders?.map((name) => name.toLowerCase()));
  let step: Step = { method: call.method, url: call.url, headers: call.headers, body: call.body };
  for (let hops = 0; ; hops += 1) {
    const { method, url, body } = step;
    const headers = linesOf(step.headers);
    const answer = await agent.exchange({ method, url, headers, body, maxBytes, signal });
    const name = hops === 0 ? shown(call) : `${shown(call)}, which redirects to ${url.origin},`;
    if (answer.kind !== 'answered') return err(sentenceOf(name, answer, options));
    if (!isFollowed(step.method, answer.status, answer.headers)) return ok(answer);
    if (hops === MOST_REDIRECTS)
      return err(`${shown(call)} redirects more than ${MOST_REDIRECTS} times, so nobody knows its answer.`);
    const next = nextStep(step, answer, secrets);
    if (!next.ok) return err(`${name} ${next.error}.`);
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
  { forbidden }: HttpOptions,
): string {
  if (answer.kind === 'failed') return `${name} ${answer.reason}.`;
  const settable = answer.reaches.filter((reach) => SETTABLE.has(reach));
  const remedy = settable.length === 0 ? 'No setting allows that.' : forbidden(settable);
  return `${name} leads to a ${answer.reaches.join(' and ')} address, so nothing was sent there. ${remedy}`;
}

/** Host and path: a query may hold anything. */
function shown({ url: { origin, pathname }, shownUrl = `${origin}${pathname}` }: HttpCall): string {
  return JSON.stringify(shownUrl.slice(0, 200));
}

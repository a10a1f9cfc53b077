import { chooserOfNamed, reachRemedy, type ReachRules, type UrlChooser } from '../../../core/reach.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ResolveName } from '../../../platform/checked-lookup.ts';
import { openPinnedAgent, type PinnedAgent, type PinnedAnswer } from '../../../platform/pinned-agent.ts';
import type { HttpAnswer, HttpCall } from './http-call.ts';
import type { HttpPort } from './http-port.ts';
import { isFollowed, nextStep, type Step } from './redirects.ts';

export interface HttpOptions {
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

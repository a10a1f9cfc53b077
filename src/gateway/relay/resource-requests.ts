import { findMember, readJsonString } from '../../protocol/spans.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';

const DONE: Answer = { kind: 'own', result: Buffer.from('{}') };

/** Answers `resources/subscribe`. Errors of the server are relayed to the client. */
export function subscribe(call: Call): Promise<Answer> {
  return withUri(call, async (uri, subscriptions) => {
    const answer = await subscriptions.subscribe(uri, call.cancellation);
    if (answer.kind === 'honoured') return DONE;
    return answer.kind === 'refused'
      ? { kind: 'relayed', reply: answer.reply }
      : toRefusedAnswer(answer.refusal);
  });
}

/** Answers `resources/unsubscribe`. Succeeds even without a subscription. */
export function unsubscribe(call: Call): Promise<Answer> {
  return withUri(call, (uri, subscriptions) => {
    subscriptions.unsubscribe(uri);
    return Promise.resolve(DONE);
  });
}

async function withUri(
  { message, view, caller }: Call,
  step: (uri: string, subscriptions: ClientSubscriptions) => Promise<Answer>,
): Promise<Answer> {
  const { method, bytes, params } = message;
  const { subscriptions } = caller;
  if (subscriptions === undefined || !view.has('resources', 'subscribe'))
    return toRefusedAnswer({ code: 'METHOD_UNKNOWN', method });
  const uri = readJsonString(bytes, findMember(params, 'uri'));
  const reason = 'it must be a string';
  if (uri === undefined) return toRefusedAnswer({ code: 'PARAMS_INVALID', field: 'params.uri', reason });
  return step(uri, subscriptions);
}

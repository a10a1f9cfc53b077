import type { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import { memberOf, textOf } from '../../protocol/spans.ts';
import type { Reply } from '../ports/link.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import type { View } from '../catalog/view.ts';

interface Asked {
  readonly view: View;
  readonly message: RequestMessage;
  /** Undefined: whoever asks cannot be told of anything. */
  readonly wishes?: ClientSubscriptions | undefined;
  readonly cancellation: Cancellation;
}

type Answered =
  | { readonly kind: 'own'; readonly result: Buffer }
  | { readonly kind: 'relayed'; readonly reply: Reply }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

const DONE: Answered = { kind: 'own', result: Buffer.from('{}') };

/** Answers `resources/subscribe`. The server's own error is the client's answer. */
export function subscribe(asked: Asked): Promise<Answered> {
  return withUri(asked, async (uri, wishes) => {
    const answer = await wishes.want(uri, asked.cancellation);
    if (answer.kind === 'honoured') return DONE;
    return answer.kind === 'refused'
      ? { kind: 'relayed', reply: answer.reply }
      : { kind: 'refused', refusal: answer.refusal };
  });
}

/** Answers `resources/unsubscribe`. A resource that was not subscribed is none now either. */
export function unsubscribe(asked: Asked): Promise<Answered> {
  return withUri(asked, (uri, wishes) => {
    wishes.leave(uri);
    return Promise.resolve(DONE);
  });
}

async function withUri(
  { message, view, wishes }: Asked,
  step: (uri: string, wishes: ClientSubscriptions) => Promise<Answered>,
): Promise<Answered> {
  const { method, bytes, params } = message;
  if (wishes === undefined || !view.has('resources', 'subscribe'))
    return { kind: 'refused', refusal: { code: 'METHOD_UNKNOWN', method } };
  const uri = textOf(bytes, memberOf(params, 'uri'));
  const reason = 'it must be a string';
  if (uri === undefined)
    return { kind: 'refused', refusal: { code: 'PARAMS_INVALID', field: 'params.uri', reason } };
  return step(uri, wishes);
}

import type { MadeResult } from '../made-tool.ts';
import { refused } from '../text-result.ts';
import { answerResult, type AnswerOptions } from './answer-result.ts';
import type { HttpCall } from './http-call.ts';
import type { HttpPort } from './http-port.ts';

/** The request of a call, ready to be sent. */
export type ReadyRequest = Pick<HttpCall, 'method' | 'url' | 'headers' | 'body' | 'secretHeaders'> & {
  readonly shownUrl: string;
};

export interface Sending
  extends
    Pick<HttpCall, 'chosenBy' | 'maxBytes' | 'signal'>,
    Pick<AnswerOptions, 'filter' | 'hasOutputSchema'> {
  readonly http: HttpPort;
}

/** How sentences call a request. */
export function shownRequest({ method, shownUrl }: ReadyRequest): string {
  return `${method} ${shownUrl}`;
}

/** Sends a request; what a model gets of it. Throws where nobody waits any more: there is nobody to read a result. */
export async function callResult(request: ReadyRequest, sending: Sending): Promise<MadeResult> {
  const { http, chosenBy, maxBytes, signal, filter, hasOutputSchema } = sending;
  const answer = await http.send({ ...request, chosenBy, maxBytes, signal });
  if (!answer.ok) {
    signal.throwIfAborted();
    return refused(answer.error);
  }
  return answerResult(answer.value, {
    filter,
    signal,
    hasOutputSchema,
    request: shownRequest(request),
    url: request.url,
  });
}

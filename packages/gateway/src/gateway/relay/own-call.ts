import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal } from '../../core/refusal.ts';
import type { Identity } from '../../core/subject.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { Call, type ClientChannel, type Relay } from './call.ts';
import type { View } from '../catalog/view.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';

export interface OwnRequest {
  readonly identity: Identity;
  readonly method: string;
  readonly params: JsonObject;
  /** Receives the progress and log messages of the request. */
  readonly onNotification: (note: JsonObject) => void;
  readonly onWaiting?: ClientChannel['onWaiting'];
  /** JSON text of its name and version. */
  readonly clientInfo?: string;
  readonly cancellation?: Cancellation;
}

export type OwnAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: JsonObject }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * Sends a request through the gateway as a client would, and parses the answer; for commands and pages, not for the hot
 * path.
 */
export async function answerOwn(relay: Relay, view: View, request: OwnRequest): Promise<OwnAnswer> {
  const { identity, method, params, clientInfo, onNotification, onWaiting } = request;
  const call = new Call({
    caller: { era: 'legacy', relay, view, clientInfo, logLevel: undefined, isOperator: true },
    identity,
    message: buildOwnRequest(method, { ...params, _meta: { progressToken: 0 } }),
    cancellation: request.cancellation ?? new Cancellation(),
    client: {
      notify: (note) => onNotification(JSON.parse(note.bytes.toString()) as JsonObject),
      ask: undefined,
      ...(onWaiting && { onWaiting }),
    },
    logLevel: undefined,
  });
  const answered = await relay.answer(call);
  if (answered.kind === 'refused') return answered;
  const bytes = answered.kind === 'own' ? answered.result : answered.reply.message.bytes;
  const parsed = JSON.parse(bytes.toString()) as JsonObject;
  if (answered.kind === 'own') return { kind: 'result', result: parsed };
  return 'error' in parsed
    ? { kind: 'error', error: parsed['error'] as JsonObject }
    : { kind: 'result', result: parsed['result'] as JsonObject };
}

/** A notification that belongs to a call, in one line. */
export function formatProgress(note: JsonObject): string {
  const params = (note['params'] ?? {}) as JsonObject;
  if (note['method'] === 'notifications/message') return JSON.stringify(params['data']);
  const total = typeof params['total'] === 'number' ? ` of ${params['total']}` : '';
  const message = typeof params['message'] === 'string' ? `: ${params['message']}` : '';
  return `progress ${String(params['progress'])}${total}${message}`;
}

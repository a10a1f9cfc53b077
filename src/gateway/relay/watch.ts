import { mapTexts } from '../../core/cause.ts';
import { rpcErrorOf } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { RequestMessage, ResponseMessage } from '../../protocol/message.ts';
import { memberOf, rawOf, textOf } from '../../protocol/spans.ts';
import { hasTrace, type TraceContext } from '../../protocol/trace-context.ts';
import { nameOf } from '../../protocol/translate.ts';
import type { RelayEnding, Telemetry, TracedEnd, TracedRequest } from '../ports/telemetry.ts';
import type { Reply } from '../ports/link.ts';

export interface Watched {
  readonly server: string;
  readonly message: RequestMessage;
  /** The revision that a legacy client negotiated; a modern one names it in each request. */
  readonly version: string | undefined;
}

type Ended =
  | { readonly kind: 'relayed'; readonly reply: Reply }
  | { readonly kind: 'own' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface Watch {
  /** Of the span of the request; undefined: there is none. */
  readonly trace: TraceContext | undefined;
  /** To be told how the request ended. */
  readonly end: (ended: Ended) => void;
}

/** A request goes to its server: it is counted, and gets a span where somebody wants one. */
export function watch({ meter, tracer, mask }: Telemetry, watched: Watched): Watch {
  const tally = meter?.of(watched.server, watched.message.method);
  const beganMs = tally?.begin() ?? 0;
  const span = tracer?.begin(tracedRequest(watched));
  const end = (ended: Ended): void => {
    tally?.end(endingOf(ended), beganMs);
    span?.end(tracedEnd(ended, mask));
  };
  return { trace: span?.context, end };
}

/** A trace for a request that has none, so that its server can tell others of it. */
export function newTraceFor(
  message: RequestMessage,
  telemetry: Telemetry | undefined,
): TraceContext | undefined {
  return hasTrace(message) ? undefined : telemetry?.newTrace?.();
}

/** A cause quotes what a peer wrote; the client that reads it need not know the secrets of the config. */
export function maskedRefusal(refusal: Refusal, mask: Telemetry['mask']): Refusal {
  return 'cause' in refusal && refusal.cause !== undefined
    ? { ...refusal, cause: mapTexts(refusal.cause, mask) }
    : refusal;
}

function endingOf(ended: Ended): RelayEnding {
  if (ended.kind === 'refused') return ended.refusal.code;
  return ended.kind === 'relayed' && ended.reply.message.isError ? 'error' : 'ok';
}

/** By W3C's names, without a prefix (SEP-414). */
const CONTEXT_KEYS: readonly string[] = ['traceparent', 'tracestate', 'baggage'];

function tracedRequest({ server, message, version }: Watched): TracedRequest {
  const { bytes, method, params } = message;
  const id = textOf(bytes, memberOf(message.root, 'id')) ?? message.idText;
  const meta = memberOf(params, '_meta')?.object;
  const context: Record<string, string> = {};
  for (const key of CONTEXT_KEYS) {
    const text = textOf(bytes, memberOf(meta, key));
    if (text !== undefined) context[key] = text;
  }
  const target = textOf(bytes, nameOf(message) ?? memberOf(params, 'uri'));
  const enveloped = textOf(bytes, memberOf(meta, 'io.modelcontextprotocol/protocolVersion'));
  return { server, method, id, target, version: version ?? enveloped, context };
}

function tracedEnd(ended: Ended, mask: Telemetry['mask']): TracedEnd {
  const ending = endingOf(ended);
  if (ended.kind === 'refused') {
    const { code, message } = rpcErrorOf(ended.refusal, false);
    return { ending, error: { code: String(code), message }, isToolError: false };
  }
  const answer = ended.kind === 'relayed' ? ended.reply.message : undefined;
  return {
    ending,
    error: answer?.isError === true ? errorIn(answer, mask) : undefined,
    isToolError: answer !== undefined && isToolError(answer),
  };
}

function errorIn({ bytes, root }: ResponseMessage, mask: Telemetry['mask']): TracedEnd['error'] {
  const error = memberOf(root, 'error')?.object;
  const code = memberOf(error, 'code');
  const number = code === undefined ? '' : rawOf(bytes, code);
  return {
    code: /^-?\d{1,10}$/.test(number) ? number : UNREADABLE,
    message: mask(textOf(bytes, memberOf(error, 'message')) ?? ''),
  };
}

/** The conventions' word for an error without a name. */
const UNREADABLE = '_OTHER';

/** A large result that came in pieces was not read, and passes for a success. */
function isToolError({ bytes, root }: ResponseMessage): boolean {
  const flag = memberOf(memberOf(root, 'result')?.object, 'isError');
  return flag !== undefined && rawOf(bytes, flag) === 'true';
}

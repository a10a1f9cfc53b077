import type { RequestMessage } from './message.ts';
import { memberOf, textOf, type JsonObject } from './spans.ts';
import { insertion, type Edit } from './splice.ts';

/** What tells a server to which trace a request belongs (https://www.w3.org/TR/trace-context, SEP-414). */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Whether a request says of itself to which trace it belongs, well or badly. */
export function hasTrace({ params }: RequestMessage): boolean {
  const meta = memberOf(params, '_meta')?.object;
  return memberOf(meta, 'traceparent') !== undefined || memberOf(meta, 'tracestate') !== undefined;
}

/** The members of `_meta` that hold a trace context, as JSON text. */
export function traceMembers({ traceparent, tracestate }: TraceContext): string {
  const first = `"traceparent":"${traceparent}"`;
  return tracestate === undefined ? first : `${first},"tracestate":${JSON.stringify(tracestate)}`;
}

/**
 * Puts a span of ours in the place of the client's, where it is its child: a proxy updates the parent and keeps the trace
 * (https://www.w3.org/TR/trace-context/#mutating-the-traceparent-field). Whatever else the client wrote stays.
 */
export function traceEdits(
  bytes: Buffer,
  meta: JsonObject,
  { traceparent, tracestate }: TraceContext,
): readonly Edit[] {
  const parent = memberOf(meta, 'traceparent');
  if (parent === undefined || traceOf(textOf(bytes, parent)) !== traceOf(traceparent)) return [];
  const edits = [{ start: parent.start, end: parent.end, text: `"${traceparent}"` }];
  const state = memberOf(meta, 'tracestate');
  if (tracestate === undefined || textOf(bytes, state) === tracestate) return edits;
  const text = JSON.stringify(tracestate);
  if (state === undefined) return [insertion(meta, `"tracestate":${text}`), ...edits];
  return [...edits, { start: state.start, end: state.end, text }];
}

/** The id of the trace: 32 digits behind the version. */
function traceOf(traceparent: string | undefined): string | undefined {
  return traceparent?.slice(3, 35);
}

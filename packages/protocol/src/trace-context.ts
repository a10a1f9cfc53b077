import type { RequestMessage } from './message.ts';
import { findMember, readJsonString, type JsonObject } from './spans.ts';
import { buildInsertion, type Edit } from './splice.ts';

/** Tells a server which trace a request belongs to (https://www.w3.org/TR/trace-context, SEP-414). */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Whether a request carries a trace context, valid or not. */
export function hasTrace({ params }: RequestMessage): boolean {
  const meta = findMember(params, '_meta')?.object;
  return findMember(meta, 'traceparent') !== undefined || findMember(meta, 'tracestate') !== undefined;
}

/** The members of `_meta` that hold a trace context, as JSON text. */
export function serializeTrace({ traceparent, tracestate }: TraceContext): string {
  const first = `"traceparent":"${traceparent}"`;
  return tracestate === undefined ? first : `${first},"tracestate":${JSON.stringify(tracestate)}`;
}

/**
 * Replaces the client's span with ours if ours is its child: a proxy updates the parent and keeps the trace
 * (https://www.w3.org/TR/trace-context/#mutating-the-traceparent-field). Everything else the client wrote is kept.
 */
export function buildTraceEdits(
  bytes: Buffer,
  meta: JsonObject,
  { traceparent, tracestate }: TraceContext,
): readonly Edit[] {
  const parent = findMember(meta, 'traceparent');
  if (parent === undefined || traceOf(readJsonString(bytes, parent)) !== traceOf(traceparent)) return [];
  const edits = [{ start: parent.start, end: parent.end, text: `"${traceparent}"` }];
  const state = findMember(meta, 'tracestate');
  if (tracestate === undefined || readJsonString(bytes, state) === tracestate) return edits;
  const text = JSON.stringify(tracestate);
  if (state === undefined) return [buildInsertion(meta, `"tracestate":${text}`), ...edits];
  return [...edits, { start: state.start, end: state.end, text }];
}

/** The trace id: 32 digits after the version. */
function traceOf(traceparent: string | undefined): string | undefined {
  return traceparent?.slice(3, 35);
}

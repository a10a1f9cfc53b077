import { HexPool } from '@assay-mcp/kit/platform/hex-pool';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { Span, TracedEnd, TracedRequest, Tracer } from '../../../gateway/ports/telemetry.ts';
import { buildNetworkAttributes, buildSpanAttributes, nameSpan, readSpanEnd } from '../span-attributes.ts';
import {
  buildAttributes,
  buildSource,
  type KeyValue,
  type Mask,
  type Source,
  toNanoseconds,
  toText,
} from './otlp-json.ts';
import type { Sampler } from './otlp-settings.ts';

/** A span that has ended, as it waits for its export. Its texts are bounded, but not yet masked. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly traceState: string | undefined;
  readonly request: TracedRequest;
  readonly startMs: number;
  readonly durationMs: number;
  readonly ended: TracedEnd;
}

export interface OtlpTracerOptions {
  readonly sampler: Sampler;
  readonly onEnded: (span: EndedSpan) => void;
  readonly nowMs: () => number;
}

/** https://www.w3.org/TR/trace-context/#traceparent-header; later versions may have more members. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;
/** Longer texts of peers are cut; only their beginning is exported. */
const MAX_KEPT_LENGTH = 4_096;
const MAX_STATE_LENGTH = 512;

interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Starts spans that are exported by OTLP when they have ended. */
export function openOtlpTracer({ sampler, onEnded, nowMs }: OtlpTracerOptions): Tracer {
  const pool = new HexPool();
  return {
    begin(request): Span {
      const parent = readParent(request.context['traceparent']);
      const traceId = parent?.traceId ?? takeId(pool, 32);
      const spanId = takeId(pool, 16);
      const isSampled =
        parent !== undefined && sampler.followsParent ? parent.isSampled : isInShare(traceId, sampler.share);
      const state = parent === undefined ? undefined : request.context['tracestate'];
      const context = { traceparent: `00-${traceId}-${spanId}-0${Number(isSampled)}`, tracestate: state };
      if (!isSampled) return { context, end: () => undefined };
      const startMs = nowMs();
      const beganMs = performance.now();
      const kept = boundTexts(request);
      return {
        context,
        end: (ended) =>
          onEnded({
            ...{ traceId, spanId, parentId: parent?.spanId, request: kept, startMs },
            traceState: state !== undefined && state.length <= MAX_STATE_LENGTH ? state : undefined,
            durationMs: performance.now() - beganMs,
            ended: ended.error === undefined ? ended : { ...ended, error: boundError(ended.error) },
          }),
      };
    },
  };
}

function readParent(traceparent: string | undefined): Parent | undefined {
  const [, version, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && traceparent?.length !== 55) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** An id of zeros is not valid. */
function takeId(pool: HexPool, digits: number): string {
  const id = pool.take(digits);
  return /[^0]/.test(id) ? id : takeId(pool, digits);
}

/** Decides by the id of the trace, so that all processes with the same share record the same traces. */
function isInShare(traceId: string, share: number): boolean {
  return share >= 1 || Number.parseInt(traceId.slice(-12), 16) < share * 2 ** 48;
}

function boundTexts(request: TracedRequest): TracedRequest {
  const { id, target, version } = request;
  return {
    ...request,
    context: {},
    id: truncateText(id, MAX_KEPT_LENGTH),
    target: target && truncateText(target, MAX_KEPT_LENGTH),
    version: version && truncateText(version, MAX_KEPT_LENGTH),
  };
}

function boundError({ code, message }: NonNullable<TracedEnd['error']>): NonNullable<TracedEnd['error']> {
  return { code, message: truncateText(message, MAX_KEPT_LENGTH) };
}

const KIND_SERVER = 2;
const STATUS_ERROR = 2;

export interface SpanEncoding extends Source {
  readonly transport: 'tcp' | 'pipe';
  readonly mask: Mask;
}

/** An `ExportTraceServiceRequest`. */
export function encodeSpans(
  spans: readonly EndedSpan[],
  { transport, mask, ...source }: SpanEncoding,
): object {
  const { resource, scope } = buildSource(source);
  const network = buildAttributes(buildNetworkAttributes(transport), mask);
  return {
    resourceSpans: [
      { resource, scopeSpans: [{ scope, spans: spans.map((span) => encodeSpan(span, network, mask)) }] },
    ],
  };
}

function encodeSpan(span: EndedSpan, network: readonly KeyValue[], mask: Mask): object {
  const { traceId, spanId, parentId, traceState, request, startMs, durationMs, ended } = span;
  const { errorType, message, attributes } = readSpanEnd(ended);
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    ...(traceState !== undefined && { traceState: toText(traceState, mask) }),
    flags: 1,
    name: toText(nameSpan(request), mask, 256),
    kind: KIND_SERVER,
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(startMs + durationMs),
    attributes: [...buildAttributes({ ...buildSpanAttributes(request), ...attributes }, mask), ...network],
    status:
      errorType === undefined
        ? {}
        : { code: STATUS_ERROR, ...(message !== undefined && { message: toText(message, mask) }) },
  };
}

import type { Span as OtelSpan, SpanStatusCode } from '@opentelemetry/api';
import type { Span, TracedEnd, Tracer } from '../../gateway/ports/telemetry.ts';
import { buildNetworkAttributes, buildSpanAttributes, nameSpan, readSpanEnd } from './span-attributes.ts';

export interface TracerOptions {
  readonly version: string;
  /** How clients of this process connect: over HTTP or through a pipe. */
  readonly transport: 'tcp' | 'pipe';
}

/** The key under which OpenTelemetry's API stores its globals; it has had only this major version. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Spans that follow the semantic conventions for MCP (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp), for the
 * SDK registered before Assay started. Undefined if there is none; OpenTelemetry is then not loaded.
 */
export async function openTracer({ version, transport }: TracerOptions): Promise<Tracer | undefined> {
  const registered: unknown = Reflect.get(globalThis, REGISTERED);
  if (typeof registered !== 'object' || registered === null || !('trace' in registered)) return undefined;
  const { context, propagation, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('assay', version);
  const network = buildNetworkAttributes(transport);
  return {
    begin(request) {
      const around = context.active();
      const parent = propagation.extract(around, request.context);
      const ambient = trace.getSpanContext(around);
      const options = {
        kind: SpanKind.SERVER,
        attributes: { ...buildSpanAttributes(request), ...network },
        // The client's span is the parent; a span already active here, such as that of the HTTP request, is linked.
        links: ambient === undefined || parent === around ? [] : [{ context: ambient }],
      };
      const span = tracer.startSpan(nameSpan(request), options, parent);
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(parent, span), carrier);
      return spanOf(span, { failed: SpanStatusCode.ERROR, carrier });
    },
  };
}

interface SpanFacts {
  readonly failed: SpanStatusCode.ERROR;
  /** The trace context as written by the SDK's propagator. */
  readonly carrier: Readonly<Record<string, string>>;
}

/** Baggage belongs to the client and passes through unchanged. */
function spanOf(span: OtelSpan, { failed, carrier }: SpanFacts): Span {
  const { traceparent, tracestate } = carrier;
  return {
    context: traceparent === undefined ? undefined : { traceparent, tracestate },
    end(ended: TracedEnd) {
      const { errorType, message, attributes } = readSpanEnd(ended);
      span.setAttributes(attributes);
      if (errorType !== undefined)
        span.setStatus({ code: failed, ...(message === undefined ? {} : { message }) });
      span.end();
    },
  };
}

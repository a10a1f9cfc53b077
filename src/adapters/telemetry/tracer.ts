import type { Attributes, Span as OtelSpan, SpanStatusCode } from '@opentelemetry/api';
import type { Span, TracedEnd, TracedRequest, Tracer } from '../../gateway/ports/telemetry.ts';

export interface TracerOptions {
  readonly version: string;
  /** How the clients of this process come in: over HTTP, or through a pipe. */
  readonly transport: 'tcp' | 'pipe';
}

/** Where OpenTelemetry's API keeps what a program registered; its first major version is the only one. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Spans by the semantic conventions for MCP (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp), for the SDK that
 * the user registered before Assay began. Undefined where there is none; then nothing of OpenTelemetry is loaded.
 */
export async function openTracer({ version, transport }: TracerOptions): Promise<Tracer | undefined> {
  const registered: unknown = Reflect.get(globalThis, REGISTERED);
  if (typeof registered !== 'object' || registered === null || !('trace' in registered)) return undefined;
  const { context, propagation, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('assay', version);
  const network = { 'network.transport': transport, ...(transport === 'tcp' ? HTTP : {}) };
  return {
    begin(request) {
      const around = context.active();
      const parent = propagation.extract(around, request.context);
      const ambient = trace.getSpanContext(around);
      const options = {
        kind: SpanKind.SERVER,
        attributes: { ...attributesOf(request), ...network },
        // The client's span is the parent; what runs here already, such as the span of the HTTP request, is linked.
        links: ambient === undefined || parent === around ? [] : [{ context: ambient }],
      };
      const span = tracer.startSpan(nameOf(request), options, parent);
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(parent, span), carrier);
      return spanOf(span, { failed: SpanStatusCode.ERROR, carrier });
    },
  };
}

const HTTP = { 'network.protocol.name': 'http' };

interface SpanFacts {
  readonly failed: SpanStatusCode.ERROR;
  /** What the propagator of the SDK says of the span. */
  readonly carrier: Readonly<Record<string, string>>;
}

/** Baggage is the client's own, and passes as it is. */
function spanOf(span: OtelSpan, { failed, carrier }: SpanFacts): Span {
  const { traceparent, tracestate } = carrier;
  return {
    context: traceparent === undefined ? undefined : { traceparent, tracestate },
    end({ ending, error, isToolError }: TracedEnd) {
      const type = isToolError ? 'tool_error' : ending === 'error' ? error?.code : ending;
      if (error !== undefined) span.setAttribute('rpc.response.status_code', error.code);
      if (type !== 'ok') {
        span.setAttribute('error.type', type ?? '_OTHER');
        span.setStatus({ code: failed, ...(error === undefined ? {} : { message: error.message }) });
      }
      span.end();
    },
  };
}

/** URIs are too many to be in names. */
function nameOf({ method, target }: TracedRequest): string {
  return target === undefined || NAMED[method] === undefined ? method : `${method} ${target}`;
}

const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
  'completion/complete': 'gen_ai.prompt.name',
};

/** The id of a session is left out: who has it can speak in the session. */
function attributesOf({ server, method, id, target, version }: TracedRequest): Attributes {
  return {
    'mcp.method.name': method,
    'jsonrpc.request.id': id,
    'assay.server': server,
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
    ...(target === undefined ? {} : { [NAMED[method] ?? 'mcp.resource.uri']: target }),
    ...(version === undefined ? {} : { 'mcp.protocol.version': version }),
  };
}

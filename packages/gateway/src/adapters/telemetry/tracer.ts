import type { Attributes, Span as OtelSpan, SpanStatusCode } from '@opentelemetry/api';
import type { Decision } from '../../core/policy/policy.ts';
import type { Span, TracedEnd, TracedRequest, Tracer } from '../../gateway/ports/telemetry.ts';

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
  const network = { 'network.transport': transport, ...(transport === 'tcp' ? HTTP : {}) };
  return {
    begin(request) {
      const around = context.active();
      const parent = propagation.extract(around, request.context);
      const ambient = trace.getSpanContext(around);
      const options = {
        kind: SpanKind.SERVER,
        attributes: { ...attributesOf(request), ...network },
        // The client's span is the parent; a span already active here, such as that of the HTTP request, is linked.
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
  /** The trace context as written by the SDK's propagator. */
  readonly carrier: Readonly<Record<string, string>>;
}

/** Baggage belongs to the client and passes through unchanged. */
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

/** URIs have too high a cardinality for span names. */
function nameOf({ method, target }: TracedRequest): string {
  return target === undefined || NAMED[method] === undefined ? method : `${method} ${target}`;
}

const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
  'completion/complete': 'gen_ai.prompt.name',
};

/** The session id is left out, because it grants access to the session. */
function attributesOf({ server, method, id, target, version, hints, decision }: TracedRequest): Attributes {
  return {
    ...(hints === undefined ? {} : hintAttributes(hints)),
    ...(decision === undefined ? {} : decisionAttributes(decision)),
    'mcp.method.name': method,
    'jsonrpc.request.id': id,
    'assay.server': server,
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
    ...(target === undefined ? {} : { [NAMED[method] ?? 'mcp.resource.uri']: target }),
    ...(version === undefined ? {} : { 'mcp.protocol.version': version }),
  };
}

function hintAttributes(hints: NonNullable<TracedRequest['hints']>): Attributes {
  return {
    'assay.tool.read_only_hint': hints.readOnlyHint,
    'assay.tool.destructive_hint': hints.destructiveHint,
    'assay.tool.idempotent_hint': hints.idempotentHint,
    'assay.tool.open_world_hint': hints.openWorldHint,
  };
}

function decisionAttributes({ kind, reasons }: Decision): Attributes {
  const [reason] = reasons;
  return {
    'assay.decision': kind,
    ...(reason === undefined ? {} : { 'assay.decision.reason': reason.code }),
  };
}

import type { Decision } from '../../core/policy/policy.ts';
import type { TracedEnd, TracedRequest } from '../../gateway/ports/telemetry.ts';

/** Attributes of a span: those of https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp, and Assay's own. */
export type SpanAttributes = Record<string, string | boolean>;

/** URIs have too high a cardinality for span names. */
export function nameSpan({ method, target }: TracedRequest): string {
  return target === undefined || NAMED[method] === undefined ? method : `${method} ${target}`;
}

const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
  'completion/complete': 'gen_ai.prompt.name',
};

/** The session id is left out, because it grants access to the session. */
export function buildSpanAttributes({
  server,
  method,
  id,
  target,
  version,
  hints,
  decision,
}: TracedRequest): SpanAttributes {
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

function hintAttributes(hints: NonNullable<TracedRequest['hints']>): SpanAttributes {
  return {
    'assay.tool.read_only_hint': hints.readOnlyHint,
    'assay.tool.destructive_hint': hints.destructiveHint,
    'assay.tool.idempotent_hint': hints.idempotentHint,
    'assay.tool.open_world_hint': hints.openWorldHint,
  };
}

function decisionAttributes({ kind, reasons }: Decision): SpanAttributes {
  const [reason] = reasons;
  return {
    'assay.decision': kind,
    ...(reason === undefined ? {} : { 'assay.decision.reason': reason.code }),
  };
}

/** How a span ended. `errorType` is undefined if the request succeeded. */
export interface SpanEnd {
  readonly errorType: string | undefined;
  readonly message: string | undefined;
  readonly attributes: SpanAttributes;
}

export function readSpanEnd({ ending, error, isToolError }: TracedEnd): SpanEnd {
  const type = isToolError ? 'tool_error' : ending === 'error' ? error?.code : ending;
  const errorType = type === 'ok' ? undefined : (type ?? '_OTHER');
  return {
    errorType,
    message: errorType === undefined ? undefined : error?.message,
    attributes: {
      ...(error !== undefined && { 'rpc.response.status_code': error.code }),
      ...(errorType !== undefined && { 'error.type': errorType }),
    },
  };
}

/** How clients connect, over HTTP or through a pipe. */
export function buildNetworkAttributes(transport: 'tcp' | 'pipe'): SpanAttributes {
  return { 'network.transport': transport, ...(transport === 'tcp' && { 'network.protocol.name': 'http' }) };
}

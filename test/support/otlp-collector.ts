import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** One export, as the collector received it. */
export interface Export {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** What does not follow the protobuf JSON mapping of OTLP; each with its path in the body. */
  readonly faults: readonly string[];
}

export interface Collector {
  readonly url: string;
  readonly exports: readonly Export[];
  /** All spans, or log records, received so far. */
  spans(): readonly Record<string, unknown>[];
  logs(): readonly Record<string, unknown>[];
  close(): Promise<void>;
}

type Behave = (response: ServerResponse, count: number) => void;

/** A receiver of OTLP over HTTP/JSON that checks what it gets. `behave` answers instead of it. */
export async function startCollector(behave?: Behave): Promise<Collector> {
  const received: Export[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('end', () => {
      count += 1;
      received.push(readExport(request, Buffer.concat(chunks)));
      if (behave !== undefined) behave(response, count);
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const all = (...path: readonly string[]): readonly Record<string, unknown>[] =>
    received.flatMap(({ body }) => collect(body, path));
  return {
    url: `http://127.0.0.1:${port}`,
    exports: received,
    spans: () => all('resourceSpans', 'scopeSpans', 'spans'),
    logs: () => all('resourceLogs', 'scopeLogs', 'logRecords'),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function collect(body: unknown, path: readonly string[]): readonly Record<string, unknown>[] {
  let level = [body as Record<string, unknown>];
  for (const key of path) level = level.flatMap((one) => (one[key] ?? []) as Record<string, unknown>[]);
  return level;
}

const REQUESTS: Readonly<Record<string, string>> = {
  '/v1/traces': 'ExportTraceServiceRequest',
  '/v1/metrics': 'ExportMetricsServiceRequest',
  '/v1/logs': 'ExportLogsServiceRequest',
};

function readExport(request: IncomingMessage, bytes: Buffer): Export {
  const { headers, url: path = '' } = request;
  const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
  const body = JSON.parse(text) as Record<string, unknown>;
  const faults: string[] = [];
  if (headers['content-type'] !== 'application/json') faults.push('content-type');
  check(body, REQUESTS[path] ?? 'unknown path', '', faults);
  return { path, headers, body, faults };
}

/** The fields of the messages of opentelemetry-proto 1.5 that Assay may send; `[T]` is repeated. */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ExportTraceServiceRequest: { resourceSpans: '[ResourceSpans]' },
  ResourceSpans: { resource: 'Resource', scopeSpans: '[ScopeSpans]', schemaUrl: 'string' },
  ScopeSpans: { scope: 'Scope', spans: '[Span]', schemaUrl: 'string' },
  Span: {
    traceId: 'hex32',
    spanId: 'hex16',
    parentSpanId: 'hex16',
    traceState: 'string',
    flags: 'uint32',
    name: 'string',
    kind: 'enum',
    startTimeUnixNano: 'fixed64',
    endTimeUnixNano: 'fixed64',
    attributes: '[KeyValue]',
    status: 'Status',
  },
  Status: { code: 'enum', message: 'string' },
  Resource: { attributes: '[KeyValue]' },
  Scope: { name: 'string', version: 'string' },
  KeyValue: { key: 'string', value: 'AnyValue' },
  AnyValue: {
    stringValue: 'string',
    boolValue: 'bool',
    intValue: 'int64',
    doubleValue: 'double',
    arrayValue: 'ArrayValue',
    kvlistValue: 'KeyValueList',
  },
  ArrayValue: { values: '[AnyValue]' },
  KeyValueList: { values: '[KeyValue]' },
  ExportMetricsServiceRequest: { resourceMetrics: '[ResourceMetrics]' },
  ResourceMetrics: { resource: 'Resource', scopeMetrics: '[ScopeMetrics]' },
  ScopeMetrics: { scope: 'Scope', metrics: '[Metric]' },
  Metric: {
    name: 'string',
    description: 'string',
    unit: 'string',
    gauge: 'Gauge',
    sum: 'Sum',
    histogram: 'Histogram',
  },
  Gauge: { dataPoints: '[NumberDataPoint]' },
  Sum: { dataPoints: '[NumberDataPoint]', aggregationTemporality: 'enum', isMonotonic: 'bool' },
  Histogram: { dataPoints: '[HistogramDataPoint]', aggregationTemporality: 'enum' },
  NumberDataPoint: {
    attributes: '[KeyValue]',
    startTimeUnixNano: 'fixed64',
    timeUnixNano: 'fixed64',
    asDouble: 'double',
    asInt: 'int64',
  },
  HistogramDataPoint: {
    attributes: '[KeyValue]',
    startTimeUnixNano: 'fixed64',
    timeUnixNano: 'fixed64',
    count: 'fixed64',
    sum: 'double',
    bucketCounts: '[fixed64]',
    explicitBounds: '[double]',
  },
  ExportLogsServiceRequest: { resourceLogs: '[ResourceLogs]' },
  ResourceLogs: { resource: 'Resource', scopeLogs: '[ScopeLogs]' },
  ScopeLogs: { scope: 'Scope', logRecords: '[LogRecord]' },
  LogRecord: {
    timeUnixNano: 'fixed64',
    observedTimeUnixNano: 'fixed64',
    severityNumber: 'enum',
    severityText: 'string',
    body: 'AnyValue',
    attributes: '[KeyValue]',
    eventName: 'string',
  },
};

const SCALARS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string' && value.isWellFormed(),
  bool: (value) => typeof value === 'boolean',
  double: (value) => typeof value === 'number' && Number.isFinite(value),
  enum: (value) => Number.isInteger(value),
  uint32: (value) => Number.isInteger(value) && Number(value) >= 0,
  int64: (value) => typeof value === 'string' && /^-?\d{1,19}$/.test(value),
  fixed64: (value) => typeof value === 'string' && /^\d{1,20}$/.test(value),
  hex32: (value) => typeof value === 'string' && /^(?!0+$)[\da-f]{32}$/.test(value),
  hex16: (value) => typeof value === 'string' && /^(?!0+$)[\da-f]{16}$/.test(value),
};

function check(value: unknown, type: string, path: string, faults: string[]): void {
  const repeated = /^\[(.+)\]$/.exec(type)?.[1];
  if (repeated !== undefined) {
    if (!Array.isArray(value)) faults.push(`${path}: no array`);
    else for (const [at, one] of value.entries()) check(one, repeated, `${path}[${at}]`, faults);
    return;
  }
  const scalar = SCALARS[type];
  if (scalar !== undefined) {
    if (!scalar(value)) faults.push(`${path}: ${JSON.stringify(value)} is no ${type}`);
    return;
  }
  const fields = MESSAGES[type];
  if (fields === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push(`${path}: no ${type}`);
    return;
  }
  for (const [key, one] of Object.entries(value)) {
    const field = fields[key];
    if (field === undefined) faults.push(`${path}.${key}: unknown in ${type}`);
    else check(one, field, `${path}.${key}`, faults);
  }
  if (type === 'AnyValue' && Object.keys(value).length !== 1) faults.push(`${path}: not exactly one value`);
}

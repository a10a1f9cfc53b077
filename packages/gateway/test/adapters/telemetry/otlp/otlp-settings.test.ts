import { expect, it } from 'vitest';
import { readOtlpSettings } from '../../../../src/adapters/telemetry/otlp/otlp-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const read = (env: Readonly<Record<string, string>>) => readOtlpSettings(env, '1.2.3');
const urlsOf = (env: Readonly<Record<string, string>>) =>
  Object.entries(read(env)?.signals ?? {}).map(([signal, { url }]) => `${signal} ${url.href}`);

it('exports nothing without an endpoint, or if the SDK is disabled', () => {
  expect(read({})).toBeUndefined();
  expect(read({ OTEL_SERVICE_NAME: 'x' })).toBeUndefined();
  expect(read({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined();
});

it('adds the path of the signal to the common endpoint, and none to its own', () => {
  expect(urlsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1/base/' })).toEqual([
    'traces http://127.0.0.1:1/base/v1/traces',
    'metrics http://127.0.0.1:1/base/v1/metrics',
    'logs http://127.0.0.1:1/base/v1/logs',
  ]);
  expect(urlsOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otel.example/x?key=1' })).toEqual([
    'traces https://otel.example/x?key=1',
  ]);
  expect(urlsOf({ OTEL_LOGS_EXPORTER: 'otlp' })).toEqual(['logs http://localhost:4318/v1/logs']);
});

it('leaves out the signals whose exporter is none', () => {
  expect(urlsOf({ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' })).toEqual([
    'traces http://127.0.0.1:4318/v1/traces',
  ]);
});

it('reads headers, service, resource, times and batches; those of a signal come first', () => {
  const settings = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc%2Cd, x-scope=a=b',
    OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '700',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_SERVICE_NAME: 'gateway',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment=pre%20prod',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_METRIC_EXPORT_INTERVAL: '15000',
  });
  expect(settings?.problems).toEqual([]);
  expect(settings?.resource).toEqual({
    'service.name': 'gateway',
    'service.version': '1.2.3',
    'deployment.environment': 'pre prod',
  });
  const { traces, metrics, logs } = settings?.signals ?? {};
  expect(traces).toMatchObject({
    timeoutMs: 700,
    delayMs: 100,
    maxQueue: 10,
    maxBatch: 10,
    isCompressed: true,
  });
  expect(traces?.headers).toEqual([
    ['authorization', 'Bearer abc,d'],
    ['x-scope', 'a=b'],
  ]);
  expect(metrics).toMatchObject({ timeoutMs: 5_000, delayMs: 15_000 });
  expect(logs).toMatchObject({ delayMs: 1_000, maxQueue: 2_048, maxBatch: 512 });
});

it.each([
  ['parentbased_always_on', undefined, { followsParent: true, share: 1 }],
  ['always_off', undefined, { followsParent: false, share: 0 }],
  ['parentbased_traceidratio', '0.25', { followsParent: true, share: 0.25 }],
  ['traceidratio', '.5', { followsParent: false, share: 0.5 }],
] as const)('the sampler %s with %s', (name, share, expected) => {
  const env = { ...ENDPOINT, OTEL_TRACES_SAMPLER: name, ...(share && { OTEL_TRACES_SAMPLER_ARG: share }) };
  expect(read(env)?.sampler).toEqual(expected);
});

it('another protocol exports nothing of the signal, and says what to set', () => {
  const settings = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json',
  });
  expect(Object.keys(settings?.signals ?? {})).toEqual(['logs']);
  expect(settings?.problems).toEqual([
    expect.stringContaining(
      'OTEL_EXPORTER_OTLP_PROTOCOL="grpc": Assay sends OTLP as http/json only, so traces are not exported. Set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json',
    ),
    expect.stringContaining('so metrics are not exported'),
  ]);
});

it.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'file:///etc/passwd', 'it must be an http or https URL'],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'http://user:hunter2@127.0.0.1',
    'put credentials into OTEL_EXPORTER_OTLP_HEADERS',
  ],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=hunter2', 'the header "a b" cannot be sent'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x=hunter2%0d%0aevil: 1', 'the header "x" cannot be sent'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'content-length=5', 'the header "content-length" cannot be sent'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2', 'it must be a list such as key=value'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x=%ZZhunter2', 'it must be a list such as key=value'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '-1', 'it must be a whole number from 1 to 600000'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '999999999', 'it must be a whole number from 1 to 65536'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'it must be one of always_on'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'it must be one of otlp, none'],
])('%s=%s is reported and ignored, without its value', (name, value, reason) => {
  const { problems = [] } = read({ ...ENDPOINT, [name]: value }) ?? {};
  expect(problems.length).toBe(1);
  expect(problems[0]).toContain(`${name} is ignored: `);
  expect(problems[0]).toContain(reason);
  expect(problems.join()).not.toContain('hunter2');
});

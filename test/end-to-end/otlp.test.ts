import { describe, expect, it } from 'vitest';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { modernCall } from '../support/modern.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { fixture } from '../support/paths.ts';

describe('a gateway with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('exports spans, metrics and logs that follow the mapping of protobuf to JSON, with secrets masked', async () => {
    const collector = await startCollector();
    endLater(() => collector.close());
    const assay = await startGateway({
      servers: { plain: fixture('plain', [], { env: { API_TOKEN: 'hunter2hunter2' } }) },
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=otlp-secret-1',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_BLRP_SCHEDULE_DELAY: '20',
        OTEL_METRIC_EXPORT_INTERVAL: '200',
      },
    });
    await assay.settled();
    await modernCall(assay.url, 'plain_echo');
    await modernCall(assay.url, 'plain_fails');
    const named = (name: string) => collector.spans().filter((span) => span['name'] === name);
    await until('both calls and a line of the log are there', () =>
      named('tools/call plain_echo').length === 1 &&
      named('tools/call plain_fails').length === 1 &&
      collector.logs().length > 0
        ? true
        : undefined,
    );
    const text = (path: string) =>
      JSON.stringify(collector.exports.filter((one) => one.path === path).map(({ body }) => body));
    await until(
      'the calls are counted',
      () => /assay_tool_calls_total.*"stringValue":"echo"/.test(text('/v1/metrics')) || undefined,
    );
    await assay.stop();
    expect(collector.exports.flatMap(({ faults }) => faults)).toEqual([]);
    expect(new Set(collector.exports.map(({ headers }) => headers['x-api-key']))).toEqual(
      new Set(['otlp-secret-1']),
    );
    expect(text('/v1/traces')).toContain('"key":"assay.server","value":{"stringValue":"plain"}');
    expect(text('/v1/traces')).toContain('"key":"deployment.environment","value":{"stringValue":"test"}');
    expect(named('tools/call plain_fails')[0]?.['status']).toMatchObject({ code: 2 });
    expect(text('/v1/logs')).toContain('"stringValue":"call"');
    expect(collector.exports.map(({ body }) => JSON.stringify(body)).join()).not.toMatch(
      /hunter2|otlp-secret/,
    );
  });

  it('answers calls at the same speed if the collector never answers, and ends soon', async () => {
    const collector = await startCollector(() => undefined);
    endLater(() => collector.close());
    const assay = await startGateway({
      servers: { plain: fixture('plain') },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' },
    });
    await assay.settled();
    for (let at = 0; at < 20; at += 1) await modernCall(assay.url, 'plain_echo');
    await until('an export is under way', () => collector.exports.length > 0 || undefined);
    await assay.stop();
  });

  it('says what to set for another protocol, and works without exports', async () => {
    const assay = await startGateway({
      servers: { plain: fixture('plain') },
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    });
    await assay.settled();
    await modernCall(assay.url, 'plain_echo');
    expect(assay.stderr()).toContain('Set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json');
  });
});

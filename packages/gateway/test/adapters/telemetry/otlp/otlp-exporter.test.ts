import { afterEach, describe, expect, it } from 'vitest';
import { OtlpExporter } from '../../../../src/adapters/telemetry/otlp/otlp-exporter.ts';
import { encodeLogs, type LogRecord } from '../../../../src/adapters/telemetry/otlp/otlp-logs.ts';
import type { SignalSettings } from '../../../../src/adapters/telemetry/otlp/otlp-settings.ts';
import type { Log } from '../../../../src/gateway/ports/log.ts';
import { until } from '../../../../../../test/support/endings.ts';
import { type Collector, startCollector } from '../../../../../../test/support/otlp-collector.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function collectorWith(behave?: Parameters<typeof startCollector>[0]): Promise<Collector> {
  const collector = await startCollector(behave);
  open.push(collector);
  return collector;
}

function exporterTo(url: string, changes: Partial<SignalSettings> = {}) {
  const state = { dropped: 0, warnings: [] as string[] };
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, fields) => state.warnings.push(`${message} ${JSON.stringify(fields)}`),
    error: () => undefined,
  };
  const exporter = new OtlpExporter<LogRecord>({
    settings: {
      url: new URL(`${url}/v1/logs`),
      headers: [['x-key', 'k']],
      ...{ timeoutMs: 5_000, isCompressed: false, delayMs: 5, maxQueue: 100, maxBatch: 10 },
      ...changes,
    },
    kind: 'logs',
    encode: (items) =>
      encodeLogs(items, { resource: { 'service.name': 'a' }, version: '1', mask: (text) => text }),
    log,
    onDropped: (count) => (state.dropped += count),
    chance: () => 0,
  });
  open.unshift(exporter);
  return { exporter, state };
}

const record = (text: string): LogRecord => ({ atMs: 1_700_000_000_000, level: 'info', text, fields: {} });
const textsOf = (collector: Collector) =>
  collector.logs().map(({ body }) => (body as { readonly stringValue: string }).stringValue);

describe('the exporter of OTLP', () => {
  it('sends items in batches, in order, as valid OTLP with its headers', async () => {
    const collector = await collectorWith();
    const { exporter, state } = exporterTo(collector.url);
    for (let at = 0; at < 25; at += 1) exporter.add(record(`line ${at}`));
    await exporter.close();
    expect(textsOf(collector)).toEqual(Array.from({ length: 25 }, (_, at) => `line ${at}`));
    expect(collector.exports.flatMap(({ faults }) => faults)).toEqual([]);
    expect(collector.exports.map(({ headers }) => headers['x-key'])).toEqual(['k', 'k', 'k']);
    expect(state).toEqual({ dropped: 0, warnings: [] });
  });

  it('compresses if asked to', async () => {
    const collector = await collectorWith();
    const { exporter } = exporterTo(collector.url, { isCompressed: true });
    exporter.add(record('small'));
    await exporter.close();
    expect(textsOf(collector)).toEqual(['small']);
    expect(collector.exports[0]?.headers['content-encoding']).toBe('gzip');
  });

  it.each([429, 503])('repeats a batch after %i, when the collector says', async (status) => {
    const collector = await collectorWith((response, count) =>
      response.writeHead(count === 1 ? status : 200, { 'retry-after': '0' }).end(),
    );
    const { exporter, state } = exporterTo(collector.url);
    exporter.add(record('again'));
    await until('it was repeated', () => collector.exports.length === 2 || undefined);
    await exporter.close();
    expect(textsOf(collector)).toEqual(['again', 'again']);
    expect(state.dropped).toBe(0);
  });

  it('drops and counts what the collector refuses, and names neither query nor headers in the log', async () => {
    const collector = await collectorWith((response) => response.writeHead(400).end());
    const { exporter, state } = exporterTo(collector.url, {
      url: new URL(`${collector.url}/v1/logs?key=hunter2`),
    });
    exporter.add(record('bad'));
    await exporter.close();
    expect(state.dropped).toBe(1);
    expect(state.warnings).toEqual([expect.stringContaining('HTTP 400')]);
    expect(state.warnings[0]).not.toContain('hunter2');
  });

  it('counts what a collector rejected of an accepted batch', async () => {
    const collector = await collectorWith((response) =>
      response.writeHead(200).end('{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"no"}}'),
    );
    const { exporter, state } = exporterTo(collector.url);
    for (const text of ['a', 'b', 'c']) exporter.add(record(text));
    await exporter.close();
    expect(state.dropped).toBe(2);
  });

  it('follows no redirect', async () => {
    const other = await collectorWith();
    const collector = await collectorWith((response) =>
      response.writeHead(307, { location: `${other.url}/v1/logs` }).end(),
    );
    const { exporter, state } = exporterTo(collector.url);
    exporter.add(record('here only'));
    await exporter.close();
    expect([collector.exports.length, other.exports.length, state.dropped]).toEqual([1, 0, 1]);
  });

  it('a collector that never answers costs a bounded queue, and two seconds at the end', async () => {
    const collector = await collectorWith(() => undefined);
    const { exporter, state } = exporterTo(collector.url, { timeoutMs: 600_000 });
    for (let at = 0; at < 5_000; at += 1) exporter.add(record(`line ${at}`));
    expect(exporter.size).toBeLessThanOrEqual(100);
    await until('a batch is under way', () => collector.exports.length === 1 || undefined);
    const beganMs = performance.now();
    await exporter.close();
    expect(performance.now() - beganMs).toBeLessThan(10_000);
    expect(state.dropped).toBe(5_000);
  });

  it('reads only the beginning of an answer without end', async () => {
    let sent = 0;
    const collector = await collectorWith((response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024, 'x');
      const flow = (): void => {
        while (!response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', flow);
            return;
          }
        }
      };
      flow();
    });
    const { exporter, state } = exporterTo(collector.url);
    exporter.add(record('one'));
    await exporter.close();
    expect(state.dropped).toBe(0);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('an unreachable collector loses what was added, counted, and nothing else happens', async () => {
    const collector = await startCollector();
    await collector.close();
    const { exporter, state } = exporterTo(collector.url);
    exporter.add(record('lost'));
    await exporter.close();
    expect(state.dropped).toBe(1);
    exporter.add(record('too late'));
    expect(state.dropped).toBe(2);
  });
});

import { describe, expect, it } from 'vitest';
import { encodeMetrics } from '../../../../src/adapters/telemetry/otlp/otlp-metrics.ts';
import {
  encodeSpans,
  type EndedSpan,
  openOtlpTracer,
} from '../../../../src/adapters/telemetry/otlp/otlp-tracer.ts';
import type { Sampler } from '../../../../src/adapters/telemetry/otlp/otlp-settings.ts';
import type { TracedEnd, TracedRequest } from '../../../../src/gateway/ports/telemetry.ts';

const ALL: Sampler = { followsParent: true, share: 1 };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OK: TracedEnd = { ending: 'ok', error: undefined, isToolError: false };

function begin(changes: Partial<TracedRequest> = {}, { sampler = ALL, ended = OK } = {}) {
  const spans: EndedSpan[] = [];
  const tracer = openOtlpTracer({
    sampler,
    onEnded: (span) => spans.push(span),
    nowMs: () => 1_700_000_000_000.25,
  });
  const span = tracer.begin({
    ...{ server: 's', method: 'tools/call', id: '7', target: 's_echo', version: '2025-11-25', context: {} },
    ...changes,
  });
  span.end(ended);
  const body = encodeSpans(spans, {
    ...{ resource: {}, version: '1', transport: 'tcp' },
    mask: (text) => text.replaceAll('hunter2', '***'),
  });
  return { context: span.context, spans, json: JSON.stringify(body) };
}

const parent = (flags: string) => ({ traceparent: `00-${TRACE}-00f067aa0ba902b7-${flags}` });

describe('spans for OTLP', () => {
  it('a span is a child of the client’s, and its context goes on', () => {
    const { context, spans } = begin({ context: { ...parent('01'), tracestate: 'a=b' } });
    expect(context).toEqual({ traceparent: `00-${TRACE}-${spans[0]?.spanId}-01`, tracestate: 'a=b' });
    expect(spans[0]).toMatchObject({ traceId: TRACE, parentId: '00f067aa0ba902b7' });
  });

  it('a client that does not sample is followed, unless the sampler decides alone', () => {
    expect(begin({ context: parent('00') }).spans).toEqual([]);
    expect(begin({ context: parent('00') }).context?.traceparent.slice(-3)).toBe('-00');
    expect(
      begin({ context: parent('00') }, { sampler: { followsParent: false, share: 1 } }).spans.length,
    ).toBe(1);
    expect(begin({ context: parent('01') }, { sampler: { followsParent: false, share: 0 } }).spans).toEqual(
      [],
    );
    expect(begin({}, { sampler: { followsParent: true, share: 0 } }).spans).toEqual([]);
  });

  it.each([
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-extra',
    '"}\n',
  ])('the context %j is not followed', (traceparent) => {
    const { spans, context } = begin({ context: { traceparent, tracestate: 'x=y' } });
    expect(spans[0]?.parentId).toBeUndefined();
    expect(context?.tracestate).toBeUndefined();
    expect(context?.traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
  });

  it('masks secrets, and cuts and repairs what peers wrote', () => {
    const uri = `file:///hunter2?x=\ud800${'y'.repeat(100_000)}`;
    const failed: TracedEnd = {
      ending: 'error',
      error: { code: '-32000', message: 'bad hunter2' },
      isToolError: false,
    };
    const { json, spans } = begin(
      { method: 'resources/read', target: uri, id: 'z'.repeat(100_000) },
      { ended: failed },
    );
    expect(json).not.toContain('hunter2');
    expect(json.length).toBeLessThan(6_000);
    expect(json).not.toMatch(/\\ud800/i);
    expect(JSON.stringify(spans).length).toBeLessThan(16_000);
    expect(json).toContain('"status":{"code":2,"message":"bad ***"}');
  });
});

it('metrics have cumulative sums, and histograms with counts of their own for each bucket', () => {
  const body = encodeMetrics(
    [
      {
        atMs: 2_000,
        samples: new Map([
          ['a_total', [{ labels: { server: 's' }, value: 3 }]],
          [
            'b_seconds',
            [
              { labels: { le: 0.1, server: 's' }, value: 1, metricName: 'b_seconds_bucket' },
              { labels: { le: '+Inf', server: 's' }, value: 4, metricName: 'b_seconds_bucket' },
              { labels: { server: 's' }, value: 1.5, metricName: 'b_seconds_sum' },
              { labels: { server: 's' }, value: 4, metricName: 'b_seconds_count' },
            ],
          ],
        ]),
      },
    ],
    {
      ...{ resource: {}, version: '1', startMs: 1_000 },
      metrics: [
        { name: 'a_total', type: 'counter', labels: ['server'], help: 'A' },
        { name: 'b_seconds', type: 'histogram', labels: ['server', 'le'], help: 'B' },
        { name: 'c', type: 'gauge', labels: [], help: 'C' },
      ],
    },
  ) as { resourceMetrics: readonly { scopeMetrics: readonly { metrics: unknown }[] }[] };
  const attributes = [{ key: 'server', value: { stringValue: 's' } }];
  const times = { startTimeUnixNano: '1000000000', timeUnixNano: '2000000000' };
  expect(body.resourceMetrics[0]?.scopeMetrics[0]?.metrics).toEqual([
    {
      ...{ name: 'a_total', description: 'A', unit: '' },
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [{ attributes, ...times, asDouble: 3 }],
      },
    },
    {
      ...{ name: 'b_seconds', description: 'B', unit: 's' },
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          { attributes, ...times, count: '4', sum: 1.5, bucketCounts: ['1', '3'], explicitBounds: [0.1] },
        ],
      },
    },
  ]);
});

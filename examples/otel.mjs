// Writes each span of Assay as a line of JSON to the file that SPANS_FILE names. Start Assay with
// NODE_OPTIONS="--import ./examples/otel.mjs", and put the exporter of your own backend in the place of this one.
import { appendFileSync } from 'node:fs';
import { propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const exporter = {
  export(spans, done) {
    for (const span of spans) appendFileSync(process.env.SPANS_FILE, `${JSON.stringify(lineOf(span))}\n`);
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};

function lineOf(span) {
  const { name, kind, status, attributes, links, parentSpanContext } = span;
  const { traceId, spanId, traceState } = span.spanContext();
  const state = traceState?.serialize();
  return { name, kind, status, attributes, links, traceId, spanId, parent: parentSpanContext?.spanId, state };
}

trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
);
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

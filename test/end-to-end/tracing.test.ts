import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { until, untilLogged } from '../support/endings.ts';
import { at, parseJson, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { modernAsk, modernCall } from '../support/modern.ts';
import { fixture, ROOT, tempDir } from '../support/paths.ts';
import { spawnStdio } from '../support/stdio.ts';
import { NEW_TRACE } from '../support/trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const CONTEXT: JsonObject = {
  traceparent: `00-${TRACE}-${PARENT}-01`,
  tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
  baggage: 'userId=alice',
};

/** Skips a line that is still being written. */
function spansIn(file: string): readonly Json[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(parseJson) : [];
}

describe('with an OpenTelemetry SDK registered by the user', () => {
  const file = join(tempDir(), 'spans.jsonl');
  let assay: Assay;
  let readBefore = 0;
  const read = (): readonly Json[] => spansIn(file);
  /** Waits until this test has at least `count` spans, and returns all of them. */
  const spans = (count: number): Promise<readonly Json[]> =>
    until(`${count} spans`, () => {
      const found = read().slice(readBefore);
      return found.length >= count ? found : undefined;
    });

  beforeAll(async () => {
    assay = await startAssay({
      servers: { plain: fixture('plain'), modern: fixture('modern') },
      env: { NODE_OPTIONS: `--import ${join(ROOT, 'examples', 'otel.mjs')}`, SPANS_FILE: file },
    });
    await assay.settled();
  });
  beforeEach(() => {
    readBefore = read().length;
  });

  it("a relayed request becomes a span whose parent is the client's span", async () => {
    await modernAsk(assay.url, 'tools/call', {
      id: 'seven',
      params: { name: 'plain_echo', arguments: {} },
      meta: CONTEXT,
    });
    const [span] = await spans(1);
    expect(span).toMatchObject({
      name: 'tools/call plain_echo',
      kind: 1,
      traceId: TRACE,
      parent: PARENT,
      state: CONTEXT['tracestate'],
      status: { code: 0 },
      links: [],
      attributes: {
        'mcp.method.name': 'tools/call',
        'mcp.protocol.version': '2026-07-28',
        'gen_ai.tool.name': 'plain_echo',
        'gen_ai.operation.name': 'execute_tool',
        'jsonrpc.request.id': 'seven',
        'assay.server': 'plain',
        'assay.tool.read_only_hint': false,
        'assay.tool.destructive_hint': true,
        'assay.tool.idempotent_hint': false,
        'assay.tool.open_world_hint': true,
        'assay.decision': 'ask',
        'assay.decision.reason': 'destructive',
        'network.transport': 'tcp',
        'network.protocol.name': 'http',
      },
    });
  });

  it('a legacy request becomes a span too; without a trace context it starts its own trace', async () => {
    const session = await openSession(assay.url);
    await session.ask('prompts/get', { name: 'plain_greet', arguments: { who: 'x' }, _meta: CONTEXT });
    await session.ask('resources/read', { uri: 'plain://plain/readme' });
    const [prompt = null, resource = null] = await spans(2);
    expect(at(prompt, 'name')).toBe('prompts/get plain_greet');
    expect(at(prompt, 'parent')).toBe(PARENT);
    expect(at(prompt, 'attributes', 'gen_ai.prompt.name')).toBe('plain_greet');
    expect(at(prompt, 'attributes', 'mcp.protocol.version')).toBe('2025-11-25');
    expect(at(resource, 'name')).toBe('resources/read');
    expect(at(resource, 'attributes', 'mcp.resource.uri')).toBe('plain://plain/readme');
    // The policy decides on tool calls only.
    expect(at(resource, 'attributes', 'assay.decision')).toBeUndefined();
    expect(at(resource, 'parent')).toBeUndefined();
    expect(at(resource, 'traceId')).not.toBe(TRACE);
  });

  it('a failed call has an error status and an error type', async () => {
    for (const name of ['plain_fails', 'plain_refuses', 'plain_label'])
      await modernAsk(assay.url, 'tools/call', { params: { name, arguments: {} } });
    const outcomes = (await spans(3)).map((span) => [
      at(span, 'name'),
      at(span, 'status'),
      at(span, 'attributes', 'error.type'),
      at(span, 'attributes', 'rpc.response.status_code'),
    ]);
    expect(outcomes).toEqual([
      ['tools/call plain_fails', { code: 2 }, 'tool_error', undefined],
      ['tools/call plain_refuses', { code: 2, message: 'custom failure' }, '-32042', '-32042'],
      ['tools/call plain_label', { code: 0 }, undefined, undefined],
    ]);
  });

  it('an invalid context starts a new trace, and its call is still recorded', async () => {
    for (const traceparent of ['', 'x'.repeat(10_000), '00-0-0-00', 7, null, { a: 1 }])
      await modernAsk(assay.url, 'tools/call', {
        params: { name: 'plain_label', arguments: {} },
        meta: { traceparent, tracestate: traceparent },
      });
    const traced = await spans(6);
    expect(traced.map((span) => at(span, 'parent'))).toEqual(Array<undefined>(6).fill(undefined));
  });

  it('the server gets Assay’s span as parent, which is a child of the client’s span', async () => {
    const session = await openSession(assay.url);
    const received: Json[] = [];
    for (const name of ['plain_meta', 'modern_meta']) {
      const call = { name, arguments: {}, _meta: { ...CONTEXT, progressToken: 1 } };
      received.push(parseJson(textOf(await session.ask('tools/call', call))));
      received.push(parseJson(await modernCall(assay.url, name)));
    }
    for (const [index, span] of (await spans(4)).entries()) {
      const id = String(at(span, 'spanId'));
      const trace = String(at(span, 'traceId'));
      expect(at(received[index], 'traceparent')).toBe(`00-${trace}-${id}-01`);
      if (index % 2 === 0) {
        expect([trace, at(span, 'parent')]).toEqual([TRACE, PARENT]);
        expect(received[index]).toMatchObject({
          tracestate: CONTEXT['tracestate'],
          baggage: CONTEXT['baggage'],
        });
      } else expect([at(span, 'parent'), at(received[index], 'tracestate')]).toEqual([undefined, undefined]);
    }
  });

  it('an invalid context reaches the server unchanged', async () => {
    for (const traceparent of ['', '00-0-0-00', 7, null]) {
      const call = { params: { name: 'plain_meta', arguments: {} }, meta: { traceparent } };
      const answer = await modernAsk(assay.url, 'tools/call', call);
      expect(parseJson(textOf(answer))).toEqual({ traceparent, progressToken: expect.any(Number) as number });
    }
  });

  it('`assay stdio` creates spans too', async () => {
    const spansOfStdio = join(tempDir(), 'spans.jsonl');
    const stdio = spawnStdio({
      servers: { plain: fixture('plain') },
      env: { NODE_OPTIONS: `--import ${join(ROOT, 'examples', 'otel.mjs')}`, SPANS_FILE: spansOfStdio },
    });
    await stdio.initialize();
    await stdio.ask('tools/call', { name: 'plain_label', arguments: {}, _meta: CONTEXT });
    const span = await until('a span', () => spansIn(spansOfStdio)[0]);
    expect(at(span, 'parent')).toBe(PARENT);
    expect(at(span, 'attributes', 'network.transport')).toBe('pipe');
  });
});

describe('Assay without an OpenTelemetry SDK', () => {
  /** Reports loaded OpenTelemetry modules on stderr, except those that prom-client and OpenTelemetry load. */
  const TRAP = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(specifier, context, next) {
      const isApart = /node_modules.(?:prom-client|@opentelemetry)/.test(context.parentURL);
      if (specifier.startsWith('@opentelemetry') && !isApart) process.stderr.write('LOADED ' + specifier + '\\n');
      return next(specifier, context);
    } });`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(TRAP)}` };

  it('loads no part of OpenTelemetry', async () => {
    const assay = await startAssay({ servers: { plain: fixture('plain') }, env });
    await assay.settled();
    expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
    expect(assay.stderr()).not.toContain('LOADED');
  });

  it('loads it once an SDK is registered, which shows that the test above can fail', async () => {
    const otel = `--import ${join(ROOT, 'examples', 'otel.mjs')}`;
    const assay = await startAssay({
      servers: { plain: fixture('plain') },
      env: { NODE_OPTIONS: `${env.NODE_OPTIONS} ${otel}`, SPANS_FILE: join(tempDir(), 'spans.jsonl') },
    });
    await assay.settled();
    await untilLogged(assay, 'LOADED');
  });
});

describe('the trace context of a request', () => {
  const servers = { plain: fixture('plain'), modern: fixture('modern') };
  let assay: Assay;
  beforeAll(async () => {
    assay = await startAssay({ servers });
    await assay.settled();
  });

  it.each(['plain', 'modern'])('reaches the %s server unchanged from clients of both eras', async (name) => {
    const session = await openSession(assay.url);
    const legacy = await session.ask('tools/call', { name: `${name}_meta`, arguments: {}, _meta: CONTEXT });
    const modern = await modernAsk(assay.url, 'tools/call', {
      params: { name: `${name}_meta`, arguments: {} },
      meta: CONTEXT,
    });
    for (const answer of [legacy, modern])
      expect(parseJson(String(at(answer, 'result', 'content', 0, 'text')))).toMatchObject(CONTEXT);
  });

  it('is new and unsampled if the client sends none', async () => {
    const session = await openSession(assay.url);
    const stdio = spawnStdio({ servers });
    await stdio.initialize();
    const received: unknown[] = [];
    for (const name of ['plain_meta', 'modern_meta'])
      for (const text of [
        await session.call(name),
        await modernCall(assay.url, name),
        await stdio.call(name),
        await session.call(name),
      ])
        received.push(at(parseJson(text), 'traceparent'));
    for (const one of received) expect(one).toMatch(NEW_TRACE);
    expect(new Set(received).size).toBe(received.length);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type JsonObject } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernStream } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';

describe('an answer over HTTP', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({
      servers: { plain: fixture('plain'), c: fixture('cancellable'), big: fixture('named', ['--count=300']) },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const callOf = (name: string, args: JsonObject, token?: string): JsonObject => ({
    name,
    arguments: args,
    ...(token === undefined ? {} : { _meta: { progressToken: token } }),
  });
  const eras = [
    ['legacy', (params: JsonObject) => session.stream('tools/call', params)],
    ['modern', (params: JsonObject) => modernStream(assay.url, 'tools/call', { params })],
  ] as const;

  it.each(eras)('(%s) is JSON if there is only a result', async (_era, ask) => {
    for (const params of [
      callOf('plain_echo', {}),
      callOf('plain_sleep', { ms: 1_000 }),
      callOf('plain_echo', {}, 't'),
    ]) {
      const answer = await ask(params);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    }
  });

  it.each(eras)('(%s) is a stream as soon as something precedes the result', async (_era, ask) => {
    const stream = await ask(callOf('c_steps', { steps: 3, intervalMs: 50, who: 'a' }, 'tok'));
    expect(stream.headers['content-type']).toBe('text/event-stream');
    expect(stream.headers['cache-control']).toContain('no-cache');
    expect(stream.headers['x-accel-buffering']).toBe('no');
    await stream.ended;
    expect(stream.messages().map((one) => at(one, 'params', 'progress') ?? 'result')).toEqual([
      1,
      2,
      3,
      'result',
    ]);
    expect(
      stream
        .messages()
        .slice(0, 3)
        .every((one) => at(one, 'params', 'progressToken') === 'tok'),
    ).toBe(true);
  });

  it.each(eras)('(%s) is sent event by event, not at the end', async (_era, ask) => {
    const stream = await ask(callOf('c_steps', { steps: 3, intervalMs: scaledMs(400), who: 'a' }, 'tok'));
    const startMs = Date.now();
    await stream.next('first progress', (one) => at(one, 'params', 'progress') === 1);
    expect(Date.now() - startMs).toBeLessThan(scaledMs(300));
    await stream.ended;
  });

  it('has a length or is chunked, and the connection serves the next request', async () => {
    const { Agent, request } = await import('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number>();
    for (let time = 0; time < 5; time++) {
      const body = `{"jsonrpc":"2.0","id":${time},"method":"ping"}`;
      await new Promise<void>((resolve, reject) => {
        const asked = request(
          assay.url,
          { method: 'POST', agent, headers: { ...session.headers, 'content-length': String(body.length) } },
          (answer) => {
            ports.add(answer.socket.localPort ?? 0);
            answer.resume().on('end', resolve);
          },
        );
        asked.on('error', reject);
        asked.end(body);
      });
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });
});

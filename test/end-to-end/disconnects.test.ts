import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst } from '../support/clients.ts';
import { sleep, until } from '../support/endings.ts';
import { startRequest } from '../support/http.ts';
import { at, parseJson, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { META, envelope, modernBody, modernHeaders } from '../support/modern.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const WAIT = { name: 'c_wait', arguments: {} };

describe('a cancelled call', () => {
  let assay: Gateway;
  let session: LegacySession;
  const eventLog = openEventLog();
  beforeAll(async () => {
    assay = await startGateway({
      servers: { c: fixture('cancellable', [], { env: eventLog.env }), plain: fixture('plain') },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const seen = async (): Promise<Json> => parseJson(await session.call('c_seen'));
  const cancelledCount = async (): Promise<number> => (at(await seen(), 'cancelled') as Json[]).length;
  const waitingCalls = (): number => eventLog.read('waiting').length;
  const started = async (before: number): Promise<void> => {
    await until('the server has the call', () => (waitingCalls() > before ? true : undefined));
  };
  const reaches = (before: number): Promise<Json> =>
    until('the cancellation reaches the server', async () => {
      const now = await seen();
      const list = at(now, 'cancelled') as Json[];
      return list.length > before ? list.at(-1) : undefined;
    });

  it('of a modern client that disconnects is cancelled at the server', async () => {
    const [before, calls] = [await cancelledCount(), waitingCalls()];
    const asked = startRequest(assay.url, {
      headers: modernHeaders('tools/call', WAIT),
      body: modernBody('tools/call', { params: WAIT }),
    });
    await started(calls);
    asked.cut();
    expect(at(await reaches(before), 'known')).toBe(true);
  });

  it('of a legacy client that disconnects continues', async () => {
    const [before, calls] = [await cancelledCount(), waitingCalls()];
    const asked = startRequest(assay.url, {
      headers: session.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 900, method: 'tools/call', params: WAIT }),
    });
    await started(calls);
    asked.cut();
    await sleep(400);
    expect(await cancelledCount()).toBe(before);
    await session.notify('notifications/cancelled', { requestId: 900 });
    await reaches(before);
  });

  it('reaches the server with its reason through notifications/cancelled, and gets no result', async () => {
    const [before, calls] = [await cancelledCount(), waitingCalls()];
    let answered = '';
    void session
      .post(JSON.stringify({ jsonrpc: '2.0', id: 901, method: 'tools/call', params: WAIT }))
      .then((answer) => (answered = answer.text))
      .catch(() => undefined);
    await started(calls);
    await session.notify('notifications/cancelled', { requestId: 901, reason: 'changed my mind' });
    expect(await reaches(before)).toEqual({ known: true, reason: 'changed my mind' });
    await sleep(100);
    expect(answered).not.toContain('"result"');
  });

  it('cannot be cancelled by another client that uses the same id', async () => {
    const [before, calls] = [await cancelledCount(), waitingCalls()];
    const [one, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    startRequest(assay.url, {
      headers: one.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: WAIT }),
    });
    await started(calls);
    await other.notify('notifications/cancelled', { requestId: 5 });
    await sleep(300);
    expect(await cancelledCount()).toBe(before);
    await one.notify('notifications/cancelled', { requestId: '5' });
    await sleep(200);
    expect(await cancelledCount()).toBe(before);
    await one.notify('notifications/cancelled', { requestId: 5 });
    expect(at(await reaches(before), 'known')).toBe(true);
  });

  it('is ignored if no request has that id', async () => {
    const before = await cancelledCount();
    for (const requestId of [12345, 'x', null, { a: 1 }]) {
      expect((await session.notify('notifications/cancelled', { requestId })).status).toBe(202);
    }
    expect((await session.notify('notifications/cancelled')).status).toBe(202);
    expect(await cancelledCount()).toBe(before);
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('is cancelled if its session is ended with DELETE', async () => {
    const [before, calls] = [await cancelledCount(), waitingCalls()];
    const mine = await openSession(assay.url);
    startRequest(assay.url, {
      headers: mine.headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'tools/call', params: WAIT }),
    });
    await started(calls);
    await mine.end();
    expect(at(await reaches(before), 'known')).toBe(true);
  });

  it.each(['legacy', 'modern'] as const)(
    'of the official client 2.x (%s) is cancelled at the server',
    async (mode) => {
      const client = await connectClient({ url: assay.url }, mode);
      const [before, calls] = [await cancelledCount(), waitingCalls()];
      const giveUp = new AbortController();
      const call = client.callTool(WAIT, { signal: giveUp.signal });
      await started(calls);
      giveUp.abort('enough');
      await expect(call).rejects.toThrow();
      expect(at(await reaches(before), 'known')).toBe(true);
    },
  );

  it('of the official client 1.x is cancelled at the server', async () => {
    const client = await connectFirst({ url: assay.url });
    const [before, calls] = [await cancelledCount(), waitingCalls()];
    const giveUp = new AbortController();
    const call = client.callTool(WAIT, undefined, { signal: giveUp.signal });
    await started(calls);
    giveUp.abort('enough');
    await expect(call).rejects.toThrow();
    expect(at(await reaches(before), 'known')).toBe(true);
  });

  it.each(['legacy', 'modern'])('on stdio (%s) is cancelled by its notification', async (era) => {
    const pipe = openStdio({ servers: { c: fixture('cancellable', [], { env: eventLog.env }) } });
    if (era === 'legacy') await pipe.initialize();
    const meta = era === 'legacy' ? {} : { _meta: envelope({ [`${META}logLevel`]: 'debug' }) };
    const calls = waitingCalls();
    pipe.send({ jsonrpc: '2.0', id: 'w', method: 'tools/call', params: { ...WAIT, ...meta } });
    await started(calls);
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w', reason: 'r' } });
    pipe.send({
      jsonrpc: '2.0',
      id: 'seen',
      method: 'tools/call',
      params: { name: 'c_seen', arguments: {}, ...meta },
    });
    const answer = await pipe.next('what was seen', (one) => at(one, 'id') === 'seen');
    expect(parseJson(String(at(answer, 'result', 'content', 0, 'text')))).toEqual({
      cancelled: [{ known: true, reason: 'r' }],
      waiting: 0,
    });
    expect(pipe.lines().filter((line) => line.includes('"id":"w"'))).toEqual([]);
  });
});

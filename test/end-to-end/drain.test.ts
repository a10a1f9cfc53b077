import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { endLater, isAlive, kill, sleep, until } from '../support/endings.ts';
import { send, startRequest } from '../support/http.ts';
import { at, type Json } from '../support/json.ts';
import { initializeOf, messageOf, openSession, type LegacySession } from '../support/legacy.ts';
import { modernHeaders, modernBody, modernSend, modernStream } from '../support/modern.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';
import { spawnStdio } from '../support/stdio.ts';

/** The answer to a GET for a stream: the official SDKs give up after two refusals, but ask again after this. */
const ASK_AGAIN = ': not available here now; ask again\n\nretry: 1000\n\n';
const codeOf = (message: Json): Json | undefined => at(message, 'error', 'data', 'code');
const textIn = (message: Json): Json | undefined => at(message, 'result', 'content', 0, 'text');
const wait = (ms: number) => ({ name: 'c_wait', arguments: { ms } });
const steps = (count: number) => ({
  name: 'c_steps',
  arguments: { steps: count, intervalMs: 300, who: 'me' },
  _meta: { progressToken: 1 },
});

async function start(limits: Record<string, number> = {}): Promise<{ assay: Assay; session: LegacySession }> {
  const assay = await startAssay({
    servers: { c: fixture('cancellable') },
    settings: { settings: limits },
  });
  await assay.settled();
  return { assay, session: await openSession(assay.url) };
}

/** Returns the `Connection` of the response. */
async function sendWith(agent: Agent, port: number): Promise<string | undefined> {
  const asked = request({ host: '127.0.0.1', port, path: '/live', agent }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.headers.connection;
}

async function inFlight(assay: Assay, count: number): Promise<void> {
  await until('they are under way', async () =>
    (await readGauge(assay, 'assay_requests_in_flight', { server: 'c' })) === count ? true : undefined,
  );
}

async function isStopping(assay: Assay): Promise<void> {
  await until('it is stopping', async () =>
    at(await assay.health(), 'status') === 'stopping' ? true : undefined,
  );
}

describe('assay serve that is asked to stop', () => {
  it('with limits.drainDelayMs accepts no new connections after it, then gives up existing ones, and answers pending requests', async () => {
    const { assay } = await start({ 'limits.drainDelayMs': 1_000 });
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    endLater(async () => kept.destroy());
    let isAnswered = false;
    const pending = modernSend(assay.url, 'tools/call', { params: wait(4_000) }).finally(
      () => (isAnswered = true),
    );
    await inFlight(assay, 1);
    const stopped = assay.stop();
    await isStopping(assay);
    expect(await sendWith(kept, assay.port)).toBe('keep-alive');
    await until('nobody can connect', () =>
      sendWith(new Agent(), assay.port)
        .then(() => undefined)
        .catch(() => true as const),
    );
    expect([await sendWith(kept, assay.port), isAnswered]).toEqual(['close', false]);
    expect(textIn(messageOf(await pending))).toBe('waited');
    expect(await stopped).toBe(0);
  });

  it('answers pending requests of both eras, as JSON and on streams, before it exits', async () => {
    const { assay, session } = await start();
    const asked = [
      session.ask('tools/call', wait(4_000)),
      modernSend(assay.url, 'tools/call', { params: wait(4_000) }).then(messageOf),
    ];
    const streams = await Promise.all([
      session.stream('tools/call', steps(14)),
      modernStream(assay.url, 'tools/call', { params: steps(14), meta: { progressToken: 1 } }),
    ]);
    await inFlight(assay, 4);
    const stopped = assay.stop();
    expect((await Promise.all(asked)).map(textIn)).toEqual(['waited', 'waited']);
    await Promise.all(streams.map(({ ended }) => ended));
    expect(streams.map((stream) => textIn(stream.messages().at(-1) ?? null))).toEqual(
      Array(2).fill('"me" took 14 steps'),
    );
    expect(await stopped).toBe(0);
  });

  it('accepts no new request meanwhile, says so, and continues with pending ones', async () => {
    const { assay, session } = await start();
    const other = await openSession(assay.url);
    const running = session.ask('tools/call', wait(4_000));
    const stream = await session.stream('tools/call', steps(13));
    const cancelled = other.post(
      '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"c_wait","arguments":{}}}',
    );
    await inFlight(assay, 3);
    const stopped = assay.stop();
    await isStopping(assay);
    const refused = await Promise.all([
      session.post('{"jsonrpc":"2.0","id":7,"method":"ping"}'),
      modernSend(assay.url, 'tools/list', { id: 7 }),
      modernSend(assay.url, 'subscriptions/listen', { id: 7, params: { notifications: {} } }),
      send(assay.url, {
        headers: { 'content-type': 'application/json' },
        body: initializeOf('2025-11-25', {}, 7),
      }),
    ]);
    for (const answer of refused) {
      expect([answer.status, answer.headers.connection]).toEqual([503, 'close']);
      expect([at(answer.json(), 'id'), codeOf(answer.json())]).toEqual([7, 'SHUTTING_DOWN']);
    }
    const headers = { ...session.headers, accept: 'text/event-stream' };
    const later = await send(assay.url, { method: 'GET', headers });
    expect([later.status, later.text]).toEqual([200, ASK_AGAIN]);
    expect((await other.notify('notifications/cancelled', { requestId: 'x' })).status).toBe(202);
    await cancelled;
    const last = await until('an event', () => stream.events.at(-1)?.id);
    stream.cut();
    const resumed = await session.resume(last);
    await resumed.ended;
    expect(textIn(resumed.messages().at(-1) ?? null)).toBe('"me" took 13 steps');
    expect(textIn(await running)).toBe('waited');
    expect(await stopped).toBe(0);
  });

  it('refuses what takes too long, and exits', async () => {
    const { assay, session } = await start({ 'limits.drainMs': 300 });
    const asked = [
      session.ask('tools/call', wait(60_000)),
      modernSend(assay.url, 'tools/call', { params: wait(60_000) }).then(messageOf),
    ];
    const stream = await session.stream('tools/call', steps(60));
    await stream.next('a step', () => true);
    await inFlight(assay, 3);
    expect(await assay.stop()).toBe(0);
    expect((await Promise.all(asked)).map(codeOf)).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN']);
    expect(codeOf(stream.messages().at(-1) ?? null)).toBe('SHUTTING_DOWN');
  });

  it('ends subscriptions and streams properly, immediately if nothing is pending', async () => {
    const { assay, session } = await start({ 'limits.drainMs': 60_000 });
    const get = await session.listen();
    const listen = await modernStream(assay.url, 'subscriptions/listen', {
      id: 'sub',
      params: { notifications: { toolsListChanged: true } },
    });
    expect(await assay.stop()).toBe(0);
    await Promise.all([get.ended, listen.ended]);
    expect(at(listen.messages().at(-1) ?? null, 'id')).toBe('sub');
    expect(listen.messages().at(-1)).toHaveProperty('result.resultType', 'complete');
  });

  it('exits immediately if asked twice', async () => {
    const { assay, session } = await start({ 'limits.drainMs': 60_000 });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: wait(60_000) });
    startRequest(assay.url, { headers: session.headers, body });
    startRequest(assay.url, {
      headers: modernHeaders('tools/call', wait(1)),
      body: modernBody('tools/call', { params: wait(60_000) }),
    });
    await inFlight(assay, 2);
    const stopped = assay.stop();
    await isStopping(assay);
    kill(assay.pid, 'SIGTERM');
    expect(await stopped).toBe(130);
  });
});

describe('assay stdio', () => {
  const open = async (limits: Record<string, number>) => {
    const eventLog = openEventLog();
    const pipe = spawnStdio({
      servers: { c: fixture('cancellable', [], { env: eventLog.env }) },
      settings: { settings: limits },
    });
    await pipe.initialize();
    const began = eventLog.read('waiting').length;
    const ask = async (ms: number): Promise<void> => {
      pipe.send({ jsonrpc: '2.0', id: 'w', method: 'tools/call', params: wait(ms) });
      await until('it is under way', () => (eventLog.read('waiting').length > began ? true : undefined));
    };
    return { pipe, ask };
  };
  const isAnswer = (message: Json): boolean => at(message, 'id') === 'w';

  it.each(['SIGTERM', 'the end of its stdin'])('answers pending requests after %s', async (how) => {
    const { pipe, ask } = await open({});
    await ask(1_000);
    if (how === 'SIGTERM') kill(pipe.pid, 'SIGTERM');
    else pipe.closeStdin();
    expect(textIn(await pipe.next('the answer', isAnswer))).toBe('waited');
    expect(await pipe.ended).toBe(0);
  });

  it.each(['SIGTERM', 'the end of its stdin'])('after %s, refuses what takes too long', async (how) => {
    const { pipe, ask } = await open({ 'limits.drainMs': 200 });
    await ask(60_000);
    if (how === 'SIGTERM') kill(pipe.pid, 'SIGTERM');
    else pipe.closeStdin();
    expect(codeOf(await pipe.next('the answer', isAnswer))).toBe('SHUTTING_DOWN');
    expect(await pipe.ended).toBe(0);
  });

  it('accepts no new request after SIGTERM', async () => {
    const { pipe, ask } = await open({});
    await ask(5_000);
    kill(pipe.pid, 'SIGTERM');
    await until('a new request is refused', async () =>
      codeOf(await pipe.ask('tools/list')) === 'SHUTTING_DOWN' ? true : undefined,
    );
    expect(textIn(await pipe.next('the answer', isAnswer))).toBe('waited');
    expect(await pipe.ended).toBe(0);
  });

  it('does not wait any longer if SIGTERM follows the end of its stdin', async () => {
    const { pipe, ask } = await open({ 'limits.drainMs': 60_000 });
    await ask(60_000);
    pipe.closeStdin();
    await sleep(300);
    expect(isAlive(pipe.pid)).toBe(true);
    kill(pipe.pid, 'SIGTERM');
    expect(codeOf(await pipe.next('the answer', isAnswer))).toBe('SHUTTING_DOWN');
    expect(await pipe.ended).toBe(0);
  });
});

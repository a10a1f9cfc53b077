import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../packages/gateway/src/core/audit-event.ts';
import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import { startAssay, type Assay } from '../support/assay.ts';
import { sleep, until } from '../support/endings.ts';
import { openStream, send, type Answer, type Headers, type Stream } from '../support/http.ts';
import { at, listAt, numberAt, textAt, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { saveRecords, toolChange, tryStore, valueOf } from '../support/store-values.ts';
import { bearer, keepToken, revokeToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Assay;
let admin: AdminClient;
let token: string;
let store: Store;
beforeAll(async () => {
  token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startAssay({ servers: { changer: fixture('changer') }, home });
  await assay.settled();
  admin = adminClient(assay, token);
  store = valueOf(await tryStore({ home, databaseUrl: undefined }));
});
afterAll(() => store.close());

let tools = 0;
/** Something is done by another process on the same store. */
async function act(action: string, target: Partial<AuditEvent['target']> = {}): Promise<void> {
  tools += 1;
  const change = toolChange(`t${tools}`, 1, { event: eventOf(action, target) });
  expect(valueOf(await saveRecords(store, [change]))).toBeDefined();
}

function eventOf(action: string, target: Partial<AuditEvent['target']> = {}): AuditEvent {
  return {
    atMs: 1_700_000_000_000 + tools,
    subject: 'somebody',
    action,
    target: { kind: 'tool', id: `t${tools}`, name: `tool ${tools}`, ...target },
    after: { text: 'two\nlines' },
  };
}

const listen = (headers: Headers = {}, who = token, query = ''): Promise<Stream> =>
  openStream(`http://127.0.0.1:${assay.port}/events${query}`, {
    method: 'GET',
    headers: { ...bearer(who), ...headers },
  });
const actionsOn = (stream: Stream): readonly (Json | undefined)[] =>
  stream.messages().flatMap((one) => at(one, 'action') ?? []);
const heard = (stream: Stream, action: string): Promise<Json> =>
  stream.next(action, (one) => at(one, 'action') === action);
const activity = async (query = ''): Promise<Json> => (await admin.get(`/activity${query}`)).json();

describe('/activity', () => {
  it('shows audit events, newest first, and those of one target on request', async () => {
    await act('tool.update', { id: 'a' });
    await act('toolset.create', { kind: 'toolset', id: 'b/ü' });
    await act('tool.update', { id: 'a' });
    const [last] = listAt(await activity(), 'activity');
    expect(last).toEqual({
      id: expect.any(Number),
      at: new Date(1_700_000_000_000 + tools).toISOString(),
      subject: 'somebody',
      action: 'tool.update',
      target: { kind: 'tool', id: 'a', name: `tool ${tools}` },
      after: { text: 'two\nlines' },
    });
    const counted = async (query: string): Promise<number> =>
      listAt(await activity(query), 'activity').length;
    expect(await counted('?targetId=a')).toBe(2);
    expect(await counted('?target_kind=toolset')).toBe(1);
    expect(await counted(`?target_kind=toolset&targetId=${encodeURIComponent('b/ü')}`)).toBe(1);
    expect(await counted('?target_kind=toolset&target_id=a')).toBe(0);
    expect(verdictOf(await admin.get('/activity?targetKind=server'))).toBe('400 QUERY_INVALID');
  });

  it('attributes each change over HTTP, and contains no secrets', async () => {
    const made = (await admin.post('/tokens', { name: 'told', scopes: ['read'] })).json();
    await admin.delete(`/tokens/${textAt(made, 'id')}`);
    await admin.post('/toolsets', { name: 'told', equip: true });
    await admin.put('/toolsets/told', { description: 'Told' });
    await admin.post('/toolsets/unequip');
    await admin.delete('/toolsets/told');
    await admin.put('/preferences', { 'limits.drainMs': 7, 'limits.sessions': 8 });
    await admin.put('/preferences', { 'limits.drainMs': null });
    // Refused requests are not announced.
    await admin.delete('/toolsets/told');
    const page = await admin.get('/activity?limit=10');
    const told = listAt(page.json(), 'activity').map((one) =>
      ['subject', 'action'].map((key) => textAt(one, key)).join(' '),
    );
    expect(told.reverse()).toEqual([
      'boss token.create',
      'boss token.revoke',
      'boss toolset.create',
      'boss toolset.equip',
      'boss toolset.update',
      'boss toolset.unequip',
      'boss toolset.delete',
      ...Array<string>(3).fill('boss preference.update'),
    ]);
    expect(at(page.json(), 'activity', 0)).toMatchObject({
      target: { kind: 'preference', id: 'limits.drainMs' },
      before: 7,
      after: 10_000,
    });
    expect(page.text).not.toContain(textAt(made, 'token').slice(-43));
  });

  it('is paged without gaps, even while events are added', async () => {
    for (let count = 0; count < 5; count += 1) await act(`page.${count}`, { id: 'paged' });
    const seen: (Json | undefined)[] = [];
    let cursor: Json | undefined = '';
    while (cursor !== undefined) {
      const page: Json = await activity(
        `?targetId=paged&limit=2${cursor === '' ? '' : `&cursor=${String(cursor)}`}`,
      );
      seen.push(...listAt(page, 'activity').map((one) => at(one, 'action')));
      cursor = at(page, 'nextCursor');
      await act('page.later', { id: 'paged' });
    }
    expect(seen).toEqual(['page.4', 'page.3', 'page.2', 'page.1', 'page.0']);
    const forged = Buffer.from('1:x').toString('base64url');
    expect(verdictOf(await admin.get(`/activity?cursor=${forged}`))).toBe('400 CURSOR_INVALID');
  });
});

describe('/events', () => {
  it('sends new audit events, each with its id', async () => {
    await act('before.it');
    const stream = await listen();
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    await act('after.it');
    const auditEvent = await heard(stream, 'after.it');
    expect(actionsOn(stream)).toEqual(['after.it']);
    const event = stream.events.find(({ data }) => data !== '');
    expect(event?.id).toBe(String(numberAt(auditEvent, 'id')));
    expect(auditEvent).toEqual(at(await activity('?limit=1'), 'activity', 0));
    stream.cut();
  });

  it('resumes after the last event that a client saw, without loss or repetition', async () => {
    await act('seen');
    const first = numberAt(await activity('?limit=1'), 'activity', 0, 'id');
    for (let count = 0; count < 250; count += 1) await act(`missed.${count}`);
    const all = Array.from({ length: 250 }, (_, count) => `missed.${count}`);
    for (const stream of [
      await listen({ 'last-event-id': String(first) }),
      await listen({}, token, `?lastEventId=${first}`),
    ]) {
      await heard(stream, 'missed.249');
      expect(actionsOn(stream)).toEqual(all);
      stream.cut();
    }
  });

  it.runIf(process.platform === 'linux')('waits for a slow reader without using memory', async () => {
    const residentMiB = (): number =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${assay.pid}/status`, 'utf8'))?.[1]) / 1024;
    const first = numberAt(await activity('?limit=1'), 'activity', 0, 'id');
    const socket = connect({ port: assay.port, host: '127.0.0.1' });
    const lines = [
      `GET /events?lastEventId=${first} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${token}`,
    ];
    socket.pause().write(`${lines.join('\r\n')}\r\n\r\n`);
    const before = residentMiB();
    const text = 'x'.repeat(60_000);
    for (let part = 0; part < 5; part += 1) {
      const changes = Array.from({ length: 200 }, (_, at) =>
        toolChange(`slow-${part}-${at}`, 1, {
          event: { ...eventOf(`slow.${part * 200 + at}`), after: { text } },
        }),
      );
      valueOf(await saveRecords(store, changes));
    }
    await sleep(1_500);
    expect(residentMiB() - before).toBeLessThan(40);
    let told = '';
    socket.on('data', (chunk) => (told += chunk.toString('latin1').replaceAll(/x{5,}/g, '')));
    socket.resume();
    await until('all was told', () => (told.includes('"slow.999"') ? true : undefined), 20_000);
    const actions = [...told.matchAll(/"action":"slow\.(\d+)"/g)].map(([, count]) => Number(count));
    expect(actions).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
    socket.destroy();
  });

  it('announces changes of the tool list, several at once as one', async () => {
    const stream = await listen();
    await until('the stream has begun', () => (stream.events.length > 0 ? true : undefined));
    const session = await openSession(assay.url);
    await session.ask('tools/list');
    await session.call('changer_burst', { times: 40 });
    await stream.next('tools', (one) => JSON.stringify(one) === '{}');
    await sleep(300);
    expect(stream.messages().length).toBeLessThanOrEqual(3);
    expect(actionsOn(stream)).toEqual([]);
    stream.cut();
  });

  it('ends when its own token is revoked, and for no other', async () => {
    const short = await keepToken(home, 'short', { scopes: ['read'] });
    await until('it holds', async () =>
      (await adminClient(assay, short).get('/tokens')).status === 200 ? true : undefined,
    );
    const [gone, stays] = [await listen({}, short), await listen()];
    await revokeToken(home, 'short');
    await gone.ended;
    expect(await Promise.race([stays.ended.then(() => 'ended'), sleep(300).then(() => 'open')])).toBe('open');
    stays.cut();
  });

  it('are at most 16 per subject, and a closed one makes room', async () => {
    const many = await keepToken(home, 'many', { scopes: ['read'] });
    const client = adminClient(assay, many);
    await until('it holds', async () => ((await client.get('/tokens')).status === 200 ? true : undefined));
    const head = (): Promise<Answer> =>
      send(`http://127.0.0.1:${assay.port}/events`, { method: 'HEAD', headers: bearer(many) });
    for (let count = 0; count < 20; count += 1) expect((await head()).status).toBe(200);
    const streams = await Promise.all(Array.from({ length: 17 }, () => listen({}, many)));
    const opened = streams.filter(({ status }) => status === 200);
    expect(opened).toHaveLength(16);
    const refused = await client.get('/events');
    expect([verdictOf(refused), textAt(refused.json(), 'detail')]).toEqual([
      '429 EVENT_STREAM_LIMIT',
      'This caller has 16 streams of /events open, the maximum. Close one, or use one stream for several readers.',
    ]);
    const other = await listen();
    expect(other.status).toBe(200);
    await act('to.all');
    await Promise.all([other, ...opened].map((stream) => heard(stream, 'to.all')));
    opened[3]?.cut();
    await until('there is room', async () => {
      const stream = await listen({}, many);
      return stream.status === 200 ? true : undefined;
    });
    for (const stream of [other, ...opened]) stream.cut();
  });

  it('requires the read scope, and a valid last event id', async () => {
    const client = await keepToken(home, 'client', { scopes: ['mcp'] });
    await until('it holds', async () =>
      (await adminClient(assay, client).get('/events')).status === 403 ? true : undefined,
    );
    expect(verdictOf(await admin.get('/events', { 'last-event-id': 'x' }))).toBe('400 QUERY_INVALID');
    expect(verdictOf(await admin.get('/events?lastEventId=-1'))).toBe('400 QUERY_INVALID');
    const head = await send(`http://127.0.0.1:${assay.port}/events`, {
      method: 'HEAD',
      headers: bearer(token),
    });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('ends when the server closes, which does not wait for it', async () => {
    const stream = await listen();
    await until('the stream has begun', () => (stream.events.length > 0 ? true : undefined));
    const beganMs = Date.now();
    expect(await assay.stop()).toBe(0);
    await stream.ended;
    expect(Date.now() - beganMs).toBeLessThan(scaledMs(5_000));
    // Clients that cut off their streams earlier need no notification.
    expect(assay.stdout() + assay.stderr()).not.toMatch(/failed inside Assay|aborted|at .*\.js:/);
  });
});

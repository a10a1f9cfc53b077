// Legacy sessions that reach another replica while the database is away.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream, send, type Stream } from '../support/http.ts';
import { at, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { openPostgresLine, type PostgresLine } from '../support/postgres-line.ts';
import { formOf, openAskable, responseOn, untilAsked } from '../support/questions.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}';

describe('at a replica that does not know the session, while the database is away', () => {
  let one: Gateway;
  let two: Gateway;
  let line: PostgresLine;
  let token: string;
  beforeAll(async () => {
    const databaseUrl = await newDatabase();
    line = await openPostgresLine(databaseUrl);
    token = await keepToken(tempDir(), 'ada', { scopes: ['mcp'], databaseUrl });
    const servers = { own: fixture('asking', ['--era=legacy'], { isolation: 'session' }) };
    const start = (url: string): Promise<Gateway> =>
      startGateway({ servers, env: { ASSAY_DATABASE_URL: url, ASSAY_MCP_ACCESS: 'token' } });
    [one, two] = await Promise.all([start(databaseUrl), start(line.url)]);
    // The key of session ids is read before.
    expect((await postAtTwo(await openSession(one.url, { headers: bearer(token) }), PING)).status).toBe(200);
  });
  const postAtTwo = (session: LegacySession, body: string): ReturnType<typeof send> =>
    send(two.url, { headers: session.headers, body });
  const listenAtTwo = (session: LegacySession, lastEventId?: string): Promise<Stream> =>
    openStream(two.url, {
      method: 'GET',
      headers: {
        ...session.headers,
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    });
  const isListChange = (message: Json): boolean =>
    at(message, 'method') === 'notifications/tools/list_changed';

  it('its streams begin without messages, and continue when the database is back', async () => {
    const session = await openSession(one.url, { headers: bearer(token) });
    const { stream } = await untilAsked(
      await openAskable(one.url, { headers: bearer(token) }),
      'own_ask',
      { rounds: [[formOf('Who?')]] },
      'lost-1',
    );
    line.cut('all');
    expect((await postAtTwo(session, PING)).status).toBe(503);
    const standing = await listenAtTwo(session, '');
    const forged = await listenAtTwo(session, 'x'.repeat(600));
    expect([standing.status, forged.status]).toEqual([200, 200]);
    for (const waiting of [standing, forged]) await until('its comment', () => waiting.events[0]?.comment);
    expect([...standing.messages(), ...forged.messages()]).toEqual([]);
    expect(forged.events.filter(({ id }) => id !== undefined)).toEqual([]);
    line.restore();
    await standing.next('the lists', isListChange);
    await forged.ended;
    expect(forged.messages()).toEqual([]);
    stream.cut();
  });

  it('the stream of a call ends with its loss when the database is back', async () => {
    const session = await openAskable(one.url, { headers: bearer(token) });
    const { stream } = await untilAsked(session, 'own_ask', { rounds: [[formOf('Who?')]] }, 'lost-1');
    const last = stream.events.at(-1)?.id ?? '';
    stream.cut();
    line.cut('all');
    expect((await postAtTwo(session, PING)).status).toBe(503);
    const resumed = await listenAtTwo(session, last);
    await until('the event id again', () =>
      resumed.events.some(({ id }) => id === last) ? true : undefined,
    );
    expect(resumed.messages()).toEqual([]);
    line.restore();
    await resumed.ended;
    expect(at(resumed.messages()[0], 'error', 'data', 'code')).toBe('RESPONSE_LOST');
  });

  it('an answer waits for it, and arrives where the question was asked', async () => {
    const session = await openAskable(one.url, { headers: bearer(token) });
    const { stream, question } = await untilAsked(session, 'own_ask', { rounds: [[formOf('Who?')]] });
    const result = { action: 'accept', content: { name: 'Ada' } };
    line.cut('all');
    expect((await postAtTwo(session, PING)).status).toBe(503);
    const id = at(question, 'id') ?? null;
    const answering = postAtTwo(session, JSON.stringify({ jsonrpc: '2.0', id, result }));
    // Refused after a whole attempt, which began later than the first one of the answer.
    expect((await postAtTwo(session, PING)).status).toBe(503);
    line.restore();
    expect((await answering).status).toBe(202);
    expect(JSON.stringify(await responseOn(stream))).toContain('Ada');
  });
});

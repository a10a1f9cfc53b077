import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { messagesIn, type Answer } from '../support/http.ts';
import { at, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { fixture } from '../support/paths.ts';

describe('a batch of revision 2025-03-26', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({ servers: { plain: fixture('plain') } });
    session = await openSession(assay.url, { version: '2025-03-26' });
    await assay.settled();
  });

  it('of requests gets every response, each under its own id', async () => {
    const answer = await session.post(
      JSON.stringify([
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        {
          jsonrpc: '2.0',
          id: 'two',
          method: 'tools/call',
          params: { name: 'plain_add', arguments: { a: 1, b: 1 } },
        },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 3, method: 'no/such' },
      ]),
    );
    expect(answer.status).toBe(200);
    const answers = answersIn(answer);
    expect(answers).toHaveLength(3);
    expect(by(answers, 1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(at(by(answers, 'two'), 'result', 'content', 0, 'text')).toBe('2');
    expect(at(by(answers, 3), 'error', 'code')).toBe(-32601);
  });

  it('of notifications only gets 202 without a body', async () => {
    const answer = await session.post('[{"jsonrpc":"2.0","method":"notifications/initialized"}]');
    expect([answer.status, answer.text]).toEqual([202, '']);
  });

  it('that is empty gets an error', async () => {
    const answer = await session.post('[]');
    expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32600]);
  });

  it('with an invalid message still gets the responses of the valid ones', async () => {
    const answer = await session.post('[{"jsonrpc":"2.0","id":1,"method":"ping"},7]');
    if (answer.status === 200) {
      expect(by(answersIn(answer), 1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    } else expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32600]);
  });

  it('may not contain an initialize', async () => {
    const answer = await session.post(
      '[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}]',
    );
    const message = answer.status === 200 ? answersIn(answer)[0] : answer.json();
    expect(at(message, 'error', 'code')).toBe(-32600);
  });

  it.each(['2025-06-18', '2025-11-25'])(
    'is refused with 400 in a session of %s, which has no batches',
    async (version) => {
      const later = await openSession(assay.url, { version });
      const answer = await later.post('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32600]);
    },
  );
});

function answersIn(answer: Answer): readonly Json[] {
  if (answer.type === 'text/event-stream') {
    return messagesIn(answer.text).flatMap((one) => (Array.isArray(one) ? (one as Json[]) : [one]));
  }
  return answer.json() as readonly Json[];
}

function by(answers: readonly Json[], id: Json): Json | undefined {
  return answers.find((one) => at(one, 'id') === id);
}

import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { sleep } from '../support/endings.ts';
import { at, parseJson } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk, modernCall } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';

describe('a server that sends a request during a call', () => {
  it('is declined with a clear error, and never reaches a client', async () => {
    const assay = await startGateway({ servers: { asker: fixture('asker') } });
    await assay.settled();
    const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
    const [one, other] = await Promise.all([
      openSession(assay.url, { capabilities }),
      openSession(assay.url, { capabilities }),
    ]);
    const streams = await Promise.all([one.listen(), other.listen()]);
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list']) {
      const told = parseJson(await one.call('asker_ask', { method }));
      expect(at(told, 'error', 'code')).toBe(-32601);
      expect(at(told, 'error', 'message')).toEqual(expect.stringContaining(method));
    }
    const pong = parseJson(await one.call('asker_ask', { method: 'ping' }));
    expect(at(pong, 'result')).toEqual({});
    await sleep(100);
    for (const stream of streams) expect(stream.messages()).toEqual([]);
  });

  it('learned at its initialize that the client does not support it', async () => {
    const assay = await startGateway({ servers: { asker: fixture('asker') } });
    const capabilities = parseJson(await modernCall(assay.url, 'asker_capabilities'));
    for (const name of ['elicitation', 'sampling', 'roots']) expect(capabilities).not.toHaveProperty(name);
  });

  it('of the modern era causes an error, not an unreadable result, for a client that cannot be asked', async () => {
    const assay = await startGateway({ servers: { modern: fixture('modern') } });
    const session = await openSession(assay.url);
    const answer = await session.ask('tools/call', { name: 'modern_ask', arguments: {} });
    expect(at(answer, 'error', 'data', 'code')).toBe('QUESTION_UNANSWERED');
    const modern = await modernAsk(assay.url, 'tools/call', {
      params: { name: 'modern_ask', arguments: {} },
    });
    expect(at(modern, 'result', 'resultType') ?? at(modern, 'error', 'code')).toEqual(expect.anything());
  });
});

// What a server says about when to come back.
import { beforeAll, describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../packages/gateway/src/adapters/upstream/http-posts.ts';
import { endLater } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { argumentOf, toolOf } from '../fixtures/peer.ts';
import { startMade } from '../fixtures/http-made.ts';

let session: LegacySession;
const sent: number[] = [];

beforeAll(async () => {
  const made = await startMade({
    era: 'legacy',
    tools: [toolOf('add'), { ...toolOf('get'), annotations: { readOnlyHint: true } }],
    own: ({ incoming, response }) => {
      if (incoming.method !== 'tools/call') return false;
      sent.push(performance.now());
      const isFirst = sent.length === 1;
      if (argumentOf(incoming, 'once') === true && !isFirst) return false;
      const status = Number(argumentOf(incoming, 'status'));
      response.writeHead(status, { 'retry-after': String(argumentOf(incoming, 'wait')) }).end();
      return true;
    },
  });
  endLater(() => made.close());
  const assay = await startGateway({ servers: { h: { type: 'http', url: made.url, trust: true } } });
  await assay.settled();
  session = await openSession(assay.url);
});

describe('Retry-After', () => {
  it.each([
    ['h_add', 429, '30', 'RATE_LIMITED'],
    ['h_add', 503, '7', 'HTTP_SERVER_ERROR'],
    // Longer than the call may take.
    ['h_get', 503, '900', 'HTTP_SERVER_ERROR'],
  ])('%s, HTTP %i with %s: reaches the caller', async (name, status, wait, causeCode) => {
    sent.length = 0;
    const answer = await session.ask('tools/call', { name, arguments: { status, wait } });
    expect(at(answer, 'error', 'data')).toMatchObject({ causeCode, waitSeconds: Number(wait) });
    expect(at(answer, 'error', 'message')).toContain(`HTTP ${status} and asks to wait ${wait} s`);
    expect(sent.length).toBe(1);
  });

  it('is waited for before a call is sent again', async () => {
    sent.length = 0;
    const answer = await session.ask('tools/call', {
      name: 'h_get',
      arguments: { status: 503, wait: '1', once: true },
    });
    expect(textOf(answer)).toContain('503');
    const [first = 0, second = 0] = sent;
    expect(second - first).toBeGreaterThanOrEqual(990);
  });

  const NOW = Date.parse('2026-11-29T03:00:00Z');
  it.each([
    ['0', 0],
    [' 12 ', 12],
    ['Sun, 29 Nov 2026 03:00:20 GMT', 20],
    ['Sun, 29 Nov 2026 02:00:00 GMT', 0],
    ['9999999999', 86_400],
    ['soon', undefined],
    ['-1', undefined],
    ['', undefined],
  ])('%j means %j seconds', (value, seconds) => {
    expect(parseRetryAfter(value, NOW)).toBe(seconds);
  });
});

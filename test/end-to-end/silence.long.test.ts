import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernStream } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';

const CALL = { name: 'plain_sleep', arguments: { ms: 27_000 } };

describe('the MCP endpoint over HTTP', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({ servers: { plain: fixture('plain') } });
    await assay.settled();
    session = await openSession(assay.url);
  });

  it.concurrent.each([
    ['legacy', () => session.stream('tools/call', CALL)],
    ['modern', () => modernStream(assay.url, 'tools/call', { params: CALL })],
  ] as const)(
    'answers a slow %s call with a stream after 10 s, and sends comments until the result arrives',
    async (_era, ask) => {
      const startMs = Date.now();
      const stream = await ask();
      expect(Date.now() - startMs).toBeGreaterThan(9_000);
      expect(Date.now() - startMs).toBeLessThan(scaledMs(12_000));
      expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
      await stream.ended;
      expect(stream.events.some((event) => event.comment.startsWith(':'))).toBe(true);
      expect(stream.messages().map((one) => at(one, 'result', 'content', 0, 'text'))).toEqual([
        'slept 27000',
      ]);
    },
    40_000,
  );

  it.concurrent.each([
    ['the GET stream of a session', () => session.listen()],
    [
      'a subscription',
      () =>
        modernStream(assay.url, 'subscriptions/listen', {
          params: { notifications: { toolsListChanged: true } },
        }),
    ],
  ] as const)(
    'sends comments on %s while it is idle',
    async (_what, open) => {
      const stream = await open();
      await until(
        'a comment comes',
        () => (stream.events.some((event) => event.comment.startsWith(':')) ? true : undefined),
        25_000,
      );
      stream.cut();
    },
    40_000,
  );
});

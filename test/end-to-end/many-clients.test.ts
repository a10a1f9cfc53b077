import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst, textIn, type Negotiation } from '../support/clients.ts';
import { at, parseJson } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernCall } from '../support/modern.ts';
import { fixture, openEventLog } from '../support/paths.ts';

describe('many clients at once', () => {
  let assay: Gateway;
  const eventLog = openEventLog();
  beforeAll(async () => {
    assay = await startGateway({
      servers: { plain: fixture('plain', [], { env: eventLog.env }), c: fixture('cancellable') },
    });
    await assay.settled();
  });

  it("two official clients work side by side, and the second one's arrival does not disturb the first one's call", async () => {
    const one = await connectClient({ url: assay.url }, 'legacy');
    const running = one.callTool({ name: 'plain_sleep', arguments: { ms: 400 } });
    const other = await connectFirst({ url: assay.url });
    expect(textIn(await other.callTool({ name: 'plain_echo', arguments: { who: 'other' } }))).toBe(
      '{"who":"other"}',
    );
    expect(textIn(await running)).toBe('slept 400');
    await other.close();
    expect(textIn(await one.callTool({ name: 'plain_label', arguments: {} }))).toBe('plain');
  });

  it('fifty official clients of both eras each get their own answers and their own progress', async () => {
    const modes: readonly Negotiation[] = ['legacy', 'modern', 'auto'];
    let told = 0;
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const client = await connectClient({ url: assay.url }, modes[index % 3] ?? 'auto');
        const who = `client ${index}`;
        for (let time = 0; time < 4; time++) {
          const answer = await client.callTool({ name: 'plain_echo', arguments: { who, time } });
          expect(textIn(answer)).toBe(JSON.stringify({ who, time }));
        }
        const progress: (string | undefined)[] = [];
        await client.callTool(
          { name: 'c_steps', arguments: { steps: 2, intervalMs: 30, who } },
          { onprogress: (one) => progress.push(one.message) },
        );
        // A client drops its progress handler with the result, so it does not report progress read together with that.
        expect(progress).toEqual([`"${who}" 1`, `"${who}" 2`].slice(0, progress.length));
        told += progress.length;
        await client.close();
      }),
    );
    expect(told).toBeGreaterThan(0);
  });

  it('share one process per server', async () => {
    expect(eventLog.read('start')).toHaveLength(1);
    expect(at(parseJson(await modernCall(assay.url, 'plain_seen')), 'initialize')).toBe(1);
  });

  it('have five hundred concurrent calls with the same few ids answered correctly', async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession(assay.url)));
    const answers = await Promise.all(
      sessions.flatMap((session, who) =>
        Array.from({ length: 50 }, async (_, id) => {
          const params = { name: 'plain_echo', arguments: { who, id } };
          const answer = await session.post(
            JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
          );
          return (
            at(answer.json(), 'id') === id &&
            at(answer.json(), 'result', 'content', 0, 'text') === JSON.stringify({ who, id })
          );
        }),
      ),
    );
    expect(answers.filter((isRight) => !isRight)).toEqual([]);
  });
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RecentTraffic } from '../../../src/adapters/telemetry/traffic-log.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';

/** The test moves the clock and the timer. */
function opened() {
  const lines: (readonly [message: string, fields: unknown])[] = [];
  const take = (message: string, fields: unknown): number => lines.push([message, fields]);
  const log: Log = { debug() {}, info: take, warn: take, error: take };
  let nowMs = 0;
  const due: (() => void)[] = [];
  const traffic = new RecentTraffic({ log, nowMs: () => nowMs, later: (work) => due.push(work) });
  return {
    call: (client: string | undefined, outcome: 'ok' | 'error' = 'ok') => {
      if (traffic.admitsCall(nowMs, outcome !== 'ok'))
        traffic.call({ client, tool: 'a_b', ms: 1.6, outcome });
    },
    connect: (client: string, isStateless: boolean, sharesMode = false) =>
      traffic.connected({
        sharesMode,
        ...{ client, isStateless, transport: 'http', revision: '2025-11-25', endpoint: '/mcp' },
        subject: 'local',
      }),
    pass: (ms: number) => {
      nowMs += ms;
      for (const work of due.splice(0)) work();
    },
    taken: async () => {
      await nextTurn();
      return lines.splice(0);
    },
  };
}

const CLIENT = JSON.stringify({ name: 'claude-code', version: '1.2' });

describe('the log of clients and calls', () => {
  it('has a line for each, written after the event', async () => {
    const { call, connect, taken } = opened();
    connect(CLIENT, false);
    call(CLIENT);
    call('{"name":7}', 'error');
    call(undefined);
    const client = { client: 'claude-code 1.2', transport: 'http', revision: '2025-11-25', endpoint: '/mcp' };
    expect(await taken()).toEqual([
      ['client connected', client],
      ['call', { client: 'claude-code', tool: 'a_b', ms: 2, outcome: 'ok' }],
      ['call', { client: 'unnamed', tool: 'a_b', ms: 2, outcome: 'error' }],
      ['call', { client: 'unnamed', tool: 'a_b', ms: 2, outcome: 'ok' }],
    ]);
  });

  it('reports every ten seconds how many more there were', async () => {
    const { call, connect, pass, taken } = opened();
    for (let count = 0; count < 20 + 1_204; count += 1) call(CLIENT, count < 1_200 ? 'ok' : 'error');
    for (let count = 0; count < 3; count += 1) connect(CLIENT, false);
    expect(await taken()).toHaveLength(20);
    pass(10_000);
    expect(await taken()).toEqual([
      ['1,204 more calls in the last 10 s', { failed: 24 }],
      ['3 more clients connected in the last 10 s', undefined],
    ]);
    call(CLIENT);
    pass(10_000);
    expect(await taken()).toHaveLength(1);
  });

  it('has a line for each handshake, and one in ten minutes for a client without a handshake', async () => {
    const { connect, pass, taken } = opened();
    for (let count = 0; count < 5; count += 1) connect(CLIENT, true);
    expect(await taken()).toHaveLength(1);
    pass(600_001);
    connect(CLIENT, true);
    connect(CLIENT, false);
    connect(CLIENT, false);
    expect(await taken()).toHaveLength(3);
  });

  it('warns once that clients share a mode, when a second one connects', async () => {
    const { connect, taken } = opened();
    const warnings = async (): Promise<number> =>
      (await taken()).filter(([message]) => message.includes('mode.scope')).length;
    connect(CLIENT, true, true);
    connect(CLIENT, false, true);
    connect('{"name":"elsewhere"}', true, false);
    expect(await warnings()).toBe(0);
    connect('{"name":"cursor"}', true, true);
    connect('{"name":"zed"}', true, true);
    expect(await warnings()).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { limitLog } from '../../../src/adapters/telemetry/limited-log.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';

/** A limit of two lines per second with bursts of twenty; the test moves the clock and the timer. */
function opened() {
  const lines: (readonly [message: string, fields: unknown])[] = [];
  const take = (message: string, fields: unknown): number => lines.push([message, fields]);
  const log: Log = { debug() {}, info: take, warn: take, error: take };
  let nowMs = 0;
  const due: (() => void)[] = [];
  const limited = limitLog(log, {
    linesPerSecond: 2,
    nowMs: () => nowMs,
    later: (work) => due.push(work),
  });
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const work of due.splice(0)) work();
  };
  const flood = (count: number, server: string, text = 'x'): void => {
    for (let at = 0; at < count; at += 1) limited.info('server stderr', { server, text });
  };
  const taken = (): readonly unknown[] => lines.splice(0);
  return { limited, flood, pass, taken, due };
}

const droppedLines = (server: string, lines: number): unknown => [
  'lines of a server were dropped from the log: it writes too many',
  { server, lines, maxPerSecond: 2 },
];

describe('the log of events caused by servers', () => {
  it('accepts a burst, then a fixed rate of lines, and reports once how many it dropped', () => {
    const { flood, pass, taken, due } = opened();
    flood(1_020, 'loud');
    expect(taken()).toHaveLength(20);
    expect(due).toHaveLength(1);
    pass(1_000);
    expect(taken()).toEqual([droppedLines('loud', 1_000)]);
    flood(5, 'loud');
    expect(taken()).toHaveLength(2);
    pass(1_000);
    expect(taken()).toEqual([droppedLines('loud', 3)]);
    pass(1_000);
    expect(taken()).toEqual([]);
  });

  it('does not report dropped lines of a hidden level', () => {
    const { limited, pass, taken } = opened();
    for (let at = 0; at < 100; at += 1) limited.debug('server stderr', { server: 'loud', text: 'x' });
    pass(1_000);
    expect(taken()).toEqual([]);
  });

  it("does not let a server use up the share of another or of Assay's own messages", () => {
    const { limited, flood, taken } = opened();
    flood(100, 'loud');
    taken();
    flood(1, 'quiet');
    limited.info('listening', { port: 1 });
    expect(taken()).toEqual([
      ['server stderr', { server: 'quiet', text: 'x' }],
      ['listening', { port: 1 }],
    ]);
  });

  it('counts a long line as several', () => {
    const { flood, taken } = opened();
    flood(20, 'loud', 'x'.repeat(10 * 1_024));
    expect(taken()).toHaveLength(1);
    const other = opened();
    other.flood(2, 'loud', 'x'.repeat(1024 * 1024));
    expect(other.taken()).toHaveLength(1);
  });

  it('accepts more again after a pause, and at most a burst after a long one', () => {
    const { flood, pass, taken } = opened();
    flood(20, 'loud');
    pass(10_000);
    flood(20, 'loud');
    expect(taken()).toHaveLength(40);
    pass(1_000_000);
    flood(50, 'loud');
    expect(taken()).toHaveLength(20);
  });
});

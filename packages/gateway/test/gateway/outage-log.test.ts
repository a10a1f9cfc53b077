import { describe, expect, it } from 'vitest';
import type { Cause } from '../../src/core/cause.ts';
import { OutageLog } from '../../src/gateway/catalog/outage-log.ts';
import type { Log } from '../../src/gateway/ports/log.ts';

/** An outage log whose lines at level info and above are captured, with a manual clock. */
function opened() {
  const lines: string[] = [];
  let debugLines = 0;
  const take =
    (level: string) =>
    (message: string, { cause }: Readonly<Record<string, unknown>> = {}): void => {
      lines.push(cause === undefined ? `${level} ${message}` : `${level} ${message}: ${String(cause)}`);
    };
  const log: Log = {
    debug: () => (debugLines += 1),
    info: take('info'),
    warn: take('warn'),
    error: take('error'),
  };
  let nowMs = 0;
  const outages = new OutageLog({ server: 'a', log, nowMs: () => nowMs });
  return {
    fail: (exitCode: number, stderr?: string) => {
      const cause: Cause = { code: 'PROCESS_EXITED', exitCode, stderr };
      outages.failed('down', cause);
    },
    recover: () => outages.recovered('up'),
    pass: (ms: number) => (nowMs += ms),
    taken: () => lines.splice(0),
    debugLines: () => debugLines,
  };
}

describe('the log of a failing server', () => {
  it('contains the first cause, each new one, and the recovery, once each', () => {
    const { fail, recover, pass, taken, debugLines } = opened();
    recover();
    for (let time = 0; time < 100; time += 1) {
      fail(1, `Error: port ${3_000 + time} is taken`);
      pass(1_000);
    }
    fail(2);
    recover();
    expect(taken()).toEqual([
      'info up',
      'warn down: exited with code 1: Error: port 3000 is taken',
      'warn down: exited with code 2',
      'info up',
    ]);
    expect(debugLines()).toBe(99);
  });

  it('stays short if the server keeps failing and recovering for ten minutes', () => {
    const { fail, recover, pass, taken } = opened();
    for (let time = 0; time < 200; time += 1) {
      recover();
      pass(2_000);
      fail(1 + (time % 2));
      pass(1_000);
    }
    expect(taken()).toEqual([
      'info up',
      'warn down: exited with code 1',
      'info up',
      'warn down: exited with code 2',
      'info up',
    ]);
  });

  it('has few lines even if each failure has a different cause', () => {
    const { fail, pass, taken } = opened();
    for (let time = 0; time < 100; time += 1) {
      fail(1, 'x'.repeat(time + 1));
      pass(100);
    }
    expect(taken()).toHaveLength(8);
  });

  it('reports a lasting outage, even if its cause was logged before', () => {
    const { fail, recover, pass, taken } = opened();
    fail(1);
    recover();
    taken();
    fail(1);
    pass(61_000);
    fail(1);
    fail(1);
    recover();
    expect(taken()).toEqual(['warn down: exited with code 1', 'info up']);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runLater, waitForTurn, skipTurn, Turns } from '../src/turns.ts';

/** Counts the turns of the event loop. */
let turn = 0;
let counting: NodeJS.Immediate;

beforeEach(() => {
  turn = 0;
  const count = (): void => {
    turn += 1;
    counting = setImmediate(count);
  };
  counting = setImmediate(count);
});

afterEach(() => {
  clearImmediate(counting);
  vi.useRealTimers();
});

describe('deferred work', () => {
  it('shares one turn if it is short', async () => {
    const turns = await turnsOf(50, () => undefined);
    expect(new Set(turns).size).toBe(1);
  });

  it('takes further turns beyond 10 ms, in order', async () => {
    const turns = await turnsOf(4, () => work(11));
    expect(turns.map((at) => at - (turns[0] ?? 0))).toEqual([0, 1, 2, 3]);
  });

  it('is charged for what it only sets going', async () => {
    // The work itself takes no time, even on a machine that stands still for a moment.
    vi.useFakeTimers({ toFake: ['performance'] });
    const turns = await turnsOf(6, () => undefined, 5);
    expect(turns.map((at) => at - (turns[0] ?? 0))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it('leaves a whole turn to each of several long tasks', async () => {
    const busy = new Map<number, number>();
    const task = async (): Promise<void> => {
      const turns = new Turns();
      for (let step = 0; step < 10; step += 1) {
        work(4);
        if (turns.isOver) await turns.next();
        busy.set(turn, (busy.get(turn) ?? 0) + 1);
      }
    };
    await waitForTurn();
    await Promise.all([task(), task(), task(), task()]);
    const later = [...busy.values()].slice(1);
    // Three steps of 4 ms end a turn; four tasks that each had a budget of their own would take twelve in one.
    expect(Math.max(...later)).toBeLessThanOrEqual(4);
  });

  it('is skipped for a turn in favour of others, but not for ever', async () => {
    let skips = 0;
    const skip = (): void => {
      skips += 1;
      skipTurn();
      skipping = setImmediate(skip);
    };
    let skipping = setImmediate(skip);
    await waitForTurn();
    clearImmediate(skipping);
    expect(skips).toBeGreaterThanOrEqual(20);
    expect(skips).toBeLessThan(25);
  });
});

/** The turns in which work that was deferred at once ran. */
function turnsOf(count: number, run: () => void, startsMs = 0): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const turns: number[] = [];
    for (let left = count; left > 0; left -= 1)
      runLater(() => {
        turns.push(turn);
        run();
        if (turns.length === count) resolve(turns);
      }, startsMs);
  });
}

function work(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

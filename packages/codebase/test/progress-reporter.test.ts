import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ProgressReporter } from '../src/tools/progress-reporter.ts';
import { at, type Json } from '../../../test/support/json.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Sent {
  readonly atMs: number;
  readonly progress: number;
}

function reporter(token?: string): { reporter: ProgressReporter; sent: readonly Sent[] } {
  const sent: Sent[] = [];
  const notify = (notification: unknown): Promise<void> => {
    const progress = Number(at(notification as Json, 'params', 'progress'));
    sent.push({ atMs: performance.now(), progress });
    return Promise.resolve();
  };
  return { reporter: new ProgressReporter(token, notify), sent };
}

it('a silent call still reports increasing progress at least once a second', () => {
  const startedMs = performance.now();
  const { reporter: slow, sent } = reporter('t');
  slow.report({ done: 0, message: 'scanning' });
  vi.advanceTimersByTime(10_000);
  slow.stop();
  vi.advanceTimersByTime(10_000);
  const times = [startedMs, ...sent.map(({ atMs }) => atMs), startedMs + 10_000];
  for (const [index, time] of times.slice(1).entries())
    expect(time - (times[index] ?? 0)).toBeLessThanOrEqual(1_000);
  expect(sent.at(-1)?.atMs).toBeLessThanOrEqual(startedMs + 10_000);
  const progress = sent.map((one) => one.progress);
  expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b));
});

it('a fast run does not flood its client, and a run without a token reports nothing', () => {
  const { reporter: fast, sent } = reporter('t');
  const { reporter: unasked, sent: none } = reporter();
  for (let done = 0; done < 1_000; done += 1) {
    for (const one of [fast, unasked]) one.report({ done, total: 1_000, message: 'reading' });
    vi.advanceTimersByTime(1);
  }
  fast.stop();
  expect(sent.length).toBeLessThanOrEqual(6);
  expect(none).toEqual([]);
});

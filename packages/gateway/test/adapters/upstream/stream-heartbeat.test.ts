import { afterEach, expect, it, vi } from 'vitest';
import { StreamHeartbeat } from '../../../src/adapters/upstream/stream-heartbeat.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

afterEach(() => void vi.useRealTimers());

it('waits for days after a gap of days, with no timer longer than the platform has', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  let isSilent = false;
  const heartbeat = new StreamHeartbeat({ minSilenceMs: 1_000, onSilent: () => (isSilent = true) });
  heartbeat.note(Buffer.from(': beat\n\n'));
  vi.advanceTimersByTime(9 * DAY_MS);
  for (let count = 0; count < 4; count += 1) heartbeat.note(Buffer.from(': beat\n\n'));
  const startMs = performance.now();
  vi.advanceTimersToNextTimer();
  expect(performance.now() - startMs).toBeGreaterThan(20 * DAY_MS);
  expect(isSilent).toBe(false);
  vi.advanceTimersToNextTimer();
  expect([Math.round((performance.now() - startMs) / DAY_MS), isSilent]).toEqual([27, true]);
});

import { expect, it } from 'vitest';
import { UpdateSchedule } from '../src/watch/update-schedule.ts';

it('an update is due once there was no change for a moment, and after 10 s however many follow', () => {
  const schedule = new UpdateSchedule();
  expect(schedule.dueMs).toBeUndefined();
  schedule.note(1_000);
  expect(schedule.dueMs).toBe(1_200);
  schedule.note(1_150);
  expect(schedule.dueMs).toBe(1_350);
  for (let nowMs = 1_200; nowMs < 20_000; nowMs += 100) schedule.note(nowMs);
  expect(schedule.dueMs).toBe(11_000);
});

it('an update is followed by a pause of at least its duration, at most ten seconds', () => {
  const schedule = new UpdateSchedule();
  schedule.note(0);
  schedule.begin();
  expect(schedule.dueMs).toBeUndefined();
  schedule.note(300);
  schedule.end('done', { startedMs: 200, nowMs: 400 });
  expect(schedule.dueMs).toBe(600);
  schedule.begin();
  schedule.end('done', { startedMs: 800, nowMs: 30_800 });
  expect(schedule.dueMs).toBeUndefined();
  schedule.note(40_000);
  expect(schedule.dueMs).toBe(40_800);
});

it('updates of 200 ms for a file that is written all the time take less than a tenth of a core', () => {
  const schedule = new UpdateSchedule();
  let updates = 0;
  for (let nowMs = 0; nowMs < 600_000; nowMs += 50) {
    schedule.note(nowMs);
    if ((schedule.dueMs ?? Infinity) > nowMs) continue;
    updates += 1;
    schedule.begin();
    schedule.end('done', { startedMs: nowMs, nowMs: nowMs + 200 });
  }
  expect(updates).toBeGreaterThan(20);
  expect(updates * 200).toBeLessThan(60_000);
});

it('an update that could not be made is tried again by itself', () => {
  const schedule = new UpdateSchedule();
  schedule.end('busy', { startedMs: 0, nowMs: 100 });
  expect(schedule.dueMs).toBe(1_100);
  schedule.begin();
  schedule.end('failed', { startedMs: 1_100, nowMs: 1_200 });
  expect(schedule.dueMs).toBe(31_200);
  schedule.end('failed', { startedMs: 31_200, nowMs: 32_000 });
  expect(schedule.dueMs).toBe(92_000);
});

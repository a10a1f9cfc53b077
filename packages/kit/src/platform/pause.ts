import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `waitMs`, or until the signal aborts. */
export async function pause(waitMs: number, signal?: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** The promise's value, or undefined after `limitMs`. The wait does not keep the process alive. */
export function waitAtMost<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  return Promise.race([promise, sleep(limitMs, undefined, { ref: false })]);
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so many ms, or until the signal is aborted. */
export async function pause(waitMs: number, signal?: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** The promise's value, or undefined after so many ms. The wait keeps no process alive. */
export function atMost<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  return Promise.race([promise, sleep(limitMs, undefined, { ref: false })]);
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Time in ms that deferred work may take per turn of the event loop. */
const TURN_MS = 20;

const waiting: (() => void)[] = [];

/** Runs the work in a later turn of the event loop. All deferred work shares one time budget per turn. */
export function later(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(takeTurn);
}

function takeTurn(): void {
  const endMs = performance.now() + TURN_MS;
  let done = 0;
  try {
    do {
      const work = waiting[done];
      done += 1;
      work?.();
    } while (done < waiting.length && performance.now() < endMs);
  } finally {
    waiting.splice(0, done);
    if (waiting.length > 0) setImmediate(takeTurn);
  }
}

/** Resolves in a later turn of the event loop. */
export function laterTurn(): Promise<void> {
  return new Promise(later);
}

/** Maximum time in ms of each turn of work that yields by `openTurns`. */
const WORK_MS = 10;

/**
 * For long work: yields to the event loop if it has taken a few ms since the last time. Returns undefined if not, so that
 * most steps need no `await`.
 */
export function openTurns(): () => Promise<void> | undefined {
  let endMs = performance.now() + WORK_MS;
  return () => {
    if (performance.now() < endMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        endMs = performance.now() + WORK_MS;
        resolve();
      });
    });
  };
}

/** Calls `step` until it returns a value, yielding to others whenever the time budget is used up. */
export function inTurns<T>(step: () => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      try {
        const found = step();
        if (found === undefined) later(go);
        else resolve(found);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    later(go);
  });
}

/** Waits `waitMs`, or until the signal aborts. */
export async function pause(waitMs: number, signal?: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** The promise's value, or undefined after `limitMs`. The wait does not keep the process alive. */
export function atMost<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  return Promise.race([promise, sleep(limitMs, undefined, { ref: false })]);
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Time in ms that work which was put off may take in one turn of the event loop. */
const TURN_MS = 20;

const waiting: (() => void)[] = [];

/** Does the work in a later turn of the event loop. All that is put off so shares the time that it has in a turn. */
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

/** Calls `step` until it gives something, and lets others have their turn whenever that has taken its time. */
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

/** Waits so many ms, or until the signal is aborted. */
export async function pause(waitMs: number, signal?: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** The promise's value, or undefined after so many ms. The wait keeps no process alive. */
export function atMost<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  return Promise.race([promise, sleep(limitMs, undefined, { ref: false })]);
}

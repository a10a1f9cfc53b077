import type { ProcessLock } from '@assay-mcp/kit/platform/process-lock';

/** Interval in ms at which a gateway in the background checks whether it is needed. */
const CHECK_MS = 1_000;
/** Interval in ms at which it checks whether its lock file is there. */
const LOCK_CHECK_MS = 5_000;
/** Maximum time in ms that a gateway of an older version waits for calls in progress. */
const GIVE_WAY_MS = 60_000;

/** Decides when a gateway ends by itself. */
export class Ending {
  /** Resolves when it should end. */
  readonly promise: Promise<unknown>;
  /** The number of clients that are attached. */
  attachedCount: () => number = () => 0;
  readonly #end: () => void;
  #isGivingWay = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.promise = promise;
    this.#end = () => resolve(undefined);
  }

  end(): void {
    this.#end();
  }

  /** Ends after `idleMs` in which `isBusy` was false; never if that is 0. Returns a function that stops checking. */
  endWhenIdle(isBusy: () => boolean, idleMs: number): () => void {
    if (idleMs === 0) return () => undefined;
    let busyMs = performance.now();
    const timer = setInterval(
      () => {
        if (isBusy()) busyMs = performance.now();
        else if (performance.now() - busyMs >= idleMs) this.end();
      },
      Math.min(CHECK_MS, idleMs),
    );
    return () => clearInterval(timer);
  }

  /** Ends once clients no longer find this gateway, as when its home was deleted. Returns a function that stops checking. */
  endWhenLost(lock: Pick<ProcessLock, 'isHeld'>): () => void {
    const timer = setInterval(() => {
      if (!lock.isHeld()) this.end();
    }, LOCK_CHECK_MS);
    return () => clearInterval(timer);
  }

  /** Ends for a newer version as soon as no call is in progress, after 60 s at the latest. */
  giveWay(isInUse: () => boolean, clients: { announceRetirement(): void }): void {
    if (this.#isGivingWay) return;
    this.#isGivingWay = true;
    const sinceMs = performance.now();
    const timer = setInterval(() => {
      if (isInUse() && performance.now() - sinceMs < GIVE_WAY_MS) return;
      clearInterval(timer);
      clients.announceRetirement();
      this.end();
    }, CHECK_MS / 10);
  }
}

/** Whether a version, such as 1.2.3 or 1.2.3-rc.1, is newer than another. Other texts never are. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => /^(\d+)\.(\d+)\.(\d+)(-.*)?$/.exec(text));
  if (one === null || other === null || one === undefined || other === undefined) return false;
  for (const part of [1, 2, 3]) {
    const difference = Number(one[part]) - Number(other[part]);
    if (difference !== 0) return difference > 0;
  }
  const [tag, otherTag] = [one[4], other[4]];
  if (tag === undefined || otherTag === undefined) return tag === undefined && otherTag !== undefined;
  return tag.localeCompare(otherTag, 'en', { numeric: true }) > 0;
}

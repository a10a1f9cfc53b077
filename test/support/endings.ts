import { patient } from './patience.ts';

const endings: (() => Promise<void>)[] = [];
const removals: (() => void)[] = [];
const pids = new Set<number>();

/** Whatever a test opens is closed when its file is done, also after a failure: `end-opened.ts` sees to that. */
export function endLater(end: () => Promise<void>): void {
  endings.push(end);
}

/** What is removed once all is closed. */
export function removeLater(remove: () => void): void {
  removals.push(remove);
}

/** A process that must not outlive the file, whatever happens. */
export function killLater(pid: number | undefined): void {
  if (pid !== undefined) pids.add(pid);
}

/** How much is open now, for `endOpenedSince`. */
export function countOpened(): number {
  return endings.length;
}

/** Closes what was opened after that many. */
export async function endOpenedSince(count: number): Promise<void> {
  await Promise.allSettled(endings.splice(count).map((end) => end()));
}

export async function endOpened(): Promise<void> {
  await Promise.allSettled(endings.splice(0).map((end) => end()));
  killAll();
  for (const remove of removals.splice(0)) remove();
}

process.on('exit', killAll);

function killAll(): void {
  for (const pid of pids) kill(pid, 'SIGKILL');
  pids.clear();
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks again and again until the answer is not undefined; throws with the sentence when the time, with CI's patience, is over. */
export async function until<T>(
  what: string | (() => string),
  ask: () => T | undefined | Promise<T | undefined>,
  limitMs = 10_000,
): Promise<T> {
  const waitsMs = patient(limitMs);
  const endMs = Date.now() + waitsMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > endMs)
      throw new Error(`Not within ${waitsMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(20);
  }
}

import { scaledMs } from './slow-machine.ts';

const endings: (() => Promise<void>)[] = [];
const removals: (() => void)[] = [];
const pids = new Set<number>();

/** Closes what a test opened at the end of its file, also after a failure; `end-opened.ts` runs this. */
export function endLater(end: () => Promise<void>): void {
  endings.push(end);
}

/** Runs a removal once everything is closed. */
export function removeLater(remove: () => void): void {
  removals.push(remove);
}

/** Kills a process that must not outlive the file. */
export function killLater(pid: number | undefined): void {
  if (pid !== undefined) pids.add(pid);
}

/** The number of open things, for `endOpenedSince`. */
export function countOpened(): number {
  return endings.length;
}

/** Closes everything opened after that count. */
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
    // It has already exited.
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

/** Polls until the result is not undefined; throws with `what` after the limit, which is scaled up in CI. */
export async function until<T>(
  what: string | (() => string),
  ask: () => T | undefined | Promise<T | undefined>,
  limitMs = 30_000,
): Promise<T> {
  const waitsMs = scaledMs(limitMs);
  const endMs = Date.now() + waitsMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > endMs)
      throw new Error(`Not within ${waitsMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(20);
  }
}

/** Waits until stderr has this text: some log lines are written a moment after the event. */
export async function untilLogged(of: { stderr(): string }, wanted: string | RegExp): Promise<void> {
  await until(
    () => `the log has ${String(wanted)}; it is:\n${of.stderr()}`,
    () =>
      (typeof wanted === 'string' ? of.stderr().includes(wanted) : wanted.test(of.stderr()))
        ? true
        : undefined,
  );
}

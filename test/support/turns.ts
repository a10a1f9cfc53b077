/** What of the main thread's time in ms one turn of the event loop took at most, while something was done. */
export interface LongestTurn {
  readonly cpuMs: number;
  /** By how much the heap grew at most, in bytes. */
  readonly heapBytes: number;
}

/**
 * Watches every turn of the event loop until the work is done. Counts the time that the thread was computing, so that it
 * does not matter what else the machine does.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<LongestTurn> {
  let [cpuMs, heapBytes] = [0, 0];
  const heapBefore = process.memoryUsage().heapUsed;
  let before = process.threadCpuUsage();
  let isOver = false;
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    cpuMs = Math.max(cpuMs, (user + system) / 1_000);
    heapBytes = Math.max(heapBytes, process.memoryUsage().heapUsed - heapBefore);
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return { cpuMs, heapBytes };
}

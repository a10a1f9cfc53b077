/** The longest turn of the event loop during some work, as CPU time of the main thread in ms. */
export interface LongestTurn {
  readonly cpuMs: number;
  /** Largest growth of the heap, in bytes. */
  readonly heapBytes: number;
}

/**
 * Watches every turn of the event loop until the work is done. Counts CPU time of the thread, so other load on the
 * machine does not matter.
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

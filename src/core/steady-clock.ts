/**
 * The machine's clock without its steps back: it goes on at the pace of the monotonic clock where the machine's was set
 * back, so that what has expired once stays expired. Of a step forward it takes all. Both in ms.
 */
export function steadyClock(
  wallMs: () => number = () => Date.now(),
  monotonicMs: () => number = () => performance.now(),
): () => number {
  let lastMs = wallMs();
  let lastAtMs = monotonicMs();
  return () => {
    const atMs = monotonicMs();
    lastMs = Math.max(wallMs(), lastMs + atMs - lastAtMs);
    lastAtMs = atMs;
    return lastMs;
  };
}

import { constants, PerformanceObserver } from 'node:perf_hooks';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { releaseMemory } from '../../src/platform/thread.ts';

describe('releasing memory', () => {
  it('collects the young objects only, and leaves the collector exposed to nothing else', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { kind, flags } = (entry as unknown as { detail: { kind: number; flags: number } }).detail;
        if ((flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) resolve(kind);
      }
    });
    observer.observe({ entryTypes: ['gc'] });
    await releaseMemory();
    expect(await promise).toBe(constants.NODE_PERFORMANCE_GC_MINOR);
    observer.disconnect();
    expect(runInNewContext('typeof gc')).toBe('undefined');
  });
});

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FailureSource, Failures } from '../../../src/adapters/auth/failures.ts';

const UNKNOWN = (address: string): FailureSource => ({ address, id: undefined });

/** Notes so many failures. */
function fail(failures: Failures, failing: FailureSource, times: number): void {
  for (let count = 0; count < times; count += 1) failures.note(failing);
}

function isClosed(failures: Failures, failing: FailureSource): boolean {
  return failures.waitMs(failing) !== undefined;
}

describe('failures', () => {
  it('block their address once the limit is reached, and not before', () => {
    const failures = new Failures({ max: 3 });
    fail(failures, UNKNOWN('10.0.0.1'), 2);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(false);
    fail(failures, UNKNOWN('10.0.0.1'), 1);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(true);
    expect(isClosed(failures, UNKNOWN('10.0.0.2'))).toBe(false);
    const waitMs = failures.waitMs(UNKNOWN('10.0.0.1')) ?? 0;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(60_000);
  });

  it('with one token block neither other tokens from that address nor the same token from other addresses', () => {
    const failures = new Failures({ max: 1 });
    fail(failures, { address: '10.0.0.1', id: 'a' }, 1);
    expect(isClosed(failures, { address: '10.0.0.1', id: 'a' })).toBe(true);
    expect(isClosed(failures, { address: '10.0.0.1', id: 'b' })).toBe(false);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(false);
    expect(isClosed(failures, { address: '10.0.0.2', id: 'a' })).toBe(false);
  });

  it('expire at the end of their window, measured with a monotonic clock', () => {
    let monotonicMs = 5_000;
    const failures = new Failures({ max: 1, monotonicMs: () => monotonicMs });
    fail(failures, UNKNOWN('10.0.0.1'), 1);
    expect(failures.waitMs(UNKNOWN('10.0.0.1'))).toBe(60_000);
    monotonicMs += 59_999;
    expect(failures.waitMs(UNKNOWN('10.0.0.1'))).toBe(1);
    monotonicMs += 1;
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(false);
    fail(failures, UNKNOWN('10.0.0.1'), 1);
    expect(failures.waitMs(UNKNOWN('10.0.0.1'))).toBe(60_000);
  });

  it('lock out for the configured time, even if the system clock changes', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const failures = new Failures({ max: 1 });
    fail(failures, UNKNOWN('10.0.0.1'), 1);
    for (const hours of [-2, 2]) {
      vi.setSystemTime(Date.now() + hours * 3_600_000);
      const waitMs = failures.waitMs(UNKNOWN('10.0.0.1')) ?? 0;
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(60_000);
    }
  });

  it('from new addresses share one counter once more than 10,000 addresses are tracked', () => {
    const failures = new Failures({ max: 2 });
    for (let count = 0; count < 10_000; count += 1)
      fail(failures, UNKNOWN(`10.0.${count >> 8}.${count & 255}`), 1);
    expect(isClosed(failures, UNKNOWN('10.0.0.0'))).toBe(false);
    fail(failures, UNKNOWN('192.0.2.1'), 1);
    expect(isClosed(failures, UNKNOWN('192.0.2.2'))).toBe(false);
    fail(failures, UNKNOWN('192.0.2.2'), 1);
    expect(isClosed(failures, UNKNOWN('192.0.2.3'))).toBe(true);
    expect(isClosed(failures, UNKNOWN('10.0.0.0'))).toBe(false);
    expect(isClosed(failures, { address: '192.0.2.3', id: 'a' })).toBe(false);
  });
});

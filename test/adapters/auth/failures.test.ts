import { describe, expect, it } from 'vitest';
import { Failures, type Failing } from '../../../src/adapters/auth/failures.ts';
import { sleep } from '../../support/endings.ts';

const START = Date.now();
const UNKNOWN = (address: string): Failing => ({ address, id: undefined });

/** Notes so many failures, each known before the next, as requests come. */
async function fail(failures: Failures, failing: Failing, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    failures.note(failing, START);
    await Promise.resolve();
  }
}

function isClosed(failures: Failures, failing: Failing, nowMs = START): boolean {
  return failures.waitMs(failing, nowMs) !== undefined;
}

describe('failures', () => {
  it('close the door to their address when there were as many as may be, and not before', async () => {
    const failures = new Failures({ most: 3, windowMs: 60_000 });
    await fail(failures, UNKNOWN('10.0.0.1'), 2);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(false);
    await fail(failures, UNKNOWN('10.0.0.1'), 1);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(true);
    expect(isClosed(failures, UNKNOWN('10.0.0.2'))).toBe(false);
    const waitMs = failures.waitMs(UNKNOWN('10.0.0.1'), START) ?? 0;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(60_000);
  });

  it('with one token leave other tokens from that address alone, and the same token from elsewhere', async () => {
    const failures = new Failures({ most: 1, windowMs: 60_000 });
    await fail(failures, { address: '10.0.0.1', id: 'a' }, 1);
    expect(isClosed(failures, { address: '10.0.0.1', id: 'a' })).toBe(true);
    expect(isClosed(failures, { address: '10.0.0.1', id: 'b' })).toBe(false);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(false);
    expect(isClosed(failures, { address: '10.0.0.2', id: 'a' })).toBe(false);
  });

  it('are forgotten when their window ends', async () => {
    const failures = new Failures({ most: 1, windowMs: 200 });
    await fail(failures, UNKNOWN('10.0.0.1'), 1);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'))).toBe(true);
    expect(isClosed(failures, UNKNOWN('10.0.0.1'), START + 200)).toBe(false);
    // The library has a clock of its own.
    await sleep(300);
    failures.note(UNKNOWN('10.0.0.1'), START + 300);
    await Promise.resolve();
    expect(isClosed(failures, UNKNOWN('10.0.0.1'), START + 300)).toBe(true);
  });

  it('from more than 10,000 addresses at a time are counted as one for those that are new', async () => {
    const failures = new Failures({ most: 2, windowMs: 60_000 });
    for (let count = 0; count < 10_000; count += 1)
      await fail(failures, UNKNOWN(`10.0.${count >> 8}.${count & 255}`), 1);
    expect(isClosed(failures, UNKNOWN('10.0.0.0'))).toBe(false);
    await fail(failures, UNKNOWN('192.0.2.1'), 1);
    expect(isClosed(failures, UNKNOWN('192.0.2.2'))).toBe(false);
    await fail(failures, UNKNOWN('192.0.2.2'), 1);
    expect(isClosed(failures, UNKNOWN('192.0.2.3'))).toBe(true);
    expect(isClosed(failures, UNKNOWN('10.0.0.0'))).toBe(false);
    expect(isClosed(failures, { address: '192.0.2.3', id: 'a' })).toBe(false);
  });
});

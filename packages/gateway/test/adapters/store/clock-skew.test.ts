// Replicas whose clocks differ by minutes.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import { KeySealer } from '../../../src/adapters/auth/sealer.ts';
import { SealedSessionIds } from '../../../src/adapters/auth/session-ids.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { SILENT } from '../../gateway/listed-server.ts';
import { newDatabase } from '../../../../../test/support/postgres.ts';
import { APPROVAL_LIMITS, approval, credential, valueOf } from '../../../../../test/support/store-values.ts';
import { openAt } from '../../../../../test/support/stores.ts';
import { derivedKeysOf } from '../../../../../test/support/encryption-keys.ts';

const SKEW_MS = 5 * 60 * 1_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Does this at a replica whose clock differs from that of the database. */
async function at<T>(skewMs: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + skewMs });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

describe('replicas on PostgreSQL whose clocks differ by five minutes', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openAt({ home: '', databaseUrl: await newDatabase() });
  });

  it('lease a refresh token to one of them at a time, by the clock of the database', async () => {
    valueOf(await store.saveCredential(credential({})));
    const [{ revision } = { revision: 0 }] = valueOf(await store.credentials());
    const lease = async (holder: string, forMs: number): Promise<string> =>
      valueOf(await store.leaseCredential(credential({}), { holder, revision, forMs })).kind;
    expect(await at(0, () => lease('one', 30_000))).toBe('leased');
    expect(await at(SKEW_MS, () => lease('ahead', 30_000))).toBe('held');
    expect(await at(-SKEW_MS, () => lease('behind', 30_000))).toBe('held');
    expect(await lease('one', 0)).toBe('leased');
    expect(await at(-SKEW_MS, () => lease('behind', 30_000))).toBe('leased');
    expect(await at(0, () => lease('one', 30_000))).toBe('held');
  });

  it('carry out a call once that was approved once, whichever of them is asked', async () => {
    const requested = await at(SKEW_MS, async () => {
      const limits = { ...APPROVAL_LIMITS, nowMs: Date.now() };
      return valueOf(await store.requestApproval(approval('a'), limits));
    });
    expect(requested).toMatchObject({ id: 'a', state: 'pending' });
    const change = (
      skewMs: number,
      from: 'pending' | 'approved',
      to: 'approved' | 'used',
    ): Promise<unknown> =>
      at(skewMs, async () =>
        valueOf(await store.changeApproval({ id: 'a', from: [from], to, nowMs: Date.now() })),
      );
    expect(await change(0, 'pending', 'approved')).toMatchObject({ state: 'approved' });
    expect(await change(-SKEW_MS, 'approved', 'used')).toMatchObject({ state: 'used' });
    for (const skewMs of [SKEW_MS, 0, -SKEW_MS])
      expect(await change(skewMs, 'approved', 'used')).toBeUndefined();
  });

  it('open what another one sealed, and refuse it once it has expired by their own clock', async () => {
    const sealer = (): KeySealer =>
      new KeySealer({
        derivedKeys: derivedKeysOf(false),
        openStore: () => Promise.resolve(ok(store)),
        log: SILENT,
      });
    const expiresMs = Date.now() + SKEW_MS / 2;
    const open = (skewMs: number, sealed: string): Promise<string> =>
      at(skewMs, async () => {
        const opened = await sealer().open(sealed, { about: 'it', nowMs: Date.now() });
        return opened.ok ? opened.value : opened.error.code;
      });
    // The replica that is ahead also creates the first key, which is from the future for the others.
    const sealed = await at(SKEW_MS, () => sealer().seal('state', { about: 'it', expiresMs }));
    expect(await open(0, sealed)).toBe('state');
    expect(await open(-SKEW_MS, sealed)).toBe('state');
    expect(await open(SKEW_MS, sealed)).toBe('STATE_INVALID');
    // And they share that key instead of adding others.
    await at(-SKEW_MS, () => sealer().seal('state', { about: 'it', expiresMs }));
    expect(valueOf(await store.keys('request-state'))).toHaveLength(1);
  });

  it('continue sessions whose id another one sealed', async () => {
    const ids = (): SealedSessionIds =>
      new SealedSessionIds({
        derivedKeys: derivedKeysOf(false),
        openStore: () => Promise.resolve(ok(store)),
        log: SILENT,
      });
    const binding = { endpoint: '/mcp', holder: { subject: 'ann', tokenId: 't' } };
    const session = {
      ...{ id: 'one', createdMs: Date.now() + SKEW_MS, version: '2025-11-25', capabilities: '{}' },
      clientInfo: undefined,
    };
    const sealed = await at(SKEW_MS, () => ids().seal(session, binding));
    for (const skewMs of [SKEW_MS, 0, -SKEW_MS])
      expect(await at(skewMs, () => ids().open(sealed, binding))).toEqual(session);
  });
});

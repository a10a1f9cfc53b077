import { beforeEach, describe, expect, it } from 'vitest';
import { mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { TokenGate } from '../../../src/adapters/auth/token-gate.ts';
import { MAX_STALE_MS } from '../../../src/core/freshness.ts';
import { ok } from '@assay-mcp/kit/result';
import { RecordReplica } from '../../../src/gateway/catalog/record-replica.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { endLater, until } from '../../../../../test/support/endings.ts';
import { openPgBouncer } from '../../../../../test/support/pgbouncer.ts';
import { newDatabase } from '../../../../../test/support/postgres.ts';
import { openPostgresLine, type PostgresLine } from '../../../../../test/support/postgres-line.ts';
import { scaledMs } from '../../../../../test/support/slow-machine.ts';
import { saveSetting, token, valueOf } from '../../../../../test/support/store-values.ts';
import { openAt } from '../../../../../test/support/stores.ts';

/** The bound of docs/AUTHORIZATION.md: a revocation by another replica counts after this time in ms. */
const BOUND_MS = scaledMs(10_000);

/** What one replica has in memory of the store, and decides on. */
interface Replica {
  readonly store: Store;
  readonly gate: TokenGate;
  readonly records: RecordReplica;
  readonly warnings: readonly string[];
}

async function openReplica(databaseUrl: string): Promise<Replica> {
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const log: Log = { debug() {}, info() {}, warn, error: warn };
  const store = await openAt({ home: '', databaseUrl }, log);
  const gate = await TokenGate.open({
    store,
    operatorToken: undefined,
    ownToken: mintToken(),
    maxFailures: 10_000,
    log,
  });
  const cache = { recalled: undefined, remember() {}, flush: () => Promise.resolve() };
  const records = new RecordReplica({ open: () => Promise.resolve(ok(store)), cache, log });
  valueOf(await records.ready());
  endLater(() => {
    gate.close();
    return records.close();
  });
  return { store, gate, records, warnings };
}

async function verdict(gate: TokenGate, text: string): Promise<string> {
  const admitted = await gate.admit(`Bearer ${text}`, '10.0.0.1', Date.now());
  return admitted.ok ? 'admitted' : admitted.error.code;
}

/** Adds a token that the replica admits. */
async function addToken(
  admin: Store,
  { gate }: Replica,
): Promise<{ readonly id: string; readonly text: string }> {
  const { id, hash, text } = mintToken();
  valueOf(await admin.addToken(token(id, { hash })));
  expect(await verdict(gate, text)).toBe('admitted');
  return { id, text };
}

/** Revokes a token and changes a record elsewhere, and waits until both count at the replica; returns the time in ms. */
async function revocationMs(
  admin: Store,
  replica: Replica,
  revoked: { id: string; text: string },
): Promise<number> {
  const value = `changed ${Date.now()}`;
  const startMs = performance.now();
  valueOf(await admin.revokeToken(revoked.id, Date.now()));
  valueOf(await saveSetting(admin, 'a', value));
  await until('the revocation and the record are known', async () => {
    const isRevoked = (await verdict(replica.gate, revoked.text)) === 'TOKEN_REQUIRED';
    return isRevoked && replica.records.settings().get('a') === value ? true : undefined;
  });
  return performance.now() - startMs;
}

function untilFollowing({ store }: Replica): Promise<true> {
  return until('notifications arrive', () =>
    store.fault === undefined && (store.heardMs?.() ?? 0) > 0 ? true : undefined,
  );
}

function untilPolling({ store }: Replica, notifications: string): Promise<true> {
  return until('the fault is reported', () => {
    const { fault } = store;
    return fault?.code === 'STORE_NOT_FOLLOWED' && fault.notifications === notifications ? true : undefined;
  });
}

describe('a replica on PostgreSQL', () => {
  let databaseUrl: string;
  let line: PostgresLine;
  let admin: Store;
  beforeEach(async () => {
    databaseUrl = await newDatabase();
    line = await openPostgresLine(databaseUrl);
    admin = await openAt({ home: '', databaseUrl });
  });

  it('learns of a revocation at once while notifications arrive', async () => {
    const replica = await openReplica(line.url);
    await untilFollowing(replica);
    expect(await revocationMs(admin, replica, await addToken(admin, replica))).toBeLessThan(scaledMs(1_000));
    expect(replica.warnings).toEqual([]);
  });

  it('learns within a second what is stopped, also while it has not noticed that its listener is stalled', async () => {
    const replica = await openReplica(line.url);
    await untilFollowing(replica);
    line.stall('listener');
    const startMs = performance.now();
    valueOf(await saveSetting(admin, 'a', 'stopped'));
    await until('the record is known', () =>
      replica.records.settings().get('a') === 'stopped' ? true : undefined,
    );
    expect(performance.now() - startMs).toBeLessThan(scaledMs(1_000));
    expect(replica.warnings).toEqual([]);
  });

  it.each(['stall', 'cut'] as const)(
    'learns of a revocation in time if its listener meets a %s, and follows again afterwards',
    async (fault) => {
      const replica = await openReplica(line.url);
      await untilFollowing(replica);
      const revoked = await addToken(admin, replica);
      line[fault]('listener');
      expect(await revocationMs(admin, replica, revoked)).toBeLessThan(BOUND_MS);
      await until('the fault is reported', () => (replica.store.fault === undefined ? undefined : true));
      expect(replica.warnings[0]).toMatch(/polled, not announced/);
      // Also while it is polling.
      expect(await revocationMs(admin, replica, await addToken(admin, replica))).toBeLessThan(BOUND_MS);
      line.restore();
      await untilFollowing(replica);
      expect(await revocationMs(admin, replica, await addToken(admin, replica))).toBeLessThan(BOUND_MS);
    },
  );

  it('learns of a revocation in time behind a pooler in transaction mode, and reports the fault from its start', async () => {
    const replica = await openReplica(await openPgBouncer(databaseUrl, 'transaction'));
    const revoked = await addToken(admin, replica);
    expect(await revocationMs(admin, replica, revoked)).toBeLessThan(BOUND_MS);
    await untilPolling(replica, 'silent');
    expect(await revocationMs(admin, replica, await addToken(admin, replica))).toBeLessThan(BOUND_MS);
  });

  it('follows behind a pooler in session mode', async () => {
    const replica = await openReplica(await openPgBouncer(databaseUrl, 'session'));
    await untilFollowing(replica);
    expect(await revocationMs(admin, replica, await addToken(admin, replica))).toBeLessThan(scaledMs(1_000));
  });

  it('refuses tokens and decides on no call once the database has not answered for too long, and recovers', async () => {
    const replica = await openReplica(line.url);
    await untilFollowing(replica);
    const revoked = await addToken(admin, replica);
    const kept = await addToken(admin, replica);
    line.stall('all');
    const startMs = performance.now();
    valueOf(await admin.revokeToken(revoked.id, Date.now()));
    expect(await verdict(replica.gate, kept.text)).toBe('admitted');
    await until(
      'the token is refused',
      async () => ((await verdict(replica.gate, revoked.text)) === 'STORE_STALE' ? true : undefined),
      2 * MAX_STALE_MS,
    );
    expect(performance.now() - startMs).toBeLessThan(scaledMs(MAX_STALE_MS + 10_000));
    expect(await verdict(replica.gate, kept.text)).toBe('STORE_STALE');
    await until('records are no longer trusted', () => (replica.records.isFresh ? undefined : true));
    line.restore();
    await until('the token is admitted again', async () =>
      (await verdict(replica.gate, kept.text)) === 'admitted' ? true : undefined,
    );
    expect(await verdict(replica.gate, revoked.text)).toBe('TOKEN_REQUIRED');
    await until('records are trusted again', () => (replica.records.isFresh ? true : undefined));
  });
});

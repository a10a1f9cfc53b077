// Notifications of somebody else with access to the database: they may cause reads, and nothing else.
import { ok } from '@assay-mcp/kit/result';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { TokenGate } from '../../../src/adapters/auth/token-gate.ts';
import { RecordReplica } from '../../../src/gateway/catalog/record-replica.ts';
import type { Store, StorePart } from '../../../src/gateway/ports/store.ts';
import { SILENT } from '../../gateway/listed-server.ts';
import { endLater, until } from '../../../../../test/support/endings.ts';
import { newDatabase } from '../../../../../test/support/postgres.ts';
import { saveSetting, token, valueOf } from '../../../../../test/support/store-values.ts';
import { openAt } from '../../../../../test/support/stores.ts';

const PARTLESS = [
  '',
  ' ',
  'records ',
  'RECORDS',
  'records\ntokens',
  '"records"',
  '{"part":"tokens","key":"x"}',
  'later_part 0123456789ab',
  'constructor x',
  'constructor',
  '__proto__',
  'toString',
  'part_of_a_later_build',
  'echo',
  'echo 00000000-0000-0000-0000-000000000000 1',
  'poll someone',
  '\u{1f388}\u2028',
  'x'.repeat(7_999),
];

/** Another client of the database, which sends these payloads one after the other. */
async function notify(databaseUrl: string, payloads: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const payload of payloads) await client.query('select pg_notify($1, $2)', ['assay', payload]);
  await client.end();
}

function follow(store: Store, listener: (parts: readonly StorePart[]) => unknown): void {
  const remove = store.onChange((parts) => void listener(parts));
  endLater(() => {
    remove();
    return Promise.resolve();
  });
}

async function openFollowing(databaseUrl: string): Promise<Store> {
  const store = await openAt({ home: '', databaseUrl });
  follow(store, () => undefined);
  await until('notifications arrive', () => ((store.heardMs?.() ?? 0) > 0 ? true : undefined));
  return store;
}

describe('a forged notification', () => {
  it('that names no part causes nothing, and those of replicas still arrive', async () => {
    const databaseUrl = await newDatabase();
    const store = await openFollowing(databaseUrl);
    const seen: StorePart[] = [];
    follow(store, (parts) => seen.push(...parts));
    await notify(databaseUrl, PARTLESS);
    valueOf(await saveSetting(await openAt({ home: '', databaseUrl }), 'a', 1));
    await until('the change arrives', () => (seen.includes('records') ? true : undefined));
    expect([...new Set(seen)]).toEqual(['records']);
    expect(store.fault).toBeUndefined();
  });

  it('of a part gives back no revoked token, and takes away none', async () => {
    const databaseUrl = await newDatabase();
    const store = await openFollowing(databaseUrl);
    const gate = await TokenGate.open({
      ...{ store, operatorToken: undefined, ownToken: mintToken(), maxFailures: 1e6, log: SILENT },
    });
    endLater(() => {
      gate.close();
      return Promise.resolve();
    });
    const [kept, revoked] = [mintToken(), mintToken()];
    for (const { id, hash } of [kept, revoked]) valueOf(await store.addToken(token(id, { hash })));
    valueOf(await store.revokeToken(revoked.id, Date.now()));
    let attempts = 0;
    const verdict = async ({ text }: { readonly text: string }): Promise<string> => {
      // One address may fail only so often.
      attempts += 1;
      const admitted = await gate.admit(`Bearer ${text}`, `10.0.0.${String(attempts % 200)}`, Date.now());
      await nextTurn();
      return admitted.ok ? 'admitted' : admitted.error.code;
    };
    await until('both are known', async () =>
      (await verdict(kept)) === 'admitted' && (await verdict(revoked)) === 'TOKEN_REQUIRED'
        ? true
        : undefined,
    );
    const done = new AbortController();
    const forging = notify(
      databaseUrl,
      Array.from({ length: 200 }, () => 'tokens'),
    ).finally(() => done.abort());
    while (!done.signal.aborted) {
      expect(await verdict(revoked)).toBe('TOKEN_REQUIRED');
      expect(await verdict(kept)).toBe('admitted');
    }
    await forging;
  });

  it('of records, sent thousands of times, never causes two reads at once', async () => {
    const databaseUrl = await newDatabase();
    const store = await openFollowing(databaseUrl);
    let running = 0;
    let most = 0;
    let reads = 0;
    const counted: Store = Object.create(store, {
      records: {
        value: async (sinceRevision: number): ReturnType<Store['records']> => {
          reads += 1;
          running += 1;
          most = Math.max(most, running);
          return await store.records(sinceRevision).finally(() => (running -= 1));
        },
      },
      // Private members are reached through the store itself.
      onChange: { value: store.onChange.bind(store) },
      heardMs: { value: store.heardMs },
    }) as Store;
    const cache = { recalled: undefined, remember() {}, flush: () => Promise.resolve() };
    const records = new RecordReplica({ open: () => Promise.resolve(ok(counted)), cache, log: SILENT });
    endLater(() => records.close());
    valueOf(await records.ready());
    await notify(
      databaseUrl,
      Array.from({ length: 2_000 }, () => 'records'),
    );
    valueOf(await saveSetting(store, 'a', 1));
    await until('the last change is known', () => (records.settings().get('a') === 1 ? true : undefined));
    expect(reads).toBeGreaterThan(0);
    expect(most).toBe(1);
  });
});

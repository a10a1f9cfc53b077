import { describe, expect, it } from 'vitest';
import { formatRefusal } from '../../../src/core/sentences.ts';
import { until } from '../../../../../test/support/endings.ts';
import { newDatabase, rowsOf } from '../../../../../test/support/postgres.ts';
import { openAt } from '../../../../../test/support/stores.ts';
import { saveSetting, tryStore, valueOf } from '../../../../../test/support/store-values.ts';

/** Terminates the connections of stores to this database, and returns one row for each. */
const CUT = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'assay' and datname = current_database()`;
const SECRET = 'a-secret-of-the-operator';

describe('a store in PostgreSQL', () => {
  it('keeps its prefixed tables in the first schema of the search path', async () => {
    const url = new URL(await newDatabase());
    await rowsOf(url.href, 'create schema own');
    url.searchParams.set('options', '-c search_path=own,public');
    const place = { home: '', databaseUrl: url.href };
    valueOf(await saveSetting(await openAt(place), 'a', 1));
    const names = await rowsOf(
      url.href,
      "select distinct schemaname from pg_tables where tablename like 'assay\\_%' order by 1",
    );
    expect(names).toEqual([{ schemaname: 'own' }]);
  });

  const unusable: readonly (readonly [what: string, url: string, expected: RegExp])[] = [
    [
      'a port where nothing listens',
      `postgres://me:${SECRET}@127.0.0.1:1/assay`,
      /127\.0\.0\.1:1\/assay.*nothing listens/,
    ],
    ['an unknown host', `postgresql://me:${SECRET}@nowhere.invalid/assay`, /nowhere\.invalid\/assay.*host/],
    ['an invalid port', `postgres://me:${SECRET}@127.0.0.1:99999/assay`, /ASSAY_DATABASE_URL/],
    ['another kind of database', `mysql://me:${SECRET}@127.0.0.1/assay`, /ASSAY_DATABASE_URL.*postgres:\/\//],
    ['a password with a bare %', `postgres://me:${SECRET}%x@127.0.0.1/assay`, /ASSAY_DATABASE_URL.*%25/],
    ['an invalid URL', `postgres://[${SECRET}`, /ASSAY_DATABASE_URL/],
  ];
  it.each(unusable)(
    'is refused for %s, without revealing the password',
    async (_what, databaseUrl, expected) => {
      const opened = await tryStore({ home: '', databaseUrl });
      if (opened.ok) throw new Error('it was opened');
      const sentence = formatRefusal(opened.error);
      expect(sentence).toMatch(expected);
      expect(sentence).not.toContain(SECRET);
    },
  );

  it('is refused for a wrong password and for a missing database', async () => {
    const url = new URL(await newDatabase());
    const nameless = new URL(url);
    nameless.pathname = '/assay_no_such_database';
    url.password = SECRET;
    for (const [databaseUrl, expected] of [
      [url.href, /does not accept/],
      [nameless.href, /the database does not exist/],
    ] as const) {
      const opened = await tryStore({ home: '', databaseUrl });
      expect(opened).toEqual({
        ok: false,
        // A start does not wait for it: it does not mend by itself.
        error: { code: 'STORE_UNAVAILABLE', reason: expect.stringMatching(expected), isLasting: true },
      });
      expect(JSON.stringify(opened)).not.toContain(SECRET);
    }
  });

  it('recovers when its connections are cut', async () => {
    const databaseUrl = await newDatabase();
    const store = await openAt({ home: '', databaseUrl });
    for (let cut = 0; cut < 3; cut++) {
      valueOf(await saveSetting(store, 'a', cut));
      const left = (): Promise<readonly unknown[]> => rowsOf(databaseUrl, CUT);
      await until('its connections are gone', async () => ((await left()).length === 0 ? true : undefined));
      valueOf(await saveSetting(store, 'a', cut));
    }
  });
});

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { computeShortHash } from '@assay-mcp/kit/digest';
import type { Dialect, Trx } from '../../../src/adapters/store/dialect.ts';
import { migrate, type Migration, MIGRATIONS, readVersions } from '../../../src/adapters/store/migrations.ts';
import { SCHEMA_EDITION } from '../../../src/adapters/store/tables.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { findBreakingParts, readSchemaParts, withTables } from '../../../../../test/support/schema.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { type StorePlace, token, tryStore, valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

/** The digest of the tables after each migration. Append one for a new migration; the others never change. */
const DIGESTS: Readonly<Record<string, readonly string[]>> = {
  SQLite: ['9423b5775c3fea64', '87b4365a090ee0ea'],
  PostgreSQL: ['195c9772e61e4a79', 'ccf3b9b7e06c4e06'],
};

const TABLES: Readonly<Record<string, readonly string[]>> = {
  SQLite: ['select name, sql from sqlite_master order by name'],
  PostgreSQL: [
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
      where table_schema = 'public' order by table_name, column_name`,
    "select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname",
  ],
};

/** A migration with this statement, as a later build might append it. */
function later(version: number, ...statements: readonly string[]): Migration {
  return {
    version,
    async apply(trx) {
      for (const statement of statements) await sql.raw(statement).execute(trx);
    },
  };
}

const LAST = MIGRATIONS.length;

describe.each(DATABASES)('the schema in %s', (database, newPlace) => {
  it('has its migrations in order, each of which only adds to the tables before it', async () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, at) => at + 1));
    const place = await newPlace();
    const digests: string[] = [];
    await withTables(place, async (db, dialect) => {
      let before;
      for (const { version } of MIGRATIONS) {
        valueOf(await migrate(db, dialect, MIGRATIONS.slice(0, version)));
        const found = [];
        for (const statement of TABLES[database] ?? []) found.push(await rawRows(place, statement));
        digests.push(computeShortHash(JSON.stringify(found), 16));
        const after = await readSchemaParts(db, dialect);
        if (before !== undefined) expect(findBreakingParts(before, after)).toEqual([]);
        before = after;
      }
    });
    expect(digests).toEqual(DIGESTS[database]);
    // What the first build that followed this rule checks.
    expect(await rawRows(place, 'select version, edition from assay_migrations')).toEqual([
      { version: 1, edition: 3 },
    ]);
    expect(SCHEMA_EDITION).toBe(3);
  });

  const additions = [
    'create table assay_later (id integer not null unique, note text not null)',
    'create index assay_later_index on assay_tokens (created_ms)',
    'alter table assay_tokens add column later text',
    'alter table assay_tokens add column later_count integer not null default 7',
  ];

  it('may have migrations that this build does not know', async () => {
    const place = await newPlace();
    await openAndAdd(place, 'first');
    await withTables(place, async (db, dialect) => {
      const before = await readSchemaParts(db, dialect);
      valueOf(await migrate(db, dialect, [...MIGRATIONS, later(LAST + 1, ...additions)]));
      expect(findBreakingParts(before, await readSchemaParts(db, dialect))).toEqual([]);
    });
    await openAndAdd(place, 'second');
    const columns = 'id, later, later_count';
    expect(await rawRows(place, `select ${columns} from assay_tokens order by id`)).toEqual([
      { id: 'first', later: null, later_count: 7 },
      { id: 'second', later: null, later_count: 7 },
    ]);
    const versions = await withTables(place, readVersions);
    expect([...versions]).toEqual([...MIGRATIONS.map(({ version }) => version), LAST + 1]);
  });

  it('is as before a migration that failed, which the next start applies', async () => {
    const place = await newPlace();
    const failing = later(LAST + 2, 'create table assay_half (id integer)', 'no statement');
    const migrations = [...MIGRATIONS, later(LAST + 1, additions[0] ?? ''), failing];
    await withTables(place, async (db, dialect) => {
      await expect(migrate(db, dialect, migrations)).rejects.toThrow(/syntax error/);
      expect((await readVersions(db, dialect)).size).toBe(LAST + 1);
      expect((await readSchemaParts(db, dialect)).tables).not.toContain('assay_half');
      const repaired = [...migrations.slice(0, -1), later(LAST + 2, 'create table assay_half (id integer)')];
      valueOf(await migrate(db, dialect, repaired));
      valueOf(await migrate(db, dialect, repaired));
      expect((await readVersions(db, dialect)).size).toBe(LAST + 2);
    });
  });

  it.each([
    ['drops a table', 'drop table assay_labels', 'table assay_labels is gone'],
    ['drops a column', 'alter table assay_tokens drop column expires_ms', /assay_tokens: expires_ms.* gone/],
    ['renames a column', 'alter table assay_tokens rename column expires_ms to until', /expires_ms.* gone/],
    ['drops an index', 'drop index assay_call_uses_batch', /assay_call_uses_batch.* gone/],
    ['bounds old rows', 'create unique index one on assay_tokens (hash)', /assay_tokens: .* refuses rows/],
    [
      'bounds removals',
      'create table later (label text references assay_tokens (id))',
      /rules of assay_tokens: .*later.* refuses rows/,
    ],
  ])('has no migration that %s', async (_what, statement, fault) => {
    await withTables(await newPlace(), async (db, dialect) => {
      valueOf(await migrate(db, dialect));
      const faults = await findBreaking(db, dialect, statement);
      expect(faults).toContainEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault));
    });
  });
});

it('the schema has no migration in PostgreSQL that adds a column without a default, or a check', async () => {
  const [, newPlace] = DATABASES[1] ?? [];
  if (newPlace === undefined) throw new Error('no PostgreSQL');
  await withTables(await newPlace(), async (db, dialect) => {
    valueOf(await migrate(db, dialect));
    expect(await findBreaking(db, dialect, 'alter table assay_tokens add column a text not null')).toEqual([
      'columns of assay_tokens: a text NO  refuses rows',
    ]);
    const check = 'alter table assay_labels add constraint a check (label is null)';
    expect(await findBreaking(db, dialect, check)).toEqual([
      expect.stringMatching(/^rules of assay_labels: a CHECK .* refuses rows$/),
    ]);
  });
});

it('the schema is migrated once by processes that start concurrently in PostgreSQL', async () => {
  const [, newPlace] = DATABASES[1] ?? [];
  const place = await newPlace?.();
  if (place === undefined) throw new Error('no PostgreSQL');
  const slow = later(LAST + 1, 'select pg_sleep(0.2)', 'create table assay_later (id integer)');
  const start = (): Promise<unknown> =>
    withTables(place, async (db, dialect) => migrate(db, dialect, [...MIGRATIONS, slow]));
  expect(await Promise.all([start(), start(), start()])).toEqual(
    Array.from({ length: 3 }, () => ({ ok: true, value: undefined })),
  );
});

it('a migration may take longer in PostgreSQL than requests may, but waits for no table for long', async () => {
  const [, newPlace] = DATABASES[1] ?? [];
  const place = await newPlace?.();
  if (place === undefined) throw new Error('no PostgreSQL');
  const read = async (db: Trx): Promise<unknown> =>
    (
      await sql`select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l`.execute(
        db,
      )
    ).rows;
  await withTables(place, async (db, dialect) => {
    let limits: unknown;
    const migration: Migration = {
      version: LAST + 1,
      async apply(trx) {
        limits = await read(trx);
      },
    };
    valueOf(await migrate(db, dialect, [...MIGRATIONS, migration]));
    expect([limits, await read(db)]).toEqual([[{ s: '10min', l: '5s' }], [{ s: '10s', l: '5s' }]]);
  });
});

it('a schema that a user may not migrate is refused with what to do', async () => {
  const [, newPlace] = DATABASES[1] ?? [];
  const place = await newPlace?.();
  if (place?.databaseUrl === undefined) throw new Error('no PostgreSQL');
  const role = `reader_${new URL(place.databaseUrl).pathname.slice(1)}`;
  await rawRows(place, `create role ${role} login password 'x'`);
  try {
    const databaseUrl = place.databaseUrl.replace(/\/\/[^@]*@/, `//${role}:x@`);
    expect(await tryStore({ ...place, databaseUrl })).toEqual({
      ok: false,
      error: {
        code: 'STORE_UNAVAILABLE',
        reason: expect.stringMatching(/the user may not write there\. Each build creates the tables/),
        isLasting: true,
      },
    });
  } finally {
    await rawRows(place, `drop role ${role}`);
  }
});

async function openAndAdd(place: StorePlace, id: string): Promise<void> {
  const store = await openAt(place);
  valueOf(await store.addToken(token(id)));
  await store.close();
}

/** What a statement would break. It is not kept. */
async function findBreaking(db: Trx, dialect: Dialect, statement: string): Promise<readonly string[]> {
  const before = await readSchemaParts(db, dialect);
  let faults: readonly string[] = [];
  const undo = new Error('undo');
  await dialect
    .write(['schema'], async (trx) => {
      await sql.raw(statement).execute(trx);
      faults = findBreakingParts(before, await readSchemaParts(trx, dialect));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return faults;
}

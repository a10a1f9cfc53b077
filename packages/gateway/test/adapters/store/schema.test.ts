import { expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/adapters/store/migrations.ts';
import { SCHEMA_EDITION } from '../../../src/adapters/store/tables.ts';
import { computeShortHash } from '@assay-mcp/kit/digest';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';

/**
 * The digest of the tables of an edition. Until the first release: if the tables change, increase `SCHEMA_EDITION` and
 * replace both. Without a new edition, stores of earlier builds would be taken for current ones.
 */
const EDITION = 3;
const DIGESTS: Readonly<Record<string, string>> = {
  SQLite: '9423b5775c3fea64',
  PostgreSQL: '195c9772e61e4a79',
};

const TABLES: Readonly<Record<string, readonly string[]>> = {
  SQLite: ['select name, sql from sqlite_master order by name'],
  PostgreSQL: [
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
      where table_schema = 'public' order by table_name, column_name`,
    "select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname",
  ],
};

it.each(DATABASES)('the tables in %s are those of this edition', async (name, newPlace) => {
  const place = await newPlace();
  await (await openAt(place)).close();
  const found = [];
  for (const statement of TABLES[name] ?? []) found.push(await rawRows(place, statement));
  expect([SCHEMA_VERSION, SCHEMA_EDITION, computeShortHash(JSON.stringify(found), 16)]).toEqual([
    1,
    EDITION,
    DIGESTS[name],
  ]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { ROOT } from '../../../../../test/support/paths.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';

endAfterEach();

const LISTS: Readonly<Record<string, string>> = {
  SQLite: "select name from sqlite_master where type = 'table'",
  PostgreSQL: "select tablename as name from pg_tables where schemaname = 'public'",
};

it('docs/LIMITS.md names each table of the store, and no other', async () => {
  const names = new Set<string>();
  for (const [database, newPlace] of DATABASES) {
    const place = await newPlace();
    await (await openAt(place)).close();
    const rows = (await rawRows(place, LISTS[database] ?? '')) as readonly { readonly name: string }[];
    for (const { name } of rows) if (!name.startsWith('sqlite_')) names.add(name);
  }
  const page = readFileSync(join(ROOT, 'docs', 'LIMITS.md'), 'utf8');
  const documented = new Set(page.match(/(?<=`)assay_\w+(?=`)/g));
  expect([...documented].toSorted()).toEqual([...names].toSorted());
});

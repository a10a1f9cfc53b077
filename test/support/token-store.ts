import { join } from 'node:path';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { backUpSqlite } from '../../packages/gateway/src/adapters/store/sqlite-backup.ts';
import { tempDir } from './paths.ts';
import { readColumn } from './sqlite.ts';
import { openAt } from './stores.ts';
import { type StorePlace, token, valueOf } from './store-values.ts';

/** A closed store with one token. */
export async function createTokenStore(id: string): Promise<StorePlace> {
  const place = { home: tempDir(), databaseUrl: undefined };
  const store = await openAt(place);
  valueOf(await store.addToken(token(id)));
  await store.close();
  return place;
}

/** Returns the path of a backup of a store with one token. */
export async function createTokenBackup(id: string): Promise<string> {
  const path = join(tempDir(), 'backup.db');
  const { home } = await createTokenStore(id);
  valueOf(await backUpSqlite({ home, path, replaces: false }));
  return path;
}

/** Reads the ids of the tokens from the file of a store, without opening it as one. */
export function readTokenIds(path: string): readonly unknown[] {
  const database = openDatabase(path, { mode: 'read' });
  try {
    return readColumn(database, 'select id from assay_tokens order by id');
  } finally {
    database.close();
  }
}

/** Opens a store and lists the ids of its tokens. */
export async function listTokenIds(place: StorePlace): Promise<readonly string[]> {
  const store = await openAt(place);
  const ids = valueOf(await store.tokens()).map(({ id }) => id);
  await store.close();
  return ids;
}

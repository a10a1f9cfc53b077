import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, type Database, type Bindings } from '@assay-mcp/kit/platform/sqlite';
import { tempDir } from './paths.ts';

/** The first column of all rows. */
export function readColumn(database: Database, sql: string, ...parameters: Bindings): readonly unknown[] {
  return database
    .prepare(sql)
    .all(...parameters)
    .map((row) => Object.values(row as Readonly<Record<string, unknown>>)[0]);
}

/** The bytes of a new database file, or of a copy of one, after these statements. */
export function writeDatabase(sql: string, from: Uint8Array = Buffer.alloc(0)): Buffer {
  return useCopy(from, (database, path) => {
    database.exec(sql);
    return readFileSync(path);
  });
}

/** Opens a copy of a database file, and closes it afterwards. */
export function useCopy<T>(content: Uint8Array, use: (database: Database, path: string) => T): T {
  const path = join(tempDir(), 'copy.db');
  writeFileSync(path, content);
  const database = openDatabase(path, { mode: 'write' });
  try {
    return use(database, path);
  } finally {
    database.close();
  }
}

import { join } from 'node:path';
import { SCHEMA } from '../../src/store/schema.ts';
import { openDatabase, type Database } from '@assay-mcp/kit/platform/sqlite';

/** An empty index with the real schema. */
export function createIndex(directory: string): Database {
  const db = openDatabase(join(directory, 'index.db'), { mode: 'create', allowExtension: true });
  db.exec('PRAGMA synchronous = OFF');
  db.exec(SCHEMA);
  return db;
}

export interface SmallFile {
  readonly repositoryId?: string;
  readonly path: string;
  readonly state?: 'live' | 'staged' | 'superseded';
  readonly chunks: readonly (
    string | { readonly parent: string; readonly symbol: string; readonly content: string }
  )[];
}

/** Returns the ids of the chunks. */
export function putFile(
  db: Database,
  { repositoryId = 'repo', path, state = 'live', chunks }: SmallFile,
): readonly number[] {
  db.prepare(
    `INSERT OR IGNORE INTO repositories (id, path, name, created_at, chunker_version) VALUES (@id, @id, @id, '', 1)`,
  ).run({ id: repositoryId });
  const { lastInsertRowid: fileId } = db
    .prepare(
      `INSERT INTO files (repository_id, path, language, is_test, size, mtime_ms, hash, state)
       VALUES (?, ?, 'text', 0, 0, 0, '', ?)`,
    )
    .run(repositoryId, path, state);
  return chunks.map((chunk, ordinal) => {
    const { parent, symbol, content } =
      typeof chunk === 'string' ? { parent: null, symbol: null, content: chunk } : chunk;
    const { lastInsertRowid } = db
      .prepare(
        `INSERT INTO chunks (file_id, chunk_id, ordinal, kind, symbol, parent, signature, start_line, end_line, content_hash, content)
         VALUES (?, ?, ?, 'block', ?, ?, '', 1, 1, '', ?)`,
      )
      .run(fileId, `${repositoryId}/${path}#${ordinal}`, ordinal, symbol, parent, content);
    return Number(lastInsertRowid);
  });
}

export function deleteFile(db: Database, path: string): void {
  db.prepare('DELETE FROM chunks WHERE file_id IN (SELECT id FROM files WHERE path = ?)').run(path);
  db.prepare('DELETE FROM files WHERE path = ?').run(path);
}

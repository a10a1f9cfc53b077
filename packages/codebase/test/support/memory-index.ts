import { DatabaseSync } from 'node:sqlite';
import { chunkSource } from '../../src/chunks/chunk-source.ts';
import { detectLanguage } from '../../src/chunks/languages.ts';
import { isTestPath } from '../../src/files/test-path.ts';
import { SCHEMA } from '../../src/store/schema.ts';
import { toIndexTerms } from '../../src/terms.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { createHash } from 'node:crypto';

export interface IndexedFile {
  readonly text: string;
  /** Default: `one`. */
  readonly repository?: string;
  /** Default: `live`. */
  readonly state?: 'staged' | 'live' | 'superseded';
}

/** An index in memory of these files, keyed by path. Its chunk ids are `<path>#<ordinal>`. */
export async function memoryIndex(files: Readonly<Record<string, string | IndexedFile>>): Promise<Database> {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA);
  for (const [path, file] of Object.entries(files))
    await addFile(database, path, typeof file === 'string' ? { text: file } : file);
  return database;
}

async function addFile(database: Database, path: string, file: IndexedFile): Promise<void> {
  const { text, repository = 'one', state = 'live' } = file;
  const at = '2026-01-02T03:04:05.000Z';
  database
    .prepare(
      `INSERT INTO repositories (id, path, name, created_at, indexed_at, chunker_version)
       VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`,
    )
    .run(repository, `/${repository}`, repository, at, at);
  const language = detectLanguage(path, text);
  const { lastInsertRowid: fileId } = database
    .prepare(
      `INSERT INTO files (repository_id, path, language, is_test, size, mtime_ms, hash, state)
       VALUES (?, ?, ?, ?, ?, 0, '', ?)`,
    )
    .run(repository, path, language, Number(isTestPath(path)), text.length, state);
  const addChunk = database.prepare(
    `INSERT INTO chunks (file_id, chunk_id, ordinal, kind, symbol, parent, signature, start_line, end_line, content_hash, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const addTerms = database.prepare(
    'INSERT INTO chunk_terms (rowid, name, context, signature, body) VALUES (?, ?, ?, ?, ?)',
  );
  const { chunks } = await chunkSource({ text, language });
  chunks.forEach((chunk, ordinal) => {
    const { kind, symbol, parent, signature, startLine, endLine, content } = chunk;
    const hash = createHash('sha256').update(content).digest('hex');
    const row = [
      fileId,
      `${path}#${ordinal}`,
      ordinal,
      kind,
      symbol,
      parent,
      signature,
      startLine,
      endLine,
      hash,
      content,
    ];
    const { lastInsertRowid: id } = addChunk.run(...row);
    const terms = toIndexTerms(chunk, path);
    addTerms.run(id, terms.name, terms.context, terms.signature, terms.body);
  });
}

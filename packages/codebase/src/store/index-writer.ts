import { inTransaction, type Database, type Statement } from '@assay-mcp/kit/platform/sqlite';
import type { Language, SourceChunk } from '../source-chunk.ts';
import type { IndexTerms } from '../terms.ts';
import { deleteSomeFiles, mergeTerms } from './delete-files.ts';
import { computeChunkIds } from './identifiers.ts';
import { enterWal } from './index-file.ts';

export interface RepositoryRow {
  readonly id: string;
  /** The real path. */
  readonly path: string;
  readonly name: string;
}

/** Shows without reading a file that it is unchanged: see `file-stamp.ts`. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number | null;
}

/** A file as stored by an earlier run. */
export interface StoredFile extends FileStamp {
  readonly id: number;
  readonly path: string;
  readonly hash: string;
  readonly state: 'staged' | 'live';
  readonly chunkCount: number;
}

export interface ChunkedFile {
  readonly path: string;
  readonly stamp: FileStamp;
  readonly hash: string;
  readonly language: Language;
  readonly isTest: boolean;
  readonly chunks: readonly SourceChunk[];
  /** One for each chunk. */
  readonly terms: readonly IndexTerms[];
}

/** Changes that a run makes visible at its end, besides its staged files. */
export interface Outcome {
  /** Ids of indexed files that the repository does not have any more. */
  readonly goneIds: readonly number[];
  /** New stamps of files whose content is unchanged. */
  readonly restamped: ReadonlyMap<number, FileStamp>;
  readonly chunkerVersion: number;
  readonly endedAt: string;
  readonly lastRun: string;
}

/**
 * Writes one repository's part of an index. The caller controls transactions, except in `flip` and `deleteSuperseded`.
 */
export class IndexWriter {
  readonly #database: Database;
  readonly #repository: RepositoryRow;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database, repository: RepositoryRow) {
    this.#database = database;
    this.#repository = repository;
  }

  /** The version of the chunker that wrote the repository's files; undefined for a new repository. */
  chunkerVersion(): number | undefined {
    const sql = 'SELECT chunker_version AS version FROM repositories WHERE id = ?';
    const row = this.#prepare(sql).get(this.#repository.id) as { version: number } | undefined;
    return row?.version;
  }

  storedFiles(): IterableIterator<StoredFile> {
    return this.#prepare(
      `SELECT id, path, size, mtime_ms AS mtimeMs, ctime_ms AS ctimeMs, hash, state, chunk_count AS chunkCount
       FROM files WHERE repository_id = ? AND state IN ('staged', 'live')`,
    ).iterate(this.#repository.id) as IterableIterator<StoredFile>;
  }

  /** Prepares the database for writing. Call it before the first transaction. */
  start(now: string, chunkerVersion: number): void {
    enterWal(this.#database);
    const { id, path, name } = this.#repository;
    this.#prepare(
      `INSERT INTO repositories (id, path, name, created_at, chunker_version) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    ).run(id, path, name, now, chunkerVersion);
  }

  begin(): void {
    this.#database.exec('BEGIN IMMEDIATE');
  }

  commit(): void {
    if (this.#database.isTransaction) this.#database.exec('COMMIT');
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }

  /** Stores a file so that only the next `flip` makes it visible. */
  stage({ path, stamp, hash, language, isTest, chunks, terms }: ChunkedFile): void {
    const { lastInsertRowid: fileId } = this.#prepare(
      `INSERT INTO files (repository_id, path, language, is_test, size, mtime_ms, ctime_ms, hash, state, chunk_count)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'staged', ?)`,
    ).run(
      this.#repository.id,
      path,
      language,
      Number(isTest),
      stamp.size,
      stamp.mtimeMs,
      stamp.ctimeMs,
      hash,
      chunks.length,
    );
    const insertChunk = this.#prepare(
      `INSERT INTO chunks (file_id, chunk_id, ordinal, kind, symbol, parent, signature, start_line, end_line, content_hash, content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const insertTerms = this.#prepare(
      'INSERT INTO chunk_terms (rowid, name, context, signature, body) VALUES (?, ?, ?, ?, ?)',
    );
    const ids = computeChunkIds(this.#repository.path, path, chunks);
    for (const [ordinal, chunk] of chunks.entries()) {
      const chunkId = ids[ordinal];
      const chunkTerms = terms[ordinal];
      if (chunkId === undefined || chunkTerms === undefined) throw new Error('A chunk has no terms.');
      const { kind, symbol, parent, signature, startLine, endLine, content } = chunk;
      const { lastInsertRowid: rowId } = insertChunk.run(
        fileId,
        chunkId.id,
        ordinal,
        kind,
        symbol,
        parent,
        signature,
        startLine,
        endLine,
        chunkId.contentHash,
        content,
      );
      insertTerms.run(rowId, chunkTerms.name, chunkTerms.context, chunkTerms.signature, chunkTerms.body);
    }
  }

  /** Deletes files staged by an earlier run. */
  discard(fileIds: Iterable<number>): void {
    const update = this.#prepare("UPDATE files SET state = 'superseded' WHERE id = ?");
    for (const id of fileIds) update.run(id);
  }

  /** Makes all staged files visible, instead of the files that they replace, in one transaction. */
  flip({ goneIds, restamped, chunkerVersion, endedAt, lastRun }: Outcome): void {
    const { id } = this.#repository;
    inTransaction(this.#database, () => {
      this.discard(goneIds);
      this.#prepare(
        `UPDATE files SET state = 'superseded' WHERE repository_id = @id AND state = 'live'
         AND path IN (SELECT path FROM files WHERE repository_id = @id AND state = 'staged')`,
      ).run({ id });
      this.#prepare("UPDATE files SET state = 'live' WHERE repository_id = ? AND state = 'staged'").run(id);
      const restamp = this.#prepare('UPDATE files SET size = ?, mtime_ms = ?, ctime_ms = ? WHERE id = ?');
      for (const [fileId, { size, mtimeMs, ctimeMs }] of restamped)
        restamp.run(size, mtimeMs, ctimeMs, fileId);
      this.#prepare(
        'UPDATE repositories SET indexed_at = ?, chunker_version = ?, last_run = ? WHERE id = ?',
      ).run(endedAt, chunkerVersion, lastRun, id);
    });
  }

  /** Deletes some superseded rows of any repository. Returns whether there are more. */
  deleteSuperseded(): boolean {
    if (this.#prepare("SELECT 1 FROM files WHERE state = 'superseded' LIMIT 1").get() === undefined)
      return false;
    enterWal(this.#database);
    return deleteSomeFiles(this.#database, 'superseded');
  }

  /** Frees the space of what was deleted, in steps. Returns whether there may be more to do. */
  mergeTerms(): boolean {
    return mergeTerms(this.#database);
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

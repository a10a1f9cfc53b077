/** Increased with every change of the tables: an older index is rebuilt, a newer one is refused. */
export const SCHEMA_VERSION = 2;

/**
 * Distinguishes our files from other SQLite databases ("ASCB", https://sqlite.org/pragma.html#pragma_application_id).
 */
export const APPLICATION_ID = 0x41534342;

/**
 * The tables of one project's index.
 *
 * A run writes changed files as `staged`, invisible to searches, and makes all of them `live` in one transaction at its
 * end, which also turns the rows that they replace into `superseded`. Those are deleted afterwards. Searches read `live`
 * files only, so an interrupted run leaves the former index as it was, and the next run takes over what it staged.
 *
 * `repositories.indexed_at` is null until a run has completed. `last_run` is JSON, see `run-record.ts`.
 *
 * `files.ctime_ms` is null if the file had just changed when it was read: a further change might then not have
 * changed the time, so the next run compares the hash (see `file-stamp.ts`).
 *
 * The row id of `chunk_terms` is `chunks.id`. Its columns hold the terms of `terms.ts`, not the text.
 */
export const SCHEMA: string = `
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
CREATE TABLE repositories (
  id TEXT PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  indexed_at TEXT,
  chunker_version INTEGER NOT NULL,
  last_run TEXT
) STRICT;
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  repository_id TEXT NOT NULL REFERENCES repositories (id),
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  is_test INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime_ms REAL NOT NULL,
  hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('staged', 'live', 'superseded')),
  ctime_ms REAL,
  chunk_count INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX files_live ON files (repository_id, path) WHERE state = 'live';
CREATE UNIQUE INDEX files_staged ON files (repository_id, path) WHERE state = 'staged';
CREATE INDEX files_superseded ON files (id) WHERE state = 'superseded';
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES files (id),
  chunk_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  symbol TEXT,
  parent TEXT,
  signature TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_of_file ON chunks (file_id, ordinal);
CREATE INDEX chunks_by_chunk_id ON chunks (chunk_id);
CREATE VIRTUAL TABLE chunk_terms USING fts5 (
  name, context, signature, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (chunk_terms, 'row');
`;

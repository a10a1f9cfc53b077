import type { Database, Statement } from '@assay-mcp/kit/platform/sqlite';
import { buildFilterConditions, type FileFilter } from '../file-filter.ts';
import type { FileQuery } from './parse-query.ts';
import type { ChunkKind, Language } from '../source-chunk.ts';

/** The facts that a chunk is ranked by. Texts are read only for returned chunks. */
export interface Candidate {
  /** `chunks.id`. */
  readonly id: number;
  readonly fileId: number;
  readonly ordinal: number;
  readonly chunkId: string;
  readonly path: string;
  readonly language: Language;
  readonly isTest: boolean;
  readonly kind: ChunkKind;
  readonly symbol: string | null;
  readonly parent: string | null;
  readonly startLine: number;
  readonly endLine: number;
  readonly contentHash: string;
  /** BM25, larger is better; 0 for a candidate that was not found by its terms. */
  readonly bm25: number;
}

export interface ChunkContent {
  /** `chunks.id`. */
  readonly id: number;
  readonly content: string;
}

/**
 * A name matters more than the path, and the path more than the signature and the body. Chosen with `bench/codesearch`.
 */
const WEIGHTS = 'bm25(5.0, 2.0, 1.0, 1.0)';

/** Of the files that a query names. */
const MAX_FILES = 10;
const MAX_CHUNKS_OF_FILE = 3;

const COLUMNS = `
  c.id AS id, c.file_id AS fileId, c.ordinal AS ordinal, c.chunk_id AS chunkId, c.kind AS kind, c.symbol AS symbol,
  c.parent AS parent, c.start_line AS startLine, c.end_line AS endLine, c.content_hash AS contentHash,
  f.path AS path, f.language AS language, f.is_test AS isTest`;

/** Reads candidates of live files that pass the filter. Caches its statements, so keep it as long as the connection. */
export class Candidates {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** The chunks that match an FTS5 expression, best first. CROSS JOIN keeps the order that FTS5 delivers. */
  ranked(expression: string, filter: FileFilter, limit: number): readonly Candidate[] {
    if (expression === '') return [];
    const { where, params } = buildFilterConditions(filter);
    const sql = `
      SELECT ${COLUMNS}, -t.rank AS bm25 FROM chunk_terms t
      CROSS JOIN chunks c ON c.id = t.rowid CROSS JOIN files f ON f.id = c.file_id
      WHERE t.chunk_terms MATCH @expression AND t.rank MATCH '${WEIGHTS}' AND f.state = 'live' AND ${where}
      ORDER BY t.rank LIMIT @limit`;
    return this.#all(sql, { ...params, expression, limit });
  }

  /** The chunks that match an FTS5 expression, in the order of the index, which costs less. */
  matching(expression: string, filter: FileFilter, limit: number): readonly Candidate[] {
    if (expression === '') return [];
    const { where, params } = buildFilterConditions(filter);
    const sql = `
      SELECT ${COLUMNS}, 0 AS bm25 FROM chunk_terms t
      CROSS JOIN chunks c ON c.id = t.rowid CROSS JOIN files f ON f.id = c.file_id
      WHERE t.chunk_terms MATCH @expression AND f.state = 'live' AND ${where} LIMIT @limit`;
    return this.#all(sql, { ...params, expression, limit });
  }

  /** The chunks that contain a text. Reads the whole index. */
  containing(text: string, filter: FileFilter, limit: number): readonly Candidate[] {
    const { where, params } = buildFilterConditions(filter);
    const sql = `
      SELECT ${COLUMNS}, 0 AS bm25 FROM files f JOIN chunks c ON c.file_id = f.id
      WHERE f.state = 'live' AND ${where} AND instr(c.content, @text) > 0 LIMIT @limit`;
    return this.#all(sql, { ...params, text, limit });
  }

  byIds(ids: readonly number[], filter: FileFilter): readonly Candidate[] {
    const { where, params } = buildFilterConditions(filter);
    const sql = `
      SELECT ${COLUMNS}, 0 AS bm25 FROM chunks c JOIN files f ON f.id = c.file_id
      WHERE c.id IN (SELECT value FROM json_each(@ids)) AND f.state = 'live' AND ${where}`;
    return this.#all(sql, { ...params, ids: JSON.stringify(ids) });
  }

  /**
   * Chunks of the files whose path is, or ends with, this one, shortest path first: those at the line, or else the
   * first of each file. Case counts only if a file matches with it.
   */
  inFiles({ path, line }: FileQuery, filter: FileFilter): readonly Candidate[] {
    const { where, params } = buildFilterConditions(filter);
    const find = (folded: (text: string) => string): readonly { readonly id: number }[] =>
      this.statement(
        `SELECT f.id AS id FROM files f WHERE f.state = 'live' AND ${where}
         AND substr('/' || ${folded('f.path')}, -length(@path) - 1) = '/' || ${folded('@path')}
         ORDER BY length(f.path), f.path LIMIT ${MAX_FILES}`,
      ).all({ ...params, path }) as readonly { readonly id: number }[];
    const exact = find((text) => text);
    const files = exact.length > 0 ? exact : find((text) => `lower(${text})`);
    return files.flatMap(({ id }) =>
      this.#all(
        `SELECT ${COLUMNS}, 0 AS bm25 FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.file_id = @id
         AND (@line IS NULL OR (c.start_line <= @line AND c.end_line >= @line)) ORDER BY c.ordinal LIMIT ${MAX_CHUNKS_OF_FILE}`,
        { id, line: line ?? null },
      ),
    );
  }

  /** The live files that pass the filter, in the order of the index. */
  listFiles(filter: FileFilter): readonly { readonly id: number; readonly size: number }[] {
    const { where, params } = buildFilterConditions(filter);
    const sql = `SELECT f.id AS id, f.size AS size FROM files f WHERE f.state = 'live' AND ${where} ORDER BY f.id`;
    return this.statement(sql).all(params) as readonly { readonly id: number; readonly size: number }[];
  }

  /** The chunks of files, read one by one: those that contain the text, if there is one. */
  contents(fileIds: readonly number[], text: string | undefined): Iterable<ChunkContent> {
    const sql = `
      SELECT id, content FROM chunks
      WHERE file_id IN (SELECT value FROM json_each(@ids)) AND (@text IS NULL OR instr(content, @text) > 0)`;
    const params = { ids: JSON.stringify(fileIds), text: text ?? null };
    return this.statement(sql).iterate(params) as Iterable<unknown> as Iterable<ChunkContent>;
  }

  countFiles(filter: FileFilter): number {
    const { where, params } = buildFilterConditions(filter);
    const sql = `SELECT count(*) AS count FROM files f WHERE f.state = 'live' AND ${where}`;
    return (this.statement(sql).get(params) as { readonly count: number }).count;
  }

  /** Whether a symbol of the index has this word. */
  isInName(word: string): boolean {
    const sql = 'SELECT 1 FROM chunk_terms WHERE chunk_terms MATCH ? LIMIT 1';
    return this.statement(sql).get(`name : ${quoteTerm(word)}`) !== undefined;
  }

  contentOf(id: number): string {
    const row = this.statement('SELECT content FROM chunks WHERE id = ?').get(id);
    return (row as { readonly content: string } | undefined)?.content ?? '';
  }

  statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #all(sql: string, params: Readonly<Record<string, string | number | null>>): readonly Candidate[] {
    const rows = this.statement(sql).all(params) as readonly (Omit<Candidate, 'isTest'> & {
      isTest: 0 | 1;
    })[];
    return rows.map((row) => ({ ...row, isTest: row.isTest === 1 }));
  }
}

const prepared = new WeakMap<Database, Candidates>();

export function getCandidates(database: Database): Candidates {
  const known = prepared.get(database) ?? new Candidates(database);
  prepared.set(database, known);
  return known;
}

/** An FTS5 string: nothing in it is an operator. */
export function quoteTerm(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}

export function joinWithOr(terms: readonly string[]): string {
  return terms.map(quoteTerm).join(' OR ');
}

export function joinWithAnd(terms: readonly string[]): string {
  return terms.map(quoteTerm).join(' AND ');
}

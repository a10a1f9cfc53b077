import { findDeclaredNames } from '../declared-names.ts';
import { buildFilterConditions, type FileFilter } from '../file-filter.ts';
import { quoteTerm, type Candidates } from '../search/candidates.ts';
import { isVendored } from '../search/path-factor.ts';
import type { ChunkKind, Language } from '../source-chunk.ts';
import { listIndexedTerms, toCompoundTerm } from '../terms.ts';
import { withoutSigns } from './symbol-name.ts';
import { findOccurrences, type Occurrence } from './occurrences.ts';

/** A line that uses a name, and the function or class that it is in. */
export interface Use extends Occurrence {
  readonly within: string | null;
}

/** The uses of a name in one file. */
export interface FileUses {
  readonly fileId: number;
  readonly path: string;
  readonly isTest: boolean;
  /** In the order of the file, at most `MAX_USES_OF_FILE`. */
  readonly uses: readonly Use[];
}

export interface FoundUses {
  /** Likely callers first. */
  readonly files: readonly FileUses[];
  /** False if there may be more. */
  readonly isComplete: boolean;
  /** Ids of other chunks with a line that looks like a definition, such as a method of a class within another. */
  readonly declaringChunks: readonly number[];
}

export interface UseQuery {
  /** As it is spelled in code. */
  readonly name: string;
  /** The class or module of the symbol: files that mention it come first. */
  readonly owner: string | undefined;
  readonly language: Language | undefined;
  /** Whether it is a method, which most languages call on something. */
  readonly isMethod: boolean;
  /** `chunks.id` of the chunks that are, or declare, a symbol with this name. */
  readonly definingChunks: ReadonlySet<number>;
}

/** Limits of what one call reads from the index. */
const MAX_CHUNKS = 3_000;
const MAX_CHARACTERS = 8_000_000;
const MAX_USES_OF_FILE = 200;
const MAX_DECLARING_CHUNKS = 20;
const MAX_FILES_WITH_OWNER = 20_000;

interface ChunkRow {
  readonly id: number;
  readonly fileId: number;
  readonly path: string;
  readonly language: Language;
  readonly isTest: 0 | 1;
  readonly kind: ChunkKind;
  readonly symbol: string | null;
  readonly parent: string | null;
  readonly startLine: number;
  readonly content: string;
}

/** Finds a name as a whole word in the code of the index. It cannot tell apart symbols with the same name. */
export function findUses(candidates: Candidates, filter: FileFilter, query: UseQuery): FoundUses {
  const files = new Map<number, FileUses & { readonly language: Language; readonly uses: Use[] }>();
  const withOwner = findFilesWith(candidates, filter, query.owner);
  const declaringChunks: number[] = [];
  let characters = 0;
  let count = 0;
  for (const chunk of readChunks(candidates, filter, query.name)) {
    characters += chunk.content.length;
    count += 1;
    if (characters > MAX_CHARACTERS || count > MAX_CHUNKS) break;
    if (isDocument(chunk)) continue;
    const found = usesIn(chunk, query);
    if (declaringChunks.length < MAX_DECLARING_CHUNKS && found.some(({ text }) => declares(text, query.name)))
      declaringChunks.push(chunk.id);
    const uses = found.filter(
      ({ isMember }) => isMember || !query.isMethod || IMPLICIT_RECEIVER.has(chunk.language),
    );
    if (uses.length === 0) continue;
    const { fileId, path, isTest, language } = chunk;
    const file = files.get(fileId) ?? { fileId, path, isTest: isTest === 1, language, uses: [] };
    files.set(fileId, file);
    if (file.uses.length < MAX_USES_OF_FILE) file.uses.push(...uses);
  }
  const family = familyOf(query.language);
  const rankOf = ({ fileId, path, language }: FileUses & { readonly language: Language }): number =>
    (withOwner?.has(fileId) === false ? 4 : 0) +
    (family !== undefined && familyOf(language) !== family ? 2 : 0) +
    (isVendored(path) ? 1 : 0);
  const ranked = [...files.values()].sort(
    (one, other) =>
      rankOf(one) - rankOf(other) ||
      countCalls(other) - countCalls(one) ||
      other.uses.length - one.uses.length ||
      (one.path < other.path ? -1 : 1),
  );
  return { files: ranked, isComplete: characters <= MAX_CHARACTERS && count <= MAX_CHUNKS, declaringChunks };
}

function countCalls({ uses }: FileUses): number {
  return uses.filter(({ isCall }) => isCall).length;
}

/** C and C++ share headers; TypeScript and JavaScript import each other. */
function familyOf(language: Language | undefined): string | undefined {
  return language === undefined ? undefined : (FAMILIES[language] ?? language);
}

const FAMILIES: Readonly<Partial<Record<Language, string>>> = {
  c: 'cpp',
  javascript: 'typescript',
  tsx: 'typescript',
};

/** Prose mentions names, but uses none. */
export function isDocument({ language, path }: Pick<ChunkRow, 'language' | 'path'>): boolean {
  return language === 'text' && DOCUMENT.test(path);
}

const DOCUMENT =
  /[.](?:md|mdx|markdown|rst|adoc|txt|html?|svg)$|(?:^|\/)(?:licen[cs]e|copying|authors|readme|change(?:s|log)|news|history)[^/]*$/i;

/** Whatever its indentation. */
function declares(text: string, name: string): boolean {
  return findDeclaredNames('block', text).includes(withoutSigns(name));
}

function usesIn(chunk: ChunkRow, { name, definingChunks }: UseQuery): readonly Use[] {
  const { id, language, startLine, content, symbol, parent } = chunk;
  const found = findOccurrences(content, { name, language, startLine });
  const within = formatPath(parent, symbol);
  const uses = found.map((one) => ({ ...one, within }));
  if (!definingChunks.has(id) || symbol === null) return uses;
  // The first line with the name declares the chunk itself.
  const [first] = found;
  if (symbol === name) return uses.filter(({ line }) => line !== first?.line);
  const lines = content.split('\n');
  return uses.filter(({ line }) => !findDeclaredNames('block', lines[line - startLine] ?? '').includes(name));
}

/** Languages whose methods call each other by their names alone. */
const IMPLICIT_RECEIVER: ReadonlySet<Language> = new Set(['c', 'cpp', 'csharp', 'java', 'ruby']);

/** Functions without a name are called `default` in the index. */
function formatPath(parent: string | null, symbol: string | null): string | null {
  const names = [...(parent ?? '').split('.'), symbol ?? ''];
  return names.filter((name) => name !== '' && name !== 'default').join('.') || null;
}

const COLUMNS = `
  c.id AS id, c.file_id AS fileId, c.kind AS kind, c.symbol AS symbol, c.parent AS parent,
  c.start_line AS startLine, c.content AS content, f.path AS path, f.language AS language, f.is_test AS isTest`;

function readChunks(candidates: Candidates, filter: FileFilter, name: string): Iterable<ChunkRow> {
  const { where, params } = buildFilterConditions(filter);
  const term = toCompoundTerm(name);
  if (listIndexedTerms(name).includes(term))
    return candidates
      .statement(
        `SELECT ${COLUMNS} FROM chunk_terms t CROSS JOIN chunks c ON c.id = t.rowid
         CROSS JOIN files f ON f.id = c.file_id
         WHERE t.chunk_terms MATCH @expression AND f.state = 'live' AND ${where}`,
      )
      .iterate({ ...params, expression: `body : ${quoteTerm(term)}` }) as Iterable<ChunkRow>;
  // A name that the index has no term for, such as one letter or a keyword of another language.
  return candidates
    .statement(
      `SELECT ${COLUMNS} FROM files f JOIN chunks c ON c.file_id = f.id
       WHERE f.state = 'live' AND ${where} AND instr(c.content, @name) > 0`,
    )
    .iterate({ ...params, name }) as Iterable<ChunkRow>;
}

/** The ids of files that mention the class or module. Undefined if there is none, or if nearly every file does. */
function findFilesWith(
  candidates: Candidates,
  filter: FileFilter,
  owner: string | undefined,
): ReadonlySet<number> | undefined {
  const term = owner === undefined ? '' : toCompoundTerm(owner);
  if (!listIndexedTerms(owner ?? '').includes(term)) return undefined;
  const { where, params } = buildFilterConditions(filter);
  const rows = candidates
    .statement(
      `SELECT DISTINCT c.file_id AS id FROM chunk_terms t CROSS JOIN chunks c ON c.id = t.rowid
       CROSS JOIN files f ON f.id = c.file_id
       WHERE t.chunk_terms MATCH @expression AND f.state = 'live' AND ${where} LIMIT ${MAX_FILES_WITH_OWNER}`,
    )
    .all({ ...params, expression: `{context body} : ${quoteTerm(term)}` }) as readonly { id: number }[];
  return rows.length >= MAX_FILES_WITH_OWNER ? undefined : new Set(rows.map(({ id }) => id));
}

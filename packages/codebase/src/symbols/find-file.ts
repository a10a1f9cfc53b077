import { isAbsolute, join, relative, sep } from 'node:path';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Fault } from '../fault.ts';
import type { FileFilter } from '../file-filter.ts';
import { IgnoreRules } from '../files/ignore-rules.ts';
import { readBytes, readEntry } from '../files/read-source.ts';
import { type Candidates, getCandidates } from '../search/candidates.ts';
import { type FileFacts, FileFactsReader } from '../search/file-facts.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** A file of an indexed repository. */
export interface FoundFile {
  readonly absolutePath: string;
  /** Relative to the repository, with `/` between its parts. */
  readonly path: string;
  readonly facts: FileFacts;
  readonly isIndexed: boolean;
}

interface Repository {
  readonly id: string;
  readonly root: string;
}

/**
 * The file with a path that is absolute, relative to the root of a repository, or the end of an indexed path. Errors:
 * NOT_FOUND, VALIDATION_ERROR if several files match.
 */
export function findFile(
  database: Database,
  given: string,
  filter: Pick<FileFilter, 'repositoryId' | 'repositoryIds'>,
): Result<FoundFile, Fault> {
  const candidates = getCandidates(database);
  const repositories = listRepositories(candidates, filter);
  const place = resolveAbsolute(given, repositories);
  if (place === undefined) return err(outsideFault(given));
  const { path, repository } = place;
  const within = repository === undefined ? filter : { repositoryId: repository.id };
  const facts = new FileFactsReader(candidates);
  const matching = findIndexed(candidates, path, within);
  const [first, ...others] = pickExact(matching, path);
  if (first !== undefined && (others.length === 0 || isAbsolute(given)))
    return ok({
      ...{ absolutePath: join(first.root, first.path), path: first.path, isIndexed: true },
      facts: facts.of(first.id),
    });
  if (first !== undefined) return err(ambiguousFault(given, [first, ...others], facts));
  const present = (repository === undefined ? repositories : [repository]).filter(
    ({ root }) => path !== '' && readEntry(join(root, path))?.isFile() === true,
  );
  const [only] = present;
  if (only !== undefined && present.length === 1) return findUnindexed(only, path);
  return err(unknownFault(given, findIndexed(candidates, path.split('/').at(-1) ?? '', within)));
}

interface IndexedFile {
  readonly id: number;
  readonly path: string;
  readonly root: string;
}

function listRepositories(
  candidates: Candidates,
  { repositoryId, repositoryIds }: FileFilter,
): readonly Repository[] {
  const all = candidates
    .statement('SELECT id, path AS root FROM repositories WHERE indexed_at IS NOT NULL')
    .all() as readonly Repository[];
  return all.filter(
    ({ id }) =>
      (repositoryId === undefined || id === repositoryId) &&
      (repositoryIds === undefined || repositoryIds.includes(id)),
  );
}

/** The path in its repository. Undefined for an absolute path in none, and for one that leads out of its repository. */
function resolveAbsolute(
  given: string,
  repositories: readonly Repository[],
): { readonly path: string; readonly repository?: Repository } | undefined {
  if (!isAbsolute(given)) {
    const names = given.split(/[\\/]/).filter((name) => name !== '' && name !== '.');
    return names.includes('..') ? undefined : { path: names.join('/') };
  }
  const [repository] = repositories
    .filter(({ root }) => isInside(given, root))
    .sort((one, other) => other.root.length - one.root.length);
  if (repository === undefined) return undefined;
  return { repository, path: relative(repository.root, given).replaceAll(sep, '/') };
}

function findIndexed(candidates: Candidates, path: string, filter: FileFilter): readonly IndexedFile[] {
  if (path === '') return [];
  const ids = new Set(candidates.inFiles({ path, line: undefined }, filter).map(({ fileId }) => fileId));
  return [...ids].flatMap((id) => {
    const row = candidates
      .statement(
        `SELECT f.path AS path, r.path AS root FROM files f JOIN repositories r ON r.id = f.repository_id
         WHERE f.id = ?`,
      )
      .get(id) as Omit<IndexedFile, 'id'> | undefined;
    return row === undefined ? [] : [{ ...row, id }];
  });
}

function pickExact(files: readonly IndexedFile[], path: string): readonly IndexedFile[] {
  const exact = files.filter((one) => one.path === path);
  return exact.length > 0 ? exact : files;
}

/** A file that is newer than the index, or that git ignores, but not one that the owner of the repository excludes. */
function findUnindexed({ root }: Repository, path: string): Result<FoundFile, Fault> {
  if (isExcluded(root, path))
    return err({
      code: 'ACCESS_DENIED',
      field: 'file_path',
      message: `${JSON.stringify(path)} is left out by a .mcpignore file.`,
      remedy: 'Pass another file.',
    });
  const facts = { repository: undefined, state: undefined };
  return ok({ absolutePath: join(root, path), path, facts, isIndexed: false });
}

const MAX_IGNORE_FILE_BYTES = 512 * 1024;

function isExcluded(root: string, path: string): boolean {
  let rules = IgnoreRules.NONE;
  let directory = '';
  for (const name of path.split('/')) {
    const file = readBytes(join(root, directory, '.mcpignore'), MAX_IGNORE_FILE_BYTES);
    rules = rules.within(directory, { mcpignore: file.ok ? file.bytes.toString() : undefined });
    const inner = `${directory}${name}`;
    if (rules.verdict(inner === path ? path : `${inner}/`).isIgnored) return true;
    directory = `${inner}/`;
  }
  return false;
}

const REMEDY = 'Pass a path relative to the root of an indexed repository, or an absolute path in one.';

function outsideFault(given: string): Fault {
  const message = `${JSON.stringify(given)} is in no indexed repository.`;
  return { code: 'NOT_FOUND', field: 'file_path', message, remedy: REMEDY };
}

function unknownFault(given: string, similar: readonly IndexedFile[]): Fault {
  const paths = similar.map(({ path }) => JSON.stringify(path)).join(', ');
  return {
    code: 'NOT_FOUND',
    field: 'file_path',
    message: `No indexed repository has a file ${JSON.stringify(given)}.`,
    remedy: paths === '' ? REMEDY : `Files with this name: ${paths}.`,
  };
}

function ambiguousFault(given: string, files: readonly IndexedFile[], facts: FileFactsReader): Fault {
  const shown = files.map(({ id, path }) => {
    const { repository } = facts.of(id);
    return JSON.stringify(path) + (repository === undefined ? '' : ` of ${repository}`);
  });
  return {
    code: 'VALIDATION_ERROR',
    field: 'file_path',
    message: `Several files have the path ${JSON.stringify(given)}: ${shown.join(', ')}.`,
    remedy: 'Pass more of the path, an absolute path, or repository_id.',
  };
}

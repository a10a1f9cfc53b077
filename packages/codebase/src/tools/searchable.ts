import { formatCount } from '@assay-mcp/kit/counted';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Codebase } from '../codebase.ts';
import { describeCheckouts } from '../indexing/describe-checkouts.ts';
import type { Fault } from '../fault.ts';
import type { ProjectId } from '../projects/project-id.ts';
import { type Access, type FolderAccess, isInRoots, isProtected } from '../access/folder-access.ts';

export interface Searchable {
  /** Undefined: all repositories of the project. */
  readonly repositoryIds: readonly string[] | undefined;
  /** Sentences about what is not searched. */
  readonly notes: readonly string[];
}

interface SearchableOptions {
  readonly codebase: Codebase;
  readonly access: FolderAccess;
  readonly repositoryId: string | undefined;
  /** The working directory of the session, if it has set one. */
  readonly directory: string | undefined;
}

/** An index may have repositories that another server, or the operator, was allowed to index. */
export async function findSearchable(
  project: ProjectId,
  { codebase, access, repositoryId, directory }: SearchableOptions,
): Promise<Result<Searchable, Fault>> {
  const repositories = codebase.repositories(project);
  if (!repositories.ok) return repositories;
  const now = await access.current();
  const allowed = repositories.value.filter(({ path }) => isOpen(path, now));
  const others = repositories.value.length - allowed.length;
  const notes = describeCheckouts(
    allowed.filter(({ id }) => repositoryId === undefined || id === repositoryId),
    directory,
  );
  if (others === 0) return ok({ repositoryIds: undefined, notes });
  const isOther = repositories.value.some(({ id, path }) => id === repositoryId && !isOpen(path, now));
  if (isOther) return err(access.outsideFault(now, { field: 'repository_id' }));
  if (allowed.length === 0) return err(access.outsideFault(now, {}));
  return ok({
    repositoryIds: allowed.map(({ id }) => id),
    notes: [
      ...notes,
      `Not searched: ${formatCount(others, 'indexed folder')} outside of those that this server may use.`,
    ],
  });
}

/** Whether a repository that was indexed at this path may be searched now. */
export function isOpen(path: string, access: Access): boolean {
  return isInRoots(path, access) && !isProtected(path, access);
}

import { resolve } from 'node:path';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { resolveReal } from './access/folder-access.ts';
import type { ToldRoots } from './access/told-roots.ts';
import type { Codebase } from './codebase.ts';
import type { Fault } from './fault.ts';
import type { ProjectFolders } from './projects/project-folders.ts';
import type { ProjectId } from './projects/project-id.ts';
import { resolveProjectToRead } from './projects/resolve-project.ts';
import type { ToolCall } from './tools/tool.ts';
import { toProjectSources, type ToolDeps } from './tools/tool-deps.ts';

export interface RemoveTarget {
  readonly path: string;
  /** Default: the project of the working directory. */
  readonly project: string | undefined;
}

/** As on the wire. */
export interface Removed {
  readonly project_id: string;
  readonly repository_id: string;
  readonly path: string;
  /** Number of files that left the index. */
  readonly files: number;
  /** Whether servers could use the folder because it was indexed at a terminal, and cannot any more. */
  readonly withdrawn: boolean;
}

interface RemoveDeps extends ToolDeps, ToolCall {
  readonly told: ToldRoots;
}

/**
 * Removes a repository from the index of a project. If no other project has it, servers may not use its folder any more
 * that the operator allowed by indexing it.
 */
export async function removeIndexed(
  { path, project: given }: RemoveTarget,
  { told, signal, report, ...deps }: RemoveDeps,
): Promise<Result<Removed, Fault>> {
  const { codebase, folders } = deps;
  const project = await resolveProjectToRead(given, toProjectSources(deps));
  if (!project.ok) return project;
  const { id } = project.value;
  const paths = [resolve(path), await resolveReal(path)];
  const status = codebase.status(id);
  if (!status.ok) return status;
  const found = status.value?.repositories.find((one) => paths.includes(one.path));
  const others = await findProjectsWith(found === undefined ? paths : [found.path], {
    ...{ codebase, folders },
    except: id,
  });
  if (found === undefined) {
    const known = (status.value?.repositories ?? []).map((one) => one.path);
    return err(notIndexed({ path, id, known, others }));
  }
  const { repository_id, files } = found;
  const removed = await codebase.remove(id, repository_id, { signal, report });
  if (!removed.ok) return removed;
  const isTold = others.length === 0 && (await told.read()).includes(found.path);
  const problem = isTold ? await told.remove(found.path) : undefined;
  if (problem === undefined)
    return ok({ project_id: id, repository_id, path: found.path, files, withdrawn: isTold });
  return err({
    code: 'OPERATION_ERROR',
    message: `The repository is removed, but servers may still use its folder, because the list of folders could not be written: ${problem}.`,
    remedy: 'Fix the cause, and delete its line in codebase-roots.json.',
  });
}

/** The other projects that have a repository at one of these paths. */
async function findProjectsWith(
  paths: readonly string[],
  {
    codebase,
    folders,
    except,
  }: { readonly codebase: Codebase; readonly folders: ProjectFolders; readonly except: ProjectId },
): Promise<readonly ProjectId[]> {
  return (await folders.all()).filter((id) => {
    const repositories = id === except ? undefined : codebase.repositories(id);
    return repositories?.ok === true && repositories.value.some((one) => paths.includes(one.path));
  });
}

const MAX_NAMED = 5;

function notIndexed({
  path,
  id,
  known,
  others,
}: {
  readonly path: string;
  readonly id: ProjectId;
  readonly known: readonly string[];
  readonly others: readonly ProjectId[];
}): Fault {
  const named = known.slice(0, MAX_NAMED).map((one) => JSON.stringify(one));
  const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : '';
  const [other] = others;
  return {
    code: 'NOT_FOUND',
    field: 'repo_path',
    message: `${JSON.stringify(path)} is not indexed in project ${id}.`,
    remedy:
      other !== undefined
        ? `It is in project ${other}: pass --project ${other}.`
        : named.length > 0
          ? `Pass one of its repositories: ${named.join(', ')}${more}.`
          : 'This project has no index.',
  };
}

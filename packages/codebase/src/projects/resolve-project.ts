import { findNearest } from '@assay-mcp/kit/nearest';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isFolder } from '@assay-mcp/kit/platform/files';
import type { FolderAccess } from '../access/folder-access.ts';
import type { Fault } from '../fault.ts';
import type { ProjectConfig, ProjectConfigs } from './project-config.ts';
import type { ProjectFolders } from './project-folders.ts';
import { DEFAULT_PROJECT, PROJECT_ID_RULE, type ProjectId, parseProjectId } from './project-id.ts';

/** A project, and what selected it. */
export interface ResolvedProject {
  readonly id: ProjectId;
  readonly origin: 'project_id' | 'config' | 'default';
}

export interface ProjectSources {
  readonly folders: ProjectFolders;
  readonly configs: ProjectConfigs;
  readonly access: FolderAccess;
  /** The working directory of the session, if it has set one. */
  readonly directory: string | undefined;
}

/**
 * The project to read: the given one, else that of the config file above the session's directory, else the default one.
 * An unknown given id is an error. Creates nothing. Errors: VALIDATION_ERROR, NOT_FOUND.
 */
export async function resolveProjectToRead(
  given: string | undefined,
  sources: ProjectSources,
): Promise<Result<ResolvedProject, Fault>> {
  if (given === undefined) return projectOfDirectory(sources);
  const id = validId(given);
  if (!id.ok) return id;
  const isKnown =
    id.value === DEFAULT_PROJECT ||
    (await sources.folders.exists(id.value)) ||
    configuredId(await configOf(sources)) === id.value;
  return isKnown ? ok({ id: id.value, origin: 'project_id' }) : err(await unknownProject(id.value, sources));
}

/** The project to index into: the same, but a given id need not exist yet. Error: VALIDATION_ERROR. */
export async function resolveProjectToIndex(
  given: string | undefined,
  sources: ProjectSources,
): Promise<Result<ResolvedProject, Fault>> {
  if (given === undefined) return projectOfDirectory(sources);
  const id = validId(given);
  return id.ok ? ok({ id: id.value, origin: 'project_id' }) : id;
}

function validId(given: string): Result<ProjectId, Fault> {
  const id = parseProjectId(given);
  return id === undefined
    ? err({
        code: 'VALIDATION_ERROR',
        field: 'project_id',
        message: 'This is not a valid project id.',
        remedy: `Use ${PROJECT_ID_RULE}, such as "my-app".`,
      })
    : ok(id);
}

/** An invalid config file is an error: its project is unknown, and the default one would be a wrong guess. */
async function projectOfDirectory(sources: ProjectSources): Promise<Result<ResolvedProject, Fault>> {
  const { directory } = sources;
  if (directory !== undefined && !(await isFolder(directory)))
    return err({
      code: 'NOT_FOUND',
      message: `The working directory ${JSON.stringify(directory)} no longer exists.`,
      remedy: 'Call set_working_directory with another one, or pass project_id.',
    });
  const config = await configOf(sources);
  if (config === undefined) return ok({ id: DEFAULT_PROJECT, origin: 'default' });
  const { path, project } = config;
  if (project.ok) return ok({ id: project.value.projectId, origin: 'config' });
  return err({
    code: 'VALIDATION_ERROR',
    message: `The project is unknown, because the config file ${JSON.stringify(path)} is invalid: ${project.error}.`,
    remedy: 'Fix the file, or pass project_id.',
  });
}

async function configOf({ configs, access, directory }: ProjectSources): Promise<ProjectConfig | undefined> {
  return directory === undefined ? undefined : configs.find(directory, await access.current());
}

function configuredId(config: ProjectConfig | undefined): ProjectId | undefined {
  return config?.project.ok === true ? config.project.value.projectId : undefined;
}

const MAX_NAMED = 10;

async function unknownProject(id: ProjectId, { folders }: ProjectSources): Promise<Fault> {
  const all = await folders.all();
  const meant = findNearest(id, all);
  const known =
    meant === undefined ? `Known projects: ${listed(all)}.` : `Did you mean ${JSON.stringify(meant)}?`;
  return {
    code: 'NOT_FOUND',
    field: 'project_id',
    message: `There is no project ${JSON.stringify(id)}.`,
    remedy: `${all.length === 0 ? '' : `${known} `}To create it, call index_repository with this project_id.`,
  };
}

function listed(all: readonly ProjectId[]): string {
  const named = all.slice(0, MAX_NAMED).join(', ');
  return all.length > MAX_NAMED ? `${named} and ${all.length - MAX_NAMED} more` : named;
}

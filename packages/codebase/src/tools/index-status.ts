import { z } from 'zod';
import { formatCount } from '@assay-mcp/kit/counted';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { ok } from '@assay-mcp/kit/result';
import { describeCheckouts } from '../indexing/describe-checkouts.ts';
import type { RepositoryStatus } from '../indexing/index-status.ts';
import { formatLargest } from '../files/skip-reason.ts';
import { getDatabaseName } from '../projects/project-folders.ts';
import type { ProjectId } from '../projects/project-id.ts';
import { resolveProjectToRead } from '../projects/resolve-project.ts';
import { formatWatchState, type WatchState } from '../watch/watch-state.ts';
import { readOtherProcessState } from '../watch/watch-service.ts';
import { createProjectArgument } from './project-argument.ts';
import { isOpen } from './searchable.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';
import { COUNT } from './schemas.ts';
import { toProjectSources, type ToolDeps } from './tool-deps.ts';

interface Input {
  readonly project_id?: string | undefined;
}

const INPUT: z.ZodType<Input> = z.strictObject({
  project_id: createProjectArgument('Default: the project of the working directory, else "default".'),
});

const OUTPUT = z.object({
  project_id: z.string(),
  database_name: z.string(),
  is_indexed: z.boolean(),
  is_running: z.boolean().describe('Whether any process is indexing into this project.'),
  run: z
    .looseObject({ path: z.string(), phase: z.string(), done: COUNT, total: COUNT.optional() })
    .nullable()
    .describe('The run of this process that is under way.'),
  repositories: z.array(
    z.looseObject({
      repository_id: z.string(),
      path: z.string(),
      name: z.string(),
      indexed_at: z.string().nullable(),
      files: COUNT,
      chunks: COUNT,
      is_missing: z.boolean().describe('Whether the repository is no longer at its path.'),
      languages: z.record(z.string(), COUNT).describe('Files by language.'),
      watch: z
        .looseObject({
          state: z
            .enum(['on', 'starting', 'elsewhere', 'off'])
            .describe('on: this process reindexes changed files. elsewhere: another process does.'),
          folders: COUNT.optional().describe('Number of watched folders.'),
          reason: z.string().optional().describe('Why it is off.'),
          message: z.string().optional().describe('What to do about it.'),
        })
        .describe('Whether changed files are reindexed in the background.'),
    }),
  ),
  size_bytes: COUNT,
  projects: z.array(z.string()).describe('All projects that have an index.'),
});

export function createIndexStatusTool(deps: ToolDeps): CodebaseTool {
  return createCodebaseTool<Input>({
    name: 'index_status',
    description:
      'Shows which repositories a project has indexed, when, how many files and chunks there are, and whether a run ' +
      'is under way. It only reads; repeat it as often as you like.',
    annotations: {
      title: 'Show the state of the index',
      // It opens the index read-only.
      readOnlyHint: true,
      // It changes nothing, so there is nothing to destroy.
      destructiveHint: false,
      // It has no side effects.
      idempotentHint: true,
      // The index is a file that other programs write.
      openWorldHint: true,
    },
    input: INPUT,
    output: OUTPUT,
    run: async ({ project_id: given }) => {
      const project = await resolveProjectToRead(given, toProjectSources(deps));
      if (!project.ok) return project;
      const { id } = project.value;
      const status = deps.codebase.status(id);
      if (!status.ok) return status;
      const access = await deps.access.current();
      const { is_running = false, size_bytes = 0 } = status.value ?? {};
      const repositories = (status.value?.repositories ?? [])
        .filter(({ path }) => isOpen(path, access))
        .map((one) => ({ ...one, watch: describeWatch(deps, id, one.path) }));
      const current = status.value?.run;
      const run = current !== undefined && isOpen(current.path, access) ? current : null;
      const is_indexed = repositories.some(({ indexed_at }) => indexed_at !== null);
      const projects = await deps.folders.all();
      const structured = {
        ...{ project_id: id, database_name: getDatabaseName(id), is_indexed, is_running, run },
        ...{ repositories, size_bytes, projects },
      };
      return ok({ structured, text: textOf(id, structured, deps.access.calledAs) });
    },
  });
}

/** Repositories whose skipped files are named. */
const MAX_DESCRIBED = 5;

/** As on the wire. Only reads. */
function describeWatch({ watch, folders }: ToolDeps, project: ProjectId, path: string): ShownWatch {
  const state =
    watch?.stateOf(project, path) ??
    readOtherProcessState(folders, project, path) ??
    ({ state: 'off', reason: 'DISABLED' } as const);
  const message = formatWatchState(state);
  return {
    state: state.state,
    ...(state.state === 'on' && { folders: state.folders }),
    ...(state.state === 'off' && { reason: state.reason }),
    ...(message !== undefined && { message }),
  };
}

type ShownWatch = { readonly state: WatchState['state']; readonly message?: string } & JsonObject;
type ShownRepository = RepositoryStatus & { readonly watch: ShownWatch };

const WATCHED: Readonly<Record<WatchState['state'], string>> = {
  on: ', watched',
  starting: ', about to be watched',
  elsewhere: ', watched by another process',
  off: '',
};

function textOf(
  project: string,
  {
    repositories,
    is_running,
    projects,
  }: {
    readonly repositories: readonly ShownRepository[];
    readonly is_running: boolean;
    readonly projects: readonly string[];
  },
  calledAs: string,
): string {
  return [
    repositories.length === 0
      ? `Project ${project}: nothing is indexed. Call index_repository with the absolute path of a repository.`
      : `Repositories in project ${project}: ${repositories.length}.`,
    ...repositories.map(
      ({ path, indexed_at: at, files, chunks, repository_id: repository, is_missing, watch }) =>
        `${JSON.stringify(path)}: ${formatCount(files, 'file')}, ${formatCount(chunks, 'chunk')}, ` +
        `${at === null ? 'no complete run yet' : `indexed ${at}`}${WATCHED[watch.state]}, repository_id ${repository}` +
        (is_missing
          ? `. It is gone; the operator removes it from the index with \`${calledAs} remove ${JSON.stringify(path)}\`.`
          : '') +
        (is_missing || watch.message === undefined ? '' : `\n${watch.message}`),
    ),
    ...repositories
      .slice(0, MAX_DESCRIBED)
      .flatMap(({ last_run }) => formatLargest(last_run?.skipped_largest)),
    ...describeCheckouts(
      repositories
        .filter(({ is_missing }) => !is_missing)
        .map(({ repository_id: id, path, last_run }) => ({ id, path, head: last_run?.git })),
      undefined,
    ),
    ...(is_running ? ['A run is under way; searches use the former index until it ends.'] : []),
    ...(projects.length === 0 ? [] : [`All projects: ${projects.join(', ')}.`]),
  ].join('\n');
}

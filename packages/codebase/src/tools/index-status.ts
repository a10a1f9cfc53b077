import { z } from 'zod';
import { formatCount } from '@assay-mcp/kit/counted';
import { ok } from '@assay-mcp/kit/result';
import type { RepositoryStatus } from '../indexing/index-status.ts';
import { isOpen } from './searchable.ts';
import { getDatabaseName } from '../projects/project-folders.ts';
import { resolveProjectToRead } from '../projects/resolve-project.ts';
import { createProjectArgument } from './project-argument.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';
import { toProjectSources, type ToolDeps } from './tool-deps.ts';

interface Input {
  readonly project_id?: string | undefined;
}

const INPUT: z.ZodType<Input> = z.strictObject({
  project_id: createProjectArgument('Default: the project of the working directory, else "default".'),
});

const COUNT = z.number().meta({ type: 'integer', minimum: 0 });

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
      languages: z.record(z.string(), COUNT).describe('Files by language.'),
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
      const repositories = (status.value?.repositories ?? []).filter(({ path }) => isOpen(path, access));
      const current = status.value?.run;
      const run = current !== undefined && isOpen(current.path, access) ? current : null;
      const is_indexed = repositories.some(({ indexed_at }) => indexed_at !== null);
      const projects = await deps.folders.all();
      const structured = {
        ...{ project_id: id, database_name: getDatabaseName(id), is_indexed, is_running, run },
        ...{ repositories, size_bytes, projects },
      };
      return ok({ structured, text: textOf(id, structured) });
    },
  });
}

function textOf(
  project: string,
  {
    repositories,
    is_running,
    projects,
  }: {
    readonly repositories: readonly RepositoryStatus[];
    readonly is_running: boolean;
    readonly projects: readonly string[];
  },
): string {
  return [
    repositories.length === 0
      ? `Project ${project}: nothing is indexed. Call index_repository with the absolute path of a repository.`
      : `Repositories in project ${project}: ${repositories.length}.`,
    ...repositories.map(
      ({ path, indexed_at: at, files, chunks, repository_id: repository }) =>
        `${JSON.stringify(path)}: ${formatCount(files, 'file')}, ${formatCount(chunks, 'chunk')}, ` +
        `${at === null ? 'no complete run yet' : `indexed ${at}`}, repository_id ${repository}`,
    ),
    ...(is_running ? ['A run is under way; searches use the former index until it ends.'] : []),
    ...(projects.length === 0 ? [] : [`All projects: ${projects.join(', ')}.`]),
  ].join('\n');
}

import { z } from 'zod';
import { formatCount } from '@assay-mcp/kit/counted';
import { ok } from '@assay-mcp/kit/result';
import { formatLargest } from '../files/skip-reason.ts';
import type { IndexReport } from '../indexing/index-report.ts';
import { getDatabaseName } from '../projects/project-folders.ts';
import { resolveProjectToIndex } from '../projects/resolve-project.ts';
import { resolveAllowedDirectory } from './directory-argument.ts';
import { createProjectArgument } from './project-argument.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';
import { COUNT } from './schemas.ts';
import { toProjectSources, type ToolDeps } from './tool-deps.ts';

interface Input {
  readonly repo_path: string;
  readonly project_id?: string | undefined;
  readonly force_reindex?: boolean | undefined;
}

const INPUT: z.ZodType<Input> = z.strictObject({
  repo_path: z
    .string('It must be a string')
    .max(4_096, 'It must have at most 4096 characters')
    .describe('Absolute path of an existing directory that the operator allows.'),
  project_id: createProjectArgument(
    'The project to index into. It is created if it does not exist. Default: the project of the working directory, else "default".',
  ),
  force_reindex: z
    .boolean('It must be true or false')
    .optional()
    .describe('Read every file again, also unchanged ones. Rarely needed. Default: false.'),
});

const OUTPUT = z.looseObject({
  repository_id: z.string().describe('Pass this to search_code to search only this repository.'),
  files_indexed: COUNT.describe('Files that were new or changed; 0 if nothing changed.'),
  chunks_created: COUNT,
  files_deleted: COUNT.describe('Files that left the index because they are gone or ignored now.'),
  files_total: COUNT.describe('Files in the index now.'),
  skipped: z.record(z.string(), COUNT).describe('Files and directories that were left out, by reason.'),
  skipped_largest: z
    .array(z.looseObject({ path: z.string(), size_bytes: COUNT, reason: z.string() }))
    .describe('The largest files that were left out for their size or content.'),
  duration_seconds: z.number(),
  project_id: z.string(),
  database_name: z.string(),
  status: z.enum(['success', 'partial', 'failed']),
  errors: z.array(z.string()),
});

export function createIndexRepositoryTool(deps: ToolDeps): CodebaseTool {
  return createCodebaseTool<Input>({
    name: 'index_repository',
    description:
      'Indexes a repository, so that search_code can search it. Only new and changed files are read again; deleted ' +
      'ones leave the index. Call it before the first search. Later edits are indexed in the background if index_status says that the ' +
      'repository is watched; otherwise call it again after them. It never writes to the ' +
      'repository, and searches keep using the former index until the new one is complete. Repeating it is safe but ' +
      'not free: each run reads the repository again. Do not run it twice at once for one project.',
    annotations: {
      title: 'Index a repository',
      // It writes files, chunks and terms to the index of a project, and creates the project.
      readOnlyHint: false,
      // The repository is never written to. The rows of the former index stay until those that replace them are
      // complete, so a run that fails or is interrupted loses nothing.
      destructiveHint: false,
      // A repeated call differs: the first indexes all files, the second none, and with force_reindex all again.
      idempotentHint: false,
      // It reads a file system, and may send text to an embedding service, that others change too.
      openWorldHint: true,
    },
    input: INPUT,
    output: OUTPUT,
    run: async ({ repo_path: path, project_id: given, force_reindex: force }, { signal, report }) => {
      const directory = await resolveAllowedDirectory(deps.access, 'repo_path', path);
      if (!directory.ok) return directory;
      const project = await resolveProjectToIndex(given, toProjectSources(deps));
      if (!project.ok) return project;
      const { id } = project.value;
      const { protectedPaths } = await deps.access.current();
      const request = { path: directory.value, protectedPaths, force: force === true, signal, report };
      const indexed = await deps.codebase.index(id, request);
      if (!indexed.ok) return indexed;
      const { files_indexed: files, chunks_created: chunks, status } = indexed.value;
      deps.counters.indexed(files, chunks);
      // From now on it is watched. Its lock is taken before the answer, so that no later call seems to write it.
      await deps.watch?.refresh();
      const structured = { ...indexed.value, project_id: id, database_name: getDatabaseName(id) };
      return ok({ structured, text: textOf(path, id, indexed.value), isError: status === 'failed' });
    },
  });
}

function textOf(path: string, project: string, report: IndexReport): string {
  const { status, files_indexed: files, files_deleted: deleted, files_total: total, errors } = report;
  const what = JSON.stringify(path);
  const begin = {
    success: `Indexed ${what}`,
    partial: `Indexed ${what} in part`,
    failed: `Could not index ${what}`,
  }[status];
  const skipped = Object.entries(report.skipped).map(([reason, count]) => `${count} ${reason}`);
  return [
    `${begin} into project ${project} in ${report.duration_seconds.toFixed(1)} s.`,
    `${formatCount(files, 'file')} new or changed (${formatCount(report.chunks_created, 'chunk')}), ` +
      `${deleted} deleted, ${total} in the index.`,
    ...(skipped.length === 0 ? [] : [`Skipped: ${skipped.join(', ')}.`]),
    ...formatLargest(report.skipped_largest),
    ...errors.slice(0, MAX_ERRORS_SHOWN).map((error) => `Error: ${error}`),
    ...(errors.length > MAX_ERRORS_SHOWN ? [`and ${errors.length - MAX_ERRORS_SHOWN} more errors.`] : []),
    `repository_id: ${report.repository_id}`,
  ].join('\n');
}

const MAX_ERRORS_SHOWN = 10;

import { basename } from 'node:path';
import { z } from 'zod';
import { isSecretFile } from '@assay-mcp/kit/secret-files';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { FolderAccess } from '../access/folder-access.ts';
import type { Fault } from '../fault.ts';
import { getDatabaseName } from '../projects/project-folders.ts';
import { resolveProjectToRead } from '../projects/resolve-project.ts';
import { describeOutline, formatOutline } from '../symbols/describe-outline.ts';
import { parseSymbolName } from '../symbols/symbol-name.ts';
import { createProjectArgument } from './project-argument.ts';
import { COUNT, LINE, createRepositoryArgument, toLatencyMs, toSymbolNameFault } from './schemas.ts';
import { findSearchable } from './searchable.ts';
import { toProjectSources, type ToolDeps } from './tool-deps.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';

interface Input {
  readonly file_path: string;
  readonly project_id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly symbol?: string | undefined;
  readonly limit: number;
}

const LIMIT_RULE = 'It must be a whole number from 1 to 500';

const INPUT: z.ZodType<Input> = z.strictObject({
  file_path: z
    .string('It must be a string')
    .max(4_096, 'It must have at most 4096 characters')
    .refine((text) => text.trim() !== '', 'It must not be blank')
    .refine((text) => !text.includes('\0'), 'It must not contain a NUL character')
    .describe(
      'A file of an indexed repository: relative to its root, as other tools return it, the end of such a path, or absolute.',
    ),
  project_id: createProjectArgument(
    'The project that the file is in. It must exist. Default: the project of the working directory, else "default".',
  ),
  repository_id: createRepositoryArgument(
    'The repository that the file is in, if several have one with this path.',
  ),
  symbol: z
    .string('It must be a string')
    .max(400, 'It must have at most 400 characters')
    .optional()
    .describe('Show only this symbol and its members, such as "Parser".'),
  limit: z
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(500, LIMIT_RULE)
    .default(50)
    .describe('Maximum number of symbols. A higher one also allows a longer answer.'),
});

const OUTPUT = z.looseObject({
  file_path: z.string().describe('Relative to the root of the repository.'),
  repository: z.string().optional().describe('Present if the project has several.'),
  language: z.string().nullable(),
  index_state: z
    .enum(['unchanged', 'stale', 'not_indexed'])
    .describe('How the file compares with the index. The outline is always that of the file now.'),
  symbols: z
    .array(
      z.looseObject({
        kind: z.string(),
        symbol: z.string(),
        parent: z.string().nullable().describe('The symbols around it, joined by ".".'),
        start_line: LINE.describe('One-based, inclusive, with its comments and decorators.'),
        end_line: LINE,
        signature: z.string().optional(),
        members_omitted: COUNT.optional().describe('Symbols in it that are left out.'),
      }),
    )
    .describe('In the order of the file, each before its members.'),
  symbol_count: COUNT,
  truncated: z.boolean().describe('Whether symbols were left out to keep the answer small.'),
  project_id: z.string(),
  database_name: z.string(),
  latency_ms: z.number(),
  notes: z.array(z.string()),
});

export function createOutlineTool(deps: ToolDeps): CodebaseTool {
  return createCodebaseTool<Input>({
    name: 'outline',
    description:
      'Lists the symbols of one source file: functions, classes and their members, types and constants, nested, with ' +
      'kinds, line ranges and signatures. Use it before reading a long file, to read only the lines that matter. ' +
      'It reads the file as it is now, also if it has changed since it was indexed. It is safe to repeat.',
    annotations: {
      title: 'Outline a file',
      // It opens the index read-only, and reads one file. It writes and indexes nothing.
      readOnlyHint: true,
      // It changes nothing, so there is nothing to destroy.
      destructiveHint: false,
      // It has no side effects, and returns the same for the same file.
      idempotentHint: true,
      // The index and the file are written by other programs.
      openWorldHint: true,
    },
    input: INPUT,
    output: OUTPUT,
    run: async ({ file_path: path, project_id, repository_id: repositoryId, symbol: given, limit }) => {
      const startedMs = performance.now();
      const symbol = given === undefined ? undefined : parseSymbolName(given);
      if (given !== undefined && symbol === undefined) return err(toSymbolNameFault(given));
      const project = await resolveProjectToRead(project_id, toProjectSources(deps));
      if (!project.ok) return project;
      const { id } = project.value;
      const within = { ...deps, repositoryId, directory: deps.session.directory };
      const searchable = await findSearchable(id, within);
      if (!searchable.ok) return searchable;
      const { repositoryIds, notes } = searchable.value;
      const file = deps.codebase.findFile(id, path, { repositoryId, repositoryIds });
      if (!file.ok) return file;
      const allowed = await checkAccess(deps.access, file.value.absolutePath);
      if (!allowed.ok) return allowed;
      const outline = await deps.codebase.outline(file.value.absolutePath);
      const described = describeOutline(file.value, outline, { symbol, limit });
      const answer = { ...described, notes: [...notes, ...described.notes] };
      const structured = {
        ...answer,
        project_id: id,
        database_name: getDatabaseName(id),
        latency_ms: toLatencyMs(startedMs),
      };
      return ok({ structured, text: formatOutline(answer) });
    },
  });
}

/** A file need not be indexed, so what indexing leaves out for its name or its place is refused here. */
async function checkAccess(access: FolderAccess, path: string): Promise<Result<string, Fault>> {
  if (isSecretFile(basename(path)))
    return err({
      code: 'ACCESS_DENIED',
      field: 'file_path',
      message: `${JSON.stringify(path)} has the name of a file with keys or credentials.`,
      remedy: 'Pass another file.',
    });
  return access.allowed('file_path', path);
}

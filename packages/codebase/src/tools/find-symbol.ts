import { z } from 'zod';
import { err, ok } from '@assay-mcp/kit/result';
import { getDatabaseName } from '../projects/project-folders.ts';
import { resolveProjectToRead } from '../projects/resolve-project.ts';
import { formatSymbol } from '../symbols/format-symbol.ts';
import { parseSymbolName } from '../symbols/symbol-name.ts';
import { createProjectArgument } from './project-argument.ts';
import { resolveDirectory } from './search-code.ts';
import { COUNT, LINE, createRepositoryArgument, toLatencyMs, toSymbolNameFault } from './schemas.ts';
import { findSearchable } from './searchable.ts';
import { toProjectSources, type ToolDeps } from './tool-deps.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';

interface Input {
  readonly symbol: string;
  readonly project_id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly directory?: string | undefined;
  readonly limit: number;
}

const LIMIT_RULE = 'It must be a whole number from 1 to 50';

const INPUT: z.ZodType<Input> = z.strictObject({
  symbol: z
    .string('It must be a string')
    .max(400, 'It must have at most 400 characters')
    .refine((text) => text.trim() !== '', 'It must not be blank')
    .describe(
      'One name: "parseHeader", "Cart.total", "Cart::total", "http/server.listen", or with its kind: "struct client".',
    ),
  project_id: createProjectArgument(
    'The project to look in. It must exist. Default: the project of the working directory, else "default".',
  ),
  repository_id: createRepositoryArgument(
    'Look only in this repository, by the id that index_repository returned.',
  ),
  directory: z
    .string('It must be a string')
    .min(1, 'It must not be empty')
    .max(1_000, 'It must have at most 1000 characters')
    .optional()
    .describe('Look only below this directory: relative to the root of the repository, or absolute.'),
  limit: z
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(50, LIMIT_RULE)
    .default(10)
    .describe('Maximum number of definitions, of files that use the symbol, and of tests.'),
});

const PLACE = {
  file_path: z.string().describe('Relative to the root of the repository.'),
  repository: z.string().optional().describe('Present if the project has several.'),
  state: z
    .enum(['stale', 'missing'])
    .optional()
    .describe(
      'Present if the file has changed since it was indexed: a definition has the lines of the file now if it is still there, uses those of the index.',
    ),
};

const USES = z.array(
  z.looseObject({
    ...PLACE,
    count: COUNT.describe('Number of lines in this file.'),
    lines: z.array(
      z.looseObject({
        line: LINE,
        text: z.string(),
        within: z.string().optional().describe('The function or class that the line is in.'),
      }),
    ),
  }),
);

const OUTPUT = z.looseObject({
  symbol: z.string().describe('As it is spelled in the code.'),
  definitions: z
    .array(
      z.looseObject({
        ...PLACE,
        start_line: LINE.describe('One-based, inclusive, with its comments and decorators.'),
        end_line: LINE,
        kind: z.string(),
        symbol: z.string(),
        parent: z.string().nullable(),
        signature: z.string().optional(),
        doc: z.string().optional().describe('Its doc comment, shortened.'),
        code: z.string().optional().describe('The first lines of the first definition.'),
        code_start_line: LINE.optional(),
      }),
    )
    .describe('Best first: those outside of tests and of copies of other projects.'),
  uses: USES.describe(
    'Lines of code that have the name as a whole word, by file. They are found by text: a symbol of the same name elsewhere is not told apart.',
  ),
  tests: USES.describe('The same in tests.'),
  definition_count: COUNT,
  use_count: COUNT.describe('Number of lines in all files.'),
  use_file_count: COUNT,
  test_use_count: COUNT,
  test_file_count: COUNT,
  is_complete: z.boolean().describe('False if there are too many uses to count them all.'),
  truncated: z.boolean().describe('Whether something was left out to keep the answer small.'),
  missing: z
    .looseObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why no definition was found, with similar names.'),
  project_id: z.string(),
  database_name: z.string(),
  latency_ms: z.number(),
  notes: z.array(z.string()),
});

export function createFindSymbolTool(deps: ToolDeps): CodebaseTool {
  return createCodebaseTool<Input>({
    name: 'find_symbol',
    description:
      'Shows one function, method, class, type or constant by its name, in one answer: where it is defined, its ' +
      'signature, doc comment and first lines, the lines that use it, and the tests that do, by file with line ' +
      'numbers. Use it instead of a text search when you know the name; an unknown name returns similar ones. ' +
      'It only reads, so it is safe to repeat. For words and questions use search_code.',
    annotations: {
      title: 'Find a symbol',
      // It opens the index read-only, and reads the files that define the symbol. It writes and indexes nothing.
      readOnlyHint: true,
      // It changes nothing, so there is nothing to destroy.
      destructiveHint: false,
      // It has no side effects, and returns the same for the same index and files.
      idempotentHint: true,
      // The index and the files are written by other programs.
      openWorldHint: true,
    },
    input: INPUT,
    output: OUTPUT,
    run: async ({ symbol: given, project_id, limit, ...filters }) => {
      const startedMs = performance.now();
      const symbol = parseSymbolName(given);
      if (symbol === undefined) return err(toSymbolNameFault(given));
      const project = await resolveProjectToRead(project_id, toProjectSources(deps));
      if (!project.ok) return project;
      const { id } = project.value;
      const place = resolveDirectory(id, filters, deps.codebase);
      if (!place.ok) return place;
      const { repositoryId, directory } = place.value;
      const within = { ...deps, repositoryId, directory: deps.session.directory };
      const searchable = await findSearchable(id, within);
      if (!searchable.ok) return searchable;
      const { repositoryIds, notes } = searchable.value;
      const found = await deps.codebase.findSymbol(id, {
        ...{ symbol, limit, repositoryId, repositoryIds, directory },
      });
      if (!found.ok) return found;
      const answer = { ...found.value, notes: [...notes, ...found.value.notes] };
      const structured = {
        ...answer,
        project_id: id,
        database_name: getDatabaseName(id),
        latency_ms: toLatencyMs(startedMs),
      };
      return ok({ structured, text: formatSymbol(answer, id) });
    },
  });
}

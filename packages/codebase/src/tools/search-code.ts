import { z } from 'zod';
import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable } from '@assay-mcp/kit/printable';
import { ok } from '@assay-mcp/kit/result';
import type { CodeAnswer } from '../codebase.ts';
import { getDatabaseName } from '../projects/project-folders.ts';
import { resolveProjectToRead } from '../projects/resolve-project.ts';
import type { SearchResult } from '../search/assemble-results.ts';
import { createProjectArgument } from './project-argument.ts';
import { findSearchable } from './searchable.ts';
import { toProjectSources, type ToolDeps } from './tool-deps.ts';
import { type CodebaseTool, createCodebaseTool } from './tool.ts';

interface Input {
  readonly query: string;
  readonly project_id?: string | undefined;
  readonly repository_id?: string | undefined;
  readonly file_type?: string | undefined;
  readonly directory?: string | undefined;
  readonly limit: number;
}

/** Without the safe-integer bounds that `z.int()` would add to the schema. */
const COUNT = z.number().meta({ type: 'integer', minimum: 0 });
const LINE = z.number().meta({ type: 'integer', minimum: 1 });

const LIMIT_RULE = 'It must be a whole number from 1 to 50';

const INPUT: z.ZodType<Input> = z.strictObject({
  query: z
    .string('It must be a string')
    .max(2_000, 'It must have at most 2000 characters')
    .refine((text) => text.trim() !== '', 'It must not be blank')
    .describe('What to look for: words, an identifier, or a question, such as "where are tokens refreshed".'),
  project_id: createProjectArgument(
    'The project to search. It must exist. Default: the project of the working directory, else "default".',
  ),
  repository_id: z
    .guid('It must be a UUID, as index_repository returns it')
    .optional()
    .describe('Search only this repository, by the id that index_repository returned.'),
  file_type: z
    .string('It must be a string')
    .regex(/^[^.\s/\\][^\s/\\]{0,19}$/, 'It must be an extension of 1 to 20 characters without a leading dot')
    .optional()
    .describe('Search only files with this extension, without its dot, such as "ts".'),
  directory: z
    .string('It must be a string')
    .min(1, 'It must not be empty')
    .max(1_000, 'It must have at most 1000 characters')
    .optional()
    .describe(
      'Search only below this directory, relative to the root of the repository, such as "src/http".',
    ),
  limit: z
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(50, LIMIT_RULE)
    .default(10)
    .describe('Maximum number of results.'),
});

const RESULT = z.looseObject({
  chunk_id: z.string(),
  file_path: z.string().describe('Relative to the root of the repository.'),
  content: z.string(),
  start_line: LINE.describe('One-based, inclusive.'),
  end_line: LINE,
  similarity_score: z
    .number()
    .min(0)
    .max(1)
    .describe('How well it matches. Comparable within one answer, not between queries.'),
  context_before: z.string().describe('Up to 10 lines.'),
  context_after: z.string().describe('Up to 10 lines.'),
  symbol: z.string().nullable(),
  parent: z.string().nullable().describe('The class or module around the symbol.'),
  kind: z.string().describe('Such as function, method, class or block.'),
  language: z.string(),
  match_reason: z.string(),
  content_truncated: z.boolean(),
});

const OUTPUT = z.looseObject({
  results: z.array(RESULT),
  total_count: COUNT.describe('Number of results returned.'),
  project_id: z.string(),
  database_name: z.string(),
  latency_ms: z.number(),
  mode: z.enum(['lexical', 'hybrid']).describe('hybrid: words, and vectors of an embedding service.'),
  truncated: z.boolean().describe('Whether results or lines were left out to keep the answer small.'),
  truncation: z.looseObject({ message: z.string() }).nullable(),
  indexed_at: z.string().nullable().describe('When the oldest repository that was searched was indexed.'),
  notes: z.array(z.string()).describe('What the search could not do.'),
  diagnosis: z
    .looseObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why nothing was found.'),
});

export function createSearchCodeTool(deps: ToolDeps): CodebaseTool {
  return createCodebaseTool<Input>({
    name: 'search_code',
    description:
      'Searches indexed code by words, identifiers or a question, and returns the best matching functions, classes ' +
      'and blocks with their lines. It only reads the index: it is safe to repeat, and several searches may run at ' +
      'once. It never indexes; if the project is not indexed it says so, and index_repository does it.',
    annotations: {
      title: 'Search code',
      // It opens the index read-only. It creates, repairs and indexes nothing, not even on first use.
      readOnlyHint: true,
      // It changes nothing, so there is nothing to destroy.
      destructiveHint: false,
      // It has no side effects, and returns the same for the same index.
      idempotentHint: true,
      // The index is a file that other programs write, and the query may be sent to an embedding service.
      openWorldHint: true,
    },
    input: INPUT,
    output: OUTPUT,
    run: async ({ query, project_id: given, limit, ...filters }, { signal }) => {
      const startedMs = performance.now();
      const project = await resolveProjectToRead(given, toProjectSources(deps));
      if (!project.ok) return project;
      const { id } = project.value;
      const { repository_id: repositoryId, file_type: fileType, directory } = filters;
      const searchable = await findSearchable(id, { ...deps, repositoryId });
      if (!searchable.ok) return searchable;
      const { repositoryIds, notes } = searchable.value;
      const request = { query, limit, repositoryId, repositoryIds, fileType, directory, signal };
      const found = await deps.codebase.search(id, request);
      if (!found.ok) return found;
      const structured = {
        ...found.value,
        notes: [...notes, ...found.value.notes],
        project_id: id,
        database_name: getDatabaseName(id),
        latency_ms: Math.round((performance.now() - startedMs) * 10) / 10,
      };
      return ok({ structured, text: formatSearch(query, id, found.value) });
    },
  });
}

/** The text of a search for models: each result with its location, name and lines. */
function formatSearch(query: string, project: string, answer: CodeAnswer): string {
  const { results, mode, truncation, diagnosis } = answer;
  const found = formatCount(results.length, 'result');
  return [
    `${found} for ${toPrintable(JSON.stringify(query))} in project ${project} (${mode} search).`,
    ...answer.notes,
    ...(diagnosis === null ? [] : [diagnosis.message]),
    ...results.map(resultText),
    ...(truncation === null ? [] : [truncation.message]),
  ].join('\n\n');
}

function resultText(result: SearchResult, index: number): string {
  const { file_path: path, start_line: start, end_line: end, kind, symbol, parent, content } = result;
  const name = [parent, symbol].filter((part) => part !== null).join('.');
  const what = name === '' ? kind : `${kind} ${name}`;
  const score = result.similarity_score.toFixed(2);
  return `${index + 1}. ${toPrintable(path)}:${start}-${end}  ${toPrintable(what)}  (${score})\n${fenced(content)}`;
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

import { isAbsolute, relative, sep } from 'node:path';
import { z } from 'zod';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Fault } from '../fault.ts';
import type { ProjectId } from '../projects/project-id.ts';
import { getDatabaseName } from '../projects/project-folders.ts';
import { resolveProjectToRead } from '../projects/resolve-project.ts';
import { createLineMatcher, type LineMatcher } from '../search/line-matcher.ts';
import { formatFileChunks } from '../search/assemble-results.ts';
import { formatSearch } from '../search/format-search.ts';
import { createProjectArgument } from './project-argument.ts';
import { COUNT, LINE, createRepositoryArgument, toLatencyMs } from './schemas.ts';
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
  readonly context?: number | undefined;
  readonly exact?: boolean | undefined;
  readonly regex?: boolean | undefined;
}

const CONTEXT_RULE = 'It must be a whole number from 0 to 20';
const FLAG_RULE = 'It must be true or false';
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
  repository_id: createRepositoryArgument(
    'Search only this repository, by the id that index_repository returned.',
  ),
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
      'Search only below this directory: relative to the root of the repository, such as "src/http", or absolute.',
    ),
  limit: z
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(50, LIMIT_RULE)
    .default(10)
    .describe('Maximum number of results.'),
  context: z
    .int(CONTEXT_RULE)
    .min(0, CONTEXT_RULE)
    .max(20, CONTEXT_RULE)
    .optional()
    .describe(
      'Return whole chunks with this many lines around them. Default: only the best lines of each chunk.',
    ),
  exact: z
    .boolean(FLAG_RULE)
    .optional()
    .describe('Find the lines that contain the query exactly as it is, with its case and punctuation.'),
  regex: z
    .boolean(FLAG_RULE)
    .optional()
    .describe(
      'Find the lines that match the query as a regular expression of RE2, such as "fetch(User|Order)\\(". (?i) at ' +
        'its start ignores case. It has no look-around and no back references.',
    ),
});

const RESULT = z.looseObject({
  chunk_id: z.string(),
  repository: z.string().optional().describe('Present if the project has several.'),
  state: z
    .enum(['stale', 'missing'])
    .optional()
    .describe('Present if the file has changed since it was indexed.'),
  lines: z
    .array(LINE)
    .optional()
    .describe('The number of each line of content; absent if it is the whole chunk.'),
  file_path: z.string().describe('Relative to the root of the repository.'),
  content: z.string(),
  start_line: LINE.describe('One-based, inclusive.'),
  end_line: LINE,
  similarity_score: z
    .number()
    .min(0)
    .max(1)
    .describe('How well it matches. Comparable within one answer, not between queries.'),
  context_before: z.string().optional().describe('Lines before the chunk, if `context` asked for them.'),
  context_after: z.string().optional(),
  symbol: z.string().nullable(),
  parent: z.string().nullable().describe('The class or module around the symbol.'),
  kind: z.string().describe('Such as function, method, class or block.'),
  language: z.string(),
  match_reason: z.string(),
  content_truncated: z.boolean(),
});

const OUTPUT = z.looseObject({
  results: z.array(RESULT),
  files: z
    .array(
      z.looseObject({
        file_path: z.string(),
        chunks: z.array(z.string()).describe('Its best chunks, such as "12-40 function parseHeader".'),
      }),
    )
    .describe(
      'The files in ranked order, each with up to three chunks; more files than in results if those share some.',
    ),
  total_count: COUNT.describe('Number of results returned.'),
  project_id: z.string(),
  database_name: z.string(),
  latency_ms: z.number(),
  mode: z
    .enum(['lexical', 'hybrid', 'exact', 'regex'])
    .describe('hybrid: words, and vectors of an embedding service.'),
  matches: z
    .looseObject({ lines: COUNT, chunks: COUNT, files: COUNT, is_complete: z.boolean() })
    .optional()
    .describe('With exact or regex: how much matches, also beyond the results.'),
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
      'and blocks by file, with the numbers of their lines. It matches words, not meaning: add to a question the ' +
      'identifiers and synonyms that the code is likely to use, such as "where are tokens refreshed: refreshToken, ' +
      'renew, expires_in". The end of a path, such as "http/server.ts", gives that file. ' +
      'For literal text, as with grep, pass exact: true or regex: true: every line that matches counts, and `matches` says how many there are. It only reads the index: it is safe to repeat, and several searches may run at ' +
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
    run: async ({ query, project_id: given, limit, context, exact, regex, ...filters }, { signal }) => {
      const startedMs = performance.now();
      const matcher = await readMatcher({ query, exact, regex });
      if (!matcher.ok) return matcher;
      const project = await resolveProjectToRead(given, toProjectSources(deps));
      if (!project.ok) return project;
      const { id } = project.value;
      const place = resolveDirectory(id, filters, deps.codebase);
      if (!place.ok) return place;
      const { repositoryId, directory } = place.value;
      const searchable = await findSearchable(id, {
        ...deps,
        repositoryId,
        directory: deps.session.directory,
      });
      if (!searchable.ok) return searchable;
      const { repositoryIds, notes } = searchable.value;
      const reservedBytes = Buffer.byteLength(notes.join());
      const places = { repositoryId, repositoryIds, fileType: filters.file_type, directory };
      const request = { query, limit, context, ...places, reservedBytes, signal };
      const found =
        matcher.value === undefined
          ? await deps.codebase.search(id, request)
          : await deps.codebase.searchText(id, request, matcher.value);
      if (!found.ok) return found;
      const answer = { ...found.value, notes: [...notes, ...found.value.notes] };
      const structured = {
        ...answer,
        files: answer.files.map(formatFileChunks),
        project_id: id,
        database_name: getDatabaseName(id),
        latency_ms: toLatencyMs(startedMs),
      };
      return ok({ structured, text: formatSearch(query, id, answer) });
    },
  });
}

/** Undefined for a search by words. Error: VALIDATION_ERROR. */
async function readMatcher({
  query,
  exact = false,
  regex = false,
}: Pick<Input, 'query' | 'exact' | 'regex'>): Promise<Result<LineMatcher | undefined, Fault>> {
  const invalid = (field: string, message: string, remedy: string): Result<never, Fault> =>
    err({ code: 'VALIDATION_ERROR', field, message, remedy });
  if (exact && regex) return invalid('regex', 'It cannot be combined with exact.', 'Leave one of them out.');
  if (!exact && !regex) return ok(undefined);
  const matcher = await createLineMatcher(query, exact ? 'exact' : 'regex');
  if (matcher.ok) return matcher;
  return invalid(
    'query',
    matcher.error,
    regex ? 'Correct it, or pass exact: true for literal text.' : 'Pass one line of it.',
  );
}

/**
 * The repository and the directory in it. An absolute directory must be in an indexed repository. Error:
 * VALIDATION_ERROR.
 */
export function resolveDirectory(
  project: ProjectId,
  { repository_id: repositoryId, directory }: Pick<Input, 'repository_id' | 'directory'>,
  codebase: ToolDeps['codebase'],
): Result<{ readonly repositoryId: string | undefined; readonly directory: string | undefined }, Fault> {
  if (directory === undefined || !isAbsolute(directory)) return ok({ repositoryId, directory });
  const repositories = codebase.repositories(project);
  if (!repositories.ok) return repositories;
  const inside = ({ path }: { readonly path: string }): string | undefined => {
    const inner = relative(path, directory);
    return inner === '..' || inner.startsWith(`..${sep}`) || isAbsolute(inner) ? undefined : inner;
  };
  const found = repositories.value
    .filter((one) => (repositoryId === undefined || one.id === repositoryId) && inside(one) !== undefined)
    .sort((one, other) => other.path.length - one.path.length)[0];
  if (found !== undefined) return ok({ repositoryId: found.id, directory: inside(found) });
  return err({
    code: 'VALIDATION_ERROR',
    field: 'directory',
    message: `${JSON.stringify(directory)} is in no indexed repository.`,
    remedy:
      'Pass a directory relative to the root of the repository, or one below a path that index_status shows.',
  });
}

import type { Finding } from './finding.ts';

/**
 * - `name_ambiguous`, `name_too_long`: its public name differs from its own name.
 * - `name_repeated`, `name_hidden`: left out, because its server or another one already has that name.
 * - `filter_unmatched`: a pattern of `tools` in the config matches no tool.
 * - `list_limit`, `instructions_limit`: cut at a fixed limit.
 * - `definitions_limit`: its definition is not stored, as its server sends too many new ones.
 * - `instructions_changed`: models get the accepted text until a review.
 * - `member_left_out`, `withheld`: part of a definition, or all of it, left out because clients would reject it.
 * - `output_differs`: a result differed from the listed output schema.
 * - `reference_dangling`: listed as it is, but a client that compiles its input schema cannot.
 */
export type ListReportCode =
  | 'name_ambiguous'
  | 'name_too_long'
  | 'name_repeated'
  | 'name_hidden'
  | 'filter_unmatched'
  | 'list_limit'
  | 'instructions_limit'
  | 'definitions_limit'
  | 'instructions_changed'
  | 'member_left_out'
  | 'output_differs'
  | 'reference_dangling'
  | 'withheld';

/** A sentence without its full stop. `where`: a phrase. */
export function formatDifference({ tool, where }: { readonly tool: string; readonly where: string }): string {
  return `${tool} returned a result that does not match its output schema: ${where}`;
}

/** A tool, prompt, resource or server instructions that Assay lists differently from the server, or leaves out. */
export interface ListReport {
  readonly code: ListReportCode;
  /** A sentence without its full stop, for people. */
  readonly text: string;
}

interface Advice {
  readonly level: 'note' | 'warning';
  readonly remedy: string;
}

const ADVICE: Readonly<Record<ListReportCode, Advice>> = {
  name_ambiguous: {
    level: 'warning',
    remedy: 'Rename one of the servers in the config, or let their names stand in front ("prefix": true).',
  },
  name_too_long: {
    level: 'note',
    remedy: 'Give the server a shorter name in the config if you want another one.',
  },
  name_repeated: { level: 'warning', remedy: 'Report this to the author of the server: names must differ.' },
  name_hidden: {
    level: 'warning',
    remedy: 'Remove one of the two servers, or connect to each at /mcp/servers/<name>.',
  },
  filter_unmatched: {
    level: 'warning',
    remedy: 'Correct or remove the pattern; `assay tools` shows the names.',
  },
  list_limit: {
    level: 'warning',
    remedy: 'Remove the server from the config, or report this to its author: see `assay docs limits`.',
  },
  definitions_limit: {
    level: 'warning',
    remedy: 'If you trust that server, review these tools with `assay review`: see `assay docs limits`.',
  },
  instructions_changed: {
    level: 'warning',
    remedy: 'Read and accept them with `assay review --instructions SERVER`.',
  },
  instructions_limit: {
    level: 'note',
    remedy: 'Report this to the author of the server if models need the rest: see `assay docs limits`.',
  },
  member_left_out: {
    level: 'note',
    remedy: 'Report this to the author of the server: without that change clients reject it.',
  },
  reference_dangling: {
    level: 'warning',
    remedy:
      'Report this to the author of the server: a part of the input schema is missing, so some clients cannot use the tool.',
  },
  output_differs: {
    level: 'note',
    remedy:
      'Correct the schema in the entry or the document, or set "outputValidation" of the entry to "off" or "strict".',
  },
  withheld: {
    level: 'warning',
    remedy: 'Report this to the author of the server: clients would reject the whole list for it.',
  },
};

/** Reports items that are listed differently or left out. */
export function checkNames(reports: readonly ListReport[], tools: number): readonly Finding[] {
  // If a tool and a prompt of a server share a name, both are reported with the same text.
  const codes = new Map(reports.map(({ text, code }) => [text, code]));
  if (codes.size > 0)
    return [...codes].map(([text, code]) => ({
      check: 'names',
      about: 'all servers',
      code,
      message: `${text}.`,
      ...ADVICE[code],
    }));
  if (tools === 0) return [];
  return [
    {
      check: 'names',
      level: 'ok',
      about: 'all servers',
      message: 'No two names collide, and no definition is withheld.',
    },
  ];
}

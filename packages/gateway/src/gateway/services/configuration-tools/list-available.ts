import { setImmediate } from 'node:timers/promises';
import { formatCount } from '@assay-mcp/kit/counted';
import { HINTS, type Hints } from '@assay-mcp/kit/hint';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { findNearest } from '@assay-mcp/kit/nearest';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { readToolRefs } from '../../../core/tool-ref.ts';
import { parseDefinition, getDigest } from '../../catalog/definition-facts.ts';
import { getDescription, type Entry } from '../../catalog/listing.ts';
import { getFirstSentence, getToolSearch } from '../tools/tool-search.ts';
import { getEntryName, getRefId, resolveAll, type ToolIndex } from '../toolsets/tool-index.ts';
import { TOOL_REF } from './build-toolset.ts';
import { waitForToolIndex } from '../toolsets/find-tools.ts';
import type { ConfigurationContext } from './context.ts';
import type { OwnToolResult, OwnToolSpec } from './own-tool.ts';
import { countToolTokens } from './token-cost.ts';
import { shorten } from '@assay-mcp/kit/shorten';

const HINT_FILTER = Object.fromEntries(HINTS.map((hint) => [hint, { type: 'boolean' }]));

/** Maximum number of tools in an answer, unless the model sets another. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;
/** Maximum number of full definitions in an answer. */
const MAX_DETAILS = 20;
/** Maximum length of the line about a tool. */
const LINE_LENGTH = 120;

const TOKENS: JsonObject = { type: 'integer', description: 'Estimate' };

const OUTPUT: JsonObject = {
  summary: {
    type: 'object',
    properties: { totalTools: { type: 'integer' }, totalServers: { type: 'integer' } },
    required: ['totalTools', 'totalServers'],
  },
  meta: { type: 'object', properties: { totalPossibleContext: { type: 'object' } } },
  toolsByServer: {
    type: 'array',
    description: 'Without arguments: the servers',
    items: {
      type: 'object',
      properties: {
        serverName: { type: 'string' },
        toolCount: { type: 'integer' },
        context: { type: 'object', properties: { tokens: TOKENS }, required: ['tokens'] },
      },
      required: ['serverName', 'toolCount', 'context'],
    },
  },
  tools: {
    type: 'array',
    description: 'With query, server or hints: the tools, best match first. With tools: their definitions',
    items: {
      type: 'object',
      properties: {
        namespacedName: { type: 'string' },
        description: { type: 'string', description: 'Its first sentence' },
        refId: { type: 'string', description: 'Id of this definition' },
      },
      required: ['namespacedName'],
    },
  },
  nextCursor: { type: 'string' },
};

interface Query {
  readonly query?: string;
  readonly server?: string;
  readonly hints?: Partial<Hints>;
  readonly tools?: readonly unknown[];
  readonly limit?: number;
  readonly cursor?: string;
}

export function createListAvailableTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'list-available-tools',
    title: 'Find tools of all servers',
    description:
      'Finds tools to build a toolset of. Without arguments it lists the servers, with how many tools each has and what they cost in tokens. With "query", "server" or "hints" it lists tools with one line each, best match first. With "tools" it shows the whole definitions of those tools.',
    // It reads lists that Assay already has; no server is contacted, and nothing changes.
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', maxLength: 1_000, description: 'What the tool should do, in a few words' },
        server: { type: 'string', description: 'Only tools of this server' },
        hints: {
          type: 'object',
          description:
            'Only tools with these hints: as an operator set them, else as declared, else the default of the specification',
          properties: HINT_FILTER,
          additionalProperties: false,
        },
        tools: {
          type: 'array',
          items: TOOL_REF,
          minItems: 1,
          maxItems: MAX_DETAILS,
          description: 'Show the definitions of these tools',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          default: DEFAULT_LIMIT,
          description: 'Maximum number of tools in one answer',
        },
        cursor: { type: 'string', description: 'nextCursor of the previous answer, with the same filters' },
      },
      additionalProperties: false,
    },
    output: { properties: OUTPUT, optional: ['toolsByServer', 'tools', 'nextCursor'] },
    run: async (args, subject) => {
      const query = args as Query; // the input schema requires this shape
      const index = await waitForToolIndex(context, subject);
      if (query.tools !== undefined) return details(index, query.tools, context);
      const isFiltered = [query.query, query.server, query.hints, query.cursor, query.limit].some(
        (one) => one !== undefined,
      );
      return isFiltered ? findMatches(index, query, context) : overview(index, context);
    },
  };
}

/** The servers, with the number of their tools and the cost of those in tokens. */
async function overview(
  { entries }: ToolIndex,
  context: ConfigurationContext,
): Promise<Result<OwnToolResult, Refusal>> {
  const costs = await costsOf(entries, context);
  const tokensOf = (some: readonly Entry[]): number =>
    some.reduce((sum, entry) => sum + (costs.get(entry) ?? 0), 0);
  const byServer = Map.groupBy(entries, ({ server }) => server.spec.name);
  const toolsByServer = [...byServer].map(([serverName, tools]) => ({
    serverName,
    toolCount: tools.length,
    context: { tokens: tokensOf(tools) },
  }));
  const total = tokensOf(entries);
  const lines = toolsByServer.map(
    ({ serverName, toolCount, context: { tokens } }) =>
      `- ${serverName}: ${formatCount(toolCount, 'tool')}, about ${formatCount(tokens, 'token')}`,
  );
  return ok({
    text: [
      `${formatCount(entries.length, 'tool')} of ${formatCount(byServer.size, 'server')}, about ${formatCount(total, 'token')}.`,
      ...lines,
      'Call this again with "query" (what you want to do) or "server" to see tools.',
    ].join('\n'),
    structured: {
      summary: { totalTools: entries.length, totalServers: byServer.size },
      meta: { totalPossibleContext: { tokens: total } },
      toolsByServer,
    },
  });
}

/** The tools that match, best match first. */
async function findMatches(
  index: ToolIndex,
  query: Query,
  { catalog, buildSearch }: ConfigurationContext,
): Promise<Result<OwnToolResult, Refusal>> {
  const { server, cursor, limit = DEFAULT_LIMIT } = query;
  const servers = catalog.servers.map(({ spec }) => spec.name);
  if (server !== undefined && !servers.includes(server)) return err(unknownServer(server, servers));
  const ranked =
    query.query === undefined ? index.entries : (await getToolSearch(index, buildSearch))(query.query);
  const wanted = ranked.filter((entry) => isWanted(entry, query));
  const start = cursor === undefined ? 0 : wanted.findIndex(({ key }) => key === keyIn(cursor)) + 1;
  if (cursor !== undefined && start === 0) return err({ code: 'CURSOR_INVALID' });
  const page = wanted.slice(start, start + limit);
  const last = start + limit < wanted.length ? page.at(-1) : undefined;
  const nextCursor = last && Buffer.from(last.key).toString('base64url');
  const totalServers = new Set(wanted.map((entry) => entry.server)).size;
  return ok({
    text: [
      wanted.length === 0
        ? 'No tool matches. Try other words, or no arguments to list the servers.'
        : `${formatCount(wanted.length, 'tool')} of ${formatCount(totalServers, 'server')}:`,
      ...page.map((entry) => `- ${getEntryName(entry)}: ${lineOf(entry)}`),
      ...(nextCursor === undefined ? [] : [`There are more: "cursor": "${nextCursor}".`]),
    ].join('\n'),
    structured: {
      summary: { totalTools: wanted.length, totalServers },
      meta: {},
      tools: page.map((entry) => ({ namespacedName: getEntryName(entry), description: lineOf(entry) })),
      ...(nextCursor === undefined ? {} : { nextCursor }),
    },
  });
}

/** The definitions of single tools. */
async function details(
  index: ToolIndex,
  refs: readonly unknown[],
  context: ConfigurationContext,
): Promise<Result<OwnToolResult, Refusal>> {
  const named = readToolRefs(refs, 'arguments.tools');
  if (!named.ok) return named;
  const resolved = resolveAll(named.value, (ref) => index.resolve(ref));
  if (!resolved.ok) return resolved;
  const entries = resolved.value;
  const costs = await costsOf(entries, context);
  const tools = entries.map((entry) => ({
    namespacedName: getEntryName(entry),
    refId: getRefId(entry),
    context: { tokens: costs.get(entry) ?? 0 },
    hints: effectiveHints(entry),
  }));
  const texts = entries.map((entry, position) => {
    const { inputSchema } = parseDefinition(entry.definition);
    return JSON.stringify({ ...tools[position], description: getDescription(entry), inputSchema });
  });
  const totalServers = new Set(entries.map(({ server }) => server)).size;
  return ok({
    text: texts.join('\n'),
    structured: { summary: { totalTools: entries.length, totalServers }, meta: {}, tools },
  });
}

function unknownServer(server: string, known: readonly string[]): Refusal {
  const meant = findNearest(server, known);
  const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  const reason = `no server has this name${hint} The servers are ${known.join(', ')}`;
  return { code: 'PARAMS_INVALID', field: 'arguments.server', reason };
}

function isWanted(entry: Entry, { server, hints }: Query): boolean {
  if (server !== undefined && entry.server.spec.name !== server) return false;
  if (hints === undefined) return true;
  const effective = effectiveHints(entry);
  return HINTS.every((hint) => hints[hint] === undefined || hints[hint] === effective[hint]);
}

function effectiveHints({ server, definition }: Entry): Hints {
  const resolved = server.claims.resolvedOf(server.spec, definition);
  return Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint].effective.value])) as unknown as Hints;
}

/** The first sentence of the description, on one line. */
function lineOf(entry: Entry): string {
  return shorten(getFirstSentence(getDescription(entry) ?? '').replace(/\s+/g, ' '), LINE_LENGTH);
}

const COUNTED_AT_ONCE = 50;

/** Counts in batches and yields in between: the first count of ten thousand tools takes a second or more. */
async function costsOf(
  entries: readonly Entry[],
  { loadTokenCounter }: ConfigurationContext,
): Promise<ReadonlyMap<Entry, number>> {
  const countTokens = await loadTokenCounter();
  const costs = new Map<Entry, number>();
  for (const [position, entry] of entries.entries()) {
    costs.set(entry, countToolTokens(entry.definition, countTokens));
    // Cached, so that the refIds are ready for the answer.
    getDigest(entry.definition);
    if (position % COUNTED_AT_ONCE === COUNTED_AT_ONCE - 1) await setImmediate();
  }
  return costs;
}

function keyIn(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}

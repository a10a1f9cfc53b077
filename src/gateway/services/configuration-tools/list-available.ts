import { setImmediate as breathe } from 'node:timers/promises';
import { counted } from '../../../core/counted.ts';
import { err, ok } from '../../../core/result.ts';
import { HINTS, type Hints } from '../../../core/hints/hint.ts';
import { declaredOf, digestOf } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import { nameIn, refIdIn } from '../toolsets/tool-index.ts';
import { settledIndex, type ConfigurationContext } from './context.ts';
import type { OwnToolSpec } from './own-tool.ts';
import { costOf } from './token-cost.ts';
import type { JsonObject } from '../../../core/json-object.ts';

const HINT_FILTER = Object.fromEntries(HINTS.map((hint) => [hint, { type: 'boolean' }]));

const COST: JsonObject = {
  type: 'object',
  properties: { tokens: { type: 'integer' }, percentTotal: { type: 'number' } },
  required: ['tokens', 'percentTotal'],
};

const OUTPUT: JsonObject = {
  summary: {
    type: 'object',
    properties: { totalTools: { type: 'integer' }, totalServers: { type: 'integer' } },
    required: ['totalTools', 'totalServers'],
  },
  meta: { type: 'object' },
  toolsByServer: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        serverName: { type: 'string' },
        toolCount: { type: 'integer' },
        context: COST,
        tools: { type: 'array', items: { type: 'object' } },
      },
      required: ['serverName', 'toolCount', 'context', 'tools'],
    },
  },
  nextCursor: { type: 'string' },
};

interface ListQuery {
  readonly query?: string;
  readonly server?: string;
  readonly hints?: Partial<Hints>;
  readonly limit?: number;
  readonly cursor?: string;
}

export function listAvailableTool(context: ConfigurationContext): OwnToolSpec {
  return {
    name: 'list-available-tools',
    title: 'List the tools of all servers',
    description:
      'Lists all tools of all servers, with what each costs in tokens (name, description and input schema, as o200k_base counts them) and the refs by which build-toolset takes them. Without arguments it shows everything.',
    // It reads lists that Assay already has; no server is contacted, and nothing changes.
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words that all stand in the name or the description' },
        server: { type: 'string', description: 'Only tools of this server' },
        hints: {
          type: 'object',
          description:
            'Only tools with these hints: by the word of an operator, else as declared, else by the default of the specification',
          properties: HINT_FILTER,
          additionalProperties: false,
        },
        limit: { type: 'integer', minimum: 1, maximum: 10_000, description: 'Most tools of one answer' },
        cursor: { type: 'string', description: 'nextCursor of the answer before' },
      },
      additionalProperties: false,
    },
    output: { properties: OUTPUT, optional: ['nextCursor'] },
    run: async (args) => {
      const query = args as ListQuery; // the input schema requires this shape
      const index = await settledIndex(context);
      const wanted = index.entries.map(describe).filter((tool) => isWanted(tool, query));
      const start =
        query.cursor === undefined ? 0 : wanted.findIndex(({ key }) => key === keyIn(query.cursor)) + 1;
      if (query.cursor !== undefined && start === 0) return err({ code: 'CURSOR_INVALID' });
      const costs = await costsOf(wanted, context);
      const end = start + (query.limit ?? wanted.length);
      const last = wanted[end - 1];
      const cursor = end < wanted.length && last !== undefined ? { nextCursor: cursorAt(last) } : {};
      return ok(listed(wanted, { costs, start, end, cursor }));
    },
  };
}

interface Described {
  readonly entry: Entry;
  readonly key: string;
  readonly description: string;
  readonly hints: Hints;
}

function describe(entry: Entry): Described {
  const { description = '' } = declaredOf(entry.definition);
  const resolved = entry.server.claims.resolvedOf(entry.server.spec, entry.definition);
  const effective = HINTS.map((hint) => [hint, resolved[hint].effective.value]);
  const hints = Object.fromEntries(effective) as unknown as Hints; // every hint was visited
  return { entry, key: entry.key, description, hints };
}

function isWanted({ entry, key, description, hints }: Described, query: ListQuery): boolean {
  const text = `${key} ${nameIn(entry)} ${description}`.toLowerCase();
  const words = (query.query ?? '').toLowerCase().split(/\s+/);
  return (
    words.every((word) => text.includes(word)) &&
    (query.server === undefined || entry.server.spec.name === query.server) &&
    HINTS.every((hint) => query.hints?.[hint] === undefined || query.hints[hint] === hints[hint])
  );
}

const COUNTED_AT_ONCE = 50;

/** Counts in batches and yields in between: the first count of ten thousand tools takes a second or more. */
async function costsOf(
  tools: readonly Described[],
  { countTokens }: ConfigurationContext,
): Promise<ReadonlyMap<Entry, number>> {
  const costs = new Map<Entry, number>();
  for (const [place, { entry }] of tools.entries()) {
    costs.set(entry, costOf(entry.definition, countTokens));
    // Cached, so that the refIds are ready for the answer.
    digestOf(entry.definition);
    if (place % COUNTED_AT_ONCE === COUNTED_AT_ONCE - 1) await breathe();
  }
  return costs;
}

interface Page {
  readonly costs: ReadonlyMap<Entry, number>;
  readonly start: number;
  readonly end: number;
  readonly cursor: { readonly nextCursor?: string };
}

function listed(
  wanted: readonly Described[],
  { costs, start, end, cursor }: Page,
): { readonly text: string; readonly structured: JsonObject } {
  const total = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  const context = (entries: readonly Entry[]): JsonObject => {
    const tokens = entries.reduce((sum, entry) => sum + (costs.get(entry) ?? 0), 0);
    return { tokens, percentTotal: total === 0 ? 0 : Math.round((tokens / total) * 10_000) / 100 };
  };
  const byServer = Map.groupBy(wanted.slice(start, end), ({ entry }) => entry.server.spec.name);
  const toolsByServer = [...byServer].map(([serverName, tools]) => ({
    serverName,
    toolCount: tools.length,
    context: context(tools.map(({ entry }) => entry)),
    tools: tools.map(({ entry, key, description, hints }) => ({
      name: key,
      description,
      namespacedName: nameIn(entry),
      serverName,
      refId: refIdIn(entry),
      hints,
      context: context([entry]),
    })),
  }));
  const servers = new Set(wanted.map(({ entry }) => entry.server)).size;
  const lines = toolsByServer.flatMap(({ serverName, tools }) => [
    `${serverName}:`,
    ...tools.map((tool) => `- ${tool.namespacedName}: ${tool.description.replace(/\s+/g, ' ')}`),
  ]);
  const more = cursor.nextCursor === undefined ? [] : [`There are more: "cursor": "${cursor.nextCursor}".`];
  return {
    text: [
      `${counted(wanted.length, 'tool')} of ${counted(servers, 'server')}, about ${counted(total, 'token')}.`,
      ...lines,
      ...more,
    ].join('\n'),
    structured: {
      summary: { totalTools: wanted.length, totalServers: servers },
      meta: { totalPossibleContext: { tokens: total } },
      toolsByServer,
      ...cursor,
    },
  };
}

function cursorAt({ key }: Described): string {
  return Buffer.from(key).toString('base64url');
}

function keyIn(cursor: string | undefined): string {
  return Buffer.from(cursor ?? '', 'base64url').toString();
}

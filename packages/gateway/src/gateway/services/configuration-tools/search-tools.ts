import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { parseToolRef } from '../../../core/tool-ref.ts';
import { findInnerCall } from '@assay-mcp/protocol/inner-call';
import type { RequestMessage } from '@assay-mcp/protocol/message';
import type { OpenFilter } from '../../catalog/catalog.ts';
import {
  type ConfigurationTool,
  type ForwardedCall,
  getVisibleListing,
} from '../../catalog/visible-listing.ts';
import { isWithheld } from '../../catalog/definition-facts.ts';
import { type Entry, Listing, toShownJson } from '../../catalog/listing.ts';
import { getToolIndex } from '../toolsets/tool-index.ts';
import { prepareToolIndex, waitForToolIndex } from '../toolsets/find-tools.ts';
import type { ConfigurationContext } from './context.ts';
import { createOwnTool, type OwnToolSpec } from './own-tool.ts';
import { formatSearchResults } from './search-results.ts';
import { getToolSearch } from '../tools/tool-search.ts';

type SearchContext = Pick<ConfigurationContext, 'catalog' | 'buildSearch' | 'compile'>;

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;

// Both only read the catalog that Assay holds.
const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const TOOL_NAME: JsonObject = {
  type: 'string',
  maxLength: 1_000,
  description: 'Name of the tool, as search_tools gives it',
};

/**
 * The content of `/mcp/search`: three tools that find, describe and call all others, for catalogs too large to list.
 */
export function createSearchFilter(context: SearchContext): OpenFilter {
  const { catalog, compile } = context;
  const made = (spec: OwnToolSpec): ConfigurationTool => createOwnTool(spec, { compile });
  const tools = [
    made(searchTool(context)),
    made(describeTool(context)),
    {
      ...made(callTool(context)),
      forward: (message: RequestMessage, subject: string) => forwarded(context, message, subject),
    },
  ];
  const byName = new Map(tools.map((tool) => [tool.key, tool]));
  return {
    servers: () => catalog.servers,
    settled: (kind) => (kind === 'tools' ? Promise.resolve() : catalog.listed(catalog.servers, kind)),
    candidates: () => catalog.servers,
    listing: (kind) =>
      kind === 'tools' ? new Listing({ kind, entries: [], own: tools }) : catalog.all.listing(kind),
    configurationTool: (name) => byName.get(name),
    instructions: () =>
      'Tools are not listed here. Find them with search_tools and call them with call_tool.',
    absence: (name, hidden) =>
      getVisibleListing(catalog.all.listing('tools'), hidden).find(name) === undefined
        ? undefined
        : { code: 'CALL_TOOL_REQUIRED', tool: name },
  };
}

function searchTool(context: SearchContext): OwnToolSpec {
  return {
    name: 'search_tools',
    title: 'Search tools',
    description:
      'Finds tools for a task, best match first, each with its description and arguments (? after a name: optional; …: shortened, describe_tool shows all). Call what you find with call_tool.',
    // It reads lists that Assay already has.
    annotations: READS,
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: 1_000,
          description: 'What the tool should do, in a few words',
        },
        limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
      },
      required: ['query'],
      additionalProperties: false,
    },
    run: async (args, subject) => {
      const { query, limit = DEFAULT_LIMIT } = args as { readonly query: string; readonly limit?: number }; // as the schema requires
      const index = await waitForToolIndex(context, subject);
      const found = (await getToolSearch(index, context.buildSearch))(query)
        .filter(isCallable)
        .slice(0, limit);
      if (found.length === 0) return ok({ text: 'No tool matches. Try other words.' });
      return ok({ text: formatSearchResults(found.map(toShownJson)) });
    },
  };
}

function describeTool(context: SearchContext): OwnToolSpec {
  return {
    name: 'describe_tool',
    title: 'Describe a tool',
    description: 'Shows the whole definition of one tool, with its output schema and annotations.',
    annotations: READS,
    inputSchema: {
      type: 'object',
      properties: { name: TOOL_NAME },
      required: ['name'],
      additionalProperties: false,
    },
    run: async ({ name }, subject) => {
      const entry = await resolved(context, String(name), subject);
      return entry.ok ? ok({ text: JSON.stringify(toShownJson(entry.value)) }) : entry;
    },
  };
}

function callTool(context: SearchContext): OwnToolSpec {
  return {
    name: 'call_tool',
    title: 'Call a tool',
    description: 'Calls a tool that search_tools found, and answers what that tool answers.',
    // It can call any tool, so these are the defaults of the specification. Policy decides on the tool that is called.
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    inputSchema: {
      type: 'object',
      properties: {
        name: TOOL_NAME,
        arguments: { type: 'object', description: 'Arguments that fit the input schema of that tool' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    // Reached only if `forward` found no tool.
    run: async ({ name }, subject) => {
      const entry = await resolved(context, String(name), subject);
      return entry.ok
        ? err({ code: 'PARAMS_INVALID', field: 'arguments', reason: 'the call is larger than 1 MiB' })
        : entry;
    },
  };
}

async function forwarded(
  context: SearchContext,
  message: RequestMessage,
  subject: string,
): Promise<ForwardedCall | undefined> {
  const inner = findInnerCall(message);
  if (inner === undefined) return undefined;
  const visible = await resolved(context, inner.name, subject);
  const entry = visible.ok ? visible : hiddenIn(context, inner.name, subject);
  if (entry?.ok !== true) return undefined;
  const { value } = entry;
  return { entry: value, message: inner.messageFor(value.key), isHidden: !visible.ok };
}

/** A tool that rules hide from the caller. */
function hiddenIn(
  { catalog }: Pick<SearchContext, 'catalog'>,
  name: string,
  subject: string,
): Result<Entry, Refusal> | undefined {
  const all = catalog.all.listing('tools');
  return catalog.all.forCaller(subject).listing('tools') === all
    ? undefined
    : getToolIndex(all).resolve(parseToolRef(name));
}

async function resolved(
  context: Pick<SearchContext, 'catalog'>,
  name: string,
  subject: string,
): Promise<Result<Entry, Refusal>> {
  const ref = parseToolRef(name);
  const entry = (await prepareToolIndex(context, [ref], subject)).resolve(ref);
  if (!entry.ok || isCallable(entry.value)) return entry;
  return err({ code: 'TOOL_WITHHELD', name, reason: 'no client can read its definition' });
}

function isCallable({ definition }: Entry): boolean {
  return !isWithheld(definition);
}

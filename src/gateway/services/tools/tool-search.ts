import { isJsonObject } from '../../../core/json-object.ts';
import { definitionJson } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { BuildSearch, SearchDocument } from '../../ports/search.ts';
import type { ToolIndex } from '../toolsets/tool-index.ts';

/** Finds tools by words, best match first. */
export type ToolSearch = (query: string) => readonly Entry[];

const SEARCHES = new WeakMap<ToolIndex, Promise<ToolSearch>>();

/** The search over these tools. Built at the first use, then cached as long as the list lasts. */
export function searchOf(index: ToolIndex, build: BuildSearch): Promise<ToolSearch> {
  const known = SEARCHES.get(index);
  if (known !== undefined) return known;
  const search = toolSearch(index, build);
  SEARCHES.set(index, search);
  return search;
}

async function toolSearch({ entries }: ToolIndex, build: BuildSearch): Promise<ToolSearch> {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const search = await build(documentsOf(entries));
  return (query) => search(query).flatMap((key) => byKey.get(key) ?? []);
}

/** One at a time: parsing ten thousand definitions takes half a second. */
function* documentsOf(entries: readonly Entry[]): Generator<SearchDocument> {
  for (const entry of entries) yield documentOf(entry);
}

function documentOf({ key, server, definition, notes }: Entry): SearchDocument {
  const { title, description, inputSchema } = definitionJson(definition);
  const properties = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined;
  return {
    key,
    name: `${server.spec.name} ${key}`,
    title: typeof title === 'string' ? title : '',
    description: `${typeof description === 'string' ? description : ''} ${notes ?? ''}`,
    parameters: isJsonObject(properties) ? Object.keys(properties).join(' ') : '',
  };
}

import { isJsonObject } from '@assay-mcp/kit/json-object';
import { parseDefinition } from '../../catalog/definition-facts.ts';
import { getDescription, type Entry } from '../../catalog/listing.ts';
import type { BuildSearch, SearchDocument } from '../../ports/search.ts';
import type { ToolIndex } from '../toolsets/tool-index.ts';

/** Finds tools by words, best match first. */
export type ToolSearch = (query: string) => readonly Entry[];

const SEARCHES = new WeakMap<ToolIndex, Promise<ToolSearch>>();

/** The search over these tools. Built on first use and cached until the list changes. */
export function getToolSearch(index: ToolIndex, build: BuildSearch): Promise<ToolSearch> {
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

/** Generated one at a time: parsing ten thousand definitions takes half a second. */
function* documentsOf(entries: readonly Entry[]): Generator<SearchDocument> {
  for (const entry of entries) yield documentOf(entry);
}

/** Maximum number of characters of one text that are indexed; a server controls their length. */
const MAX_TEXT_LENGTH = 8_000;

function documentOf(entry: Entry): SearchDocument {
  const { key, server, definition, notes, settings } = entry;
  const name = settings?.name ?? entry.name;
  const { title, annotations, inputSchema } = parseDefinition(definition);
  const shown = title ?? (isJsonObject(annotations) ? annotations['title'] : undefined);
  const text = `${getDescription(entry) ?? ''} ${notes ?? ''}`.slice(0, MAX_TEXT_LENGTH);
  return {
    key,
    name,
    server: server.spec.name,
    title: typeof shown === 'string' ? shown.slice(0, MAX_TEXT_LENGTH) : '',
    summary: getFirstSentence(text),
    description: text,
    parameters: collectSchemaText(inputSchema, MAX_DEPTH).slice(0, MAX_TEXT_LENGTH),
  };
}

/** The first sentence or line. */
export function getFirstSentence(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line;
}

const MAX_DEPTH = 6;

/** Names, descriptions and fixed values in a JSON Schema. */
export function collectSchemaText(schema: unknown, depth: number): string {
  if (Array.isArray(schema)) return schema.map((one) => collectSchemaText(one, depth)).join(' ');
  if (!isJsonObject(schema) || depth === 0) return '';
  return Object.entries(schema)
    .map(([key, value]) => {
      if (key === 'description') return typeof value === 'string' ? value : '';
      if (key === 'enum') return Array.isArray(value) ? value.filter(isText).join(' ') : '';
      if (key !== 'properties' || !isJsonObject(value)) return collectSchemaText(value, depth - 1);
      const names = Object.keys(value).join(' ');
      return `${names} ${Object.values(value)
        .map((one) => collectSchemaText(one, depth - 1))
        .join(' ')}`;
    })
    .join(' ');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

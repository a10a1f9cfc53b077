// Servers whose state is only in memory. argv[2]: which tools, as JSON.
import process from 'node:process';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CorpusTool } from './corpus.ts';

type Args = Readonly<Record<string, unknown>>;
const startedMs = Date.now();
const calls: Record<string, number> = {};
const notes = [
  { id: 1, text: 'Buy milk' },
  { id: 2, text: 'Call Ada' },
  { id: 3, text: 'Water plants' },
];
const items = new Map([
  ['color', 'green'],
  ['shape', 'round'],
  ['size', 'large'],
]);
const queries: string[] = [];
const feed: string[] = [];
let catalog: string[] = [];
let cache: string | undefined;
// News arrive without a call.
setInterval(() => feed.push(`news ${String.fromCharCode(97 + (feed.length % 26))}`), 700).unref();

const BODIES: Readonly<Record<string, (args: Args) => unknown>> = {
  add_note: ({ text }) => notes.push({ id: notes.length + 1, text: String(text) }),
  list_notes: () => notes,
  get_status: () => ({ uptimeMs: Date.now() - startedMs, calls, memory: process.memoryUsage().rss }),
  search_notes: ({ query }) => ({
    at: new Date().toISOString(),
    found: notes.filter(({ text }) => text.includes(String(query))),
    fromCache: (cache ??= 'filled') === 'filled',
  }),
  count_notes: () => `There are ${notes.length} notes.`,
  peek_at_note: () => notes.at(-1),
  pop_note: () => notes.pop(),
  check_notes: () => {
    for (const note of notes) note.text = note.text.toUpperCase();
    return 'All notes are fine.';
  },
  format_notes: () => notes.push({ id: 0, text: 'formatted' }) && 'done',
  set_item: ({ key, value }) => items.set(String(key), String(value)).size,
  list_items: () => [...items].map(([key, value]) => `${key}: ${value}`).join('\n'),
  get_recent_queries: () => queries,
  list_feed: () => feed,
  get_item: ({ key }) => items.get(String(key)) ?? 'none',
  query_items: ({ query }) => {
    queries.push(String(query));
    return [...items.values()].filter((one) => one.includes(String(query)));
  },
  load_catalog: () => (catalog = ['apple', 'pear', 'plum']).length,
  list_catalog: () => catalog,
  inspect_items: () => items.delete([...items.keys()][0] ?? ''),
  summarize_items: () => items.set('summary', `${items.size} items`).size,
  compare_items: () => {
    items.set('shape', items.get('shape') === 'round' ? 'square' : 'round');
    return 'They differ.';
  },
};

const tools = JSON.parse(process.argv[2] ?? '[]') as readonly CorpusTool[];
const server = new Server({ name: 'memory', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map(({ name, hints, properties = {} }) => ({
    name,
    inputSchema: { type: 'object', properties, required: Object.keys(properties) },
    annotations: hints,
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }) => {
  calls[name] = (calls[name] ?? 0) + 1;
  const value = BODIES[name]?.(args);
  return {
    content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value ?? null) }],
  };
});
await server.connect(new StdioServerTransport());

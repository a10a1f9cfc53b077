// How often search finds the right tool of twenty real servers, and what it costs a model in tokens beside listing all:
//   node dist/main.js serve --config bench/search/servers.json --home /tmp/search-bench
//   node bench/search/run.ts http://127.0.0.1:4444
// The tasks were written by somebody who saw the tools, and not how they are searched.
import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { median } from '../statistics.ts';

interface Task {
  readonly task: string;
  /** Public names of the tools that are right for it. */
  readonly tools: readonly string[];
}

const LIMIT = 5;
const [base = 'http://127.0.0.1:4444'] = process.argv.slice(2);
const tasks = JSON.parse(readFileSync(new URL('tasks.json', import.meta.url), 'utf8')) as readonly Task[];

async function connected(path: string): Promise<Client> {
  const client = new Client({ name: 'search-bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, base)));
  return client;
}

function textOf(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text: string }[] };
  return content.map(({ text }) => text).join('\n');
}

const [all, search, menu] = await Promise.all(
  ['/mcp/all', '/mcp/search', '/mcp/configuration'].map(connected),
);
if (all === undefined || search === undefined || menu === undefined) throw new Error('not connected');
const { tools } = await all.listTools();
const names = new Set(tools.map(({ name }) => name));
const asked = tasks.filter((task) => task.tools.some((name) => names.has(name)));
const costs: number[] = [];
const ms: number[] = [];
let first = 0;
let found = 0;
for (const { task, tools: right } of asked) {
  const startMs = performance.now();
  const text = textOf(
    await search.callTool({ name: 'search_tools', arguments: { query: task, limit: LIMIT } }),
  );
  ms.push(performance.now() - startMs);
  costs.push(countTokens(text));
  const got = text.startsWith('{')
    ? text.split('\n').map((line) => (JSON.parse(line) as { readonly name: string }).name)
    : [];
  const position = got.findIndex((name) => right.includes(name));
  if (position === 0) first += 1;
  if (position >= 0) found += 1;
  else process.stderr.write(`not found: ${task} (${right.join(', ')}); got ${got.join(', ')}\n`);
}
const overview = await menu.callTool({ name: 'list-available-tools', arguments: {} });
const listed = (await search.listTools()).tools;
process.stdout.write(
  [
    `${String(tools.length)} tools, ${String(asked.length)} of ${String(tasks.length)} tasks asked`,
    `right tool first: ${String(first)}; in the first ${String(LIMIT)}: ${String(found)}`,
    `tokens: all definitions ${String(countTokens(JSON.stringify(tools)))}; the three tools of /mcp/search ${String(countTokens(JSON.stringify(listed)))}; one search ${String(median(costs))} (median)`,
    `list-available-tools {}: ${String(countTokens(textOf(overview)))} of text, ${String(countTokens(JSON.stringify(overview.structuredContent)))} of structured content`,
    `one search takes ${(median(ms) ?? 0).toFixed(1)} ms (median)`,
  ].join('\n') + '\n',
);
for (const client of [all, search, menu]) await client.close();

import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { suggestHints, type SuggestionBasis } from '../../../src/core/hints/suggest-hints.ts';

function suggested(name: string, more: JsonObject & Partial<Pick<SuggestionBasis, 'emitted'>> = {}): unknown {
  const { emitted = {}, ...definition } = more;
  return suggestHints({ name, serverName: 'hub', definition: { name, ...definition }, emitted });
}

const READS = { readOnlyHint: true };

it('suggests that a tool only reads if its name begins with a verb of reading', () => {
  expect(
    ['get_issue', 'listFiles', 'search', 'hub_find_user', 'count_rows'].map((name) => suggested(name)),
  ).toEqual(Array.from({ length: 5 }, () => READS));
  expect(['issue_get', 'create_issue', 'hub', '', 'weather'].map((name) => suggested(name))).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

it.each([
  ['its name', suggested('get_or_create_user')],
  ['its description', suggested('get_token', { description: 'Gets the token. Deletes the old one.' })],
  ['a gerund in its description', suggested('get_next', { description: 'Returns a job, removing it.' })],
  ['a participle', suggested('get_item', { description: 'The item is deleted, and its row overwritten.' })],
  ['a verb in -y', suggested('get_item', { description: 'Modifies the ticket and publishes it.' })],
  ['its title', suggested('get_item', { title: 'Delete a ticket' })],
  ['the title in its annotations', suggested('get_item', { annotations: { title: 'Toggle the light' } })],
  [
    'its output schema',
    suggested('get_item', { outputSchema: { description: 'The rows that were altered.' } }),
  ],
  ['a description of more than is read', suggested('get_next', { description: 'a '.repeat(5_001) })],
  ['a property', suggested('query', { inputSchema: { properties: { update: { type: 'string' } } } })],
  [
    'the description of a property',
    suggested('query', { inputSchema: { properties: { sql: { description: 'Executes any statement.' } } } }),
  ],
  ['a choice', suggested('query', { inputSchema: { properties: { how: { enum: ['read', 'insert'] } } } })],
])('suggests nothing if %s speaks of writing', (_, suggestion) => {
  expect(suggestion).toBeUndefined();
});

it('takes the name of a property such as start_date for a noun', () => {
  const inputSchema = { properties: { start_date: { type: 'string' }, sort_order: {}, run_id: {} } };
  expect(suggested('list_runs', { description: 'Lists jobs.', inputSchema })).toEqual(undefined);
  expect(suggested('list_jobs', { description: 'Lists jobs.', inputSchema })).toEqual(READS);
});

it('suggests nothing for a tool that has any hint', () => {
  expect(suggested('get_issue', { emitted: { openWorldHint: false } })).toBeUndefined();
});

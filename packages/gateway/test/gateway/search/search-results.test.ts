import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { toShownJson } from '../../../src/gateway/catalog/listing.ts';
import { formatSearchResults } from '../../../src/gateway/services/configuration-tools/search-results.ts';
import { listCollected } from './question-set.ts';

const TOOLS = listCollected().entries.map(toShownJson);

it('a result has name, description, arguments as a signature, and the declared hint', () => {
  const tool = {
    name: 's_edit',
    description: 'Edits  a file.\nSlowly.',
    inputSchema: {
      type: 'object',
      properties: {
        mode: { enum: ['a', 'b'] },
        path: { type: 'string' },
        edits: {
          type: 'array',
          items: {
            type: 'object',
            properties: { old: { type: 'string' }, count: { type: ['integer', 'null'] } },
            required: ['old'],
          },
        },
        'odd name': { anyOf: [{ type: 'number' }, { const: 0 }] },
        any: true,
      },
      required: ['path', 'edits'],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, title: 'Edit' },
  };
  expect(JSON.parse(formatSearchResults([tool]))).toEqual({
    name: 's_edit',
    description: 'Edits a file. Slowly.',
    arguments:
      'path: string, edits: {old: string, count?: integer|null}[], mode?: "a"|"b", "odd name"?: number|0, any?: any',
    destructive: true,
  });
});

it('five tools take at most 2,000 bytes, and fifty at most 400 each, whichever they are', () => {
  const largest = (count: number): number =>
    Math.max(
      ...TOOLS.map((_, at) => [...TOOLS, ...TOOLS].slice(at, at + count)).map((tools) =>
        Buffer.byteLength(formatSearchResults(tools)),
      ),
    );
  expect(largest(5)).toBeLessThanOrEqual(2_000);
  expect(largest(50)).toBeLessThanOrEqual(20_000);
  const byLength = TOOLS.toSorted((one, other) => JSON.stringify(other).length - JSON.stringify(one).length);
  expect(Buffer.byteLength(formatSearchResults(byLength.slice(0, 5)))).toBeLessThanOrEqual(2_000);
});

it('what one tool leaves is used by others, and every line stays JSON with the whole name', () => {
  const long = { name: 'long', description: 'x'.repeat(900), inputSchema: { type: 'object' } };
  const short = { name: 'short', description: 'y', inputSchema: { type: 'object' } };
  const lines = formatSearchResults([long, short, short]).split('\n');
  expect(lines.map((line) => (JSON.parse(line) as JsonObject)['description'])).toEqual([
    'x'.repeat(900),
    'y',
    'y',
  ]);
});

it('a hostile definition is cut', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [
      `${'\u{1f4a5}'.repeat(50)}${String(at)}`,
      { enum: ['\u0000'.repeat(1_000)] },
    ]),
  );
  const tool = {
    name: 'n',
    description: '\u0001'.repeat(1_000_000),
    inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  };
  const text = formatSearchResults([tool, tool, tool, tool, tool]);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
  expect(text.split('\n').map((line) => (JSON.parse(line) as JsonObject)['name'])).toEqual(
    Array(5).fill('n'),
  );
});

import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { proposeArguments } from '../src/arguments/choose-arguments.ts';
import { NO_ADJUSTMENTS } from '../src/arguments/generate-value.ts';
import { Knowledge } from '../src/arguments/knowledge.ts';
import { readError } from '../src/arguments/read-error.ts';

const CONTEXT = {
  folder: '/seed',
  files: ['/seed/data.json', '/seed/notes.txt', '/seed/page.md'],
  folders: ['/seed/docs'],
  knowledge: new Knowledge(),
};

/** The arguments after an error, for a tool whose parameters are all strings unless they say otherwise. */
function corrected(args: JsonObject, text: string, more: JsonObject = {}): unknown {
  const named = {
    ...Object.fromEntries(Object.keys(args).map((name) => [name, { type: 'string' }])),
    ...more,
  };
  const inputSchema = { type: 'object', properties: named, required: Object.keys(args) };
  const adjustments = readError({ args, text, inputSchema, adjustments: NO_ADJUSTMENTS }, CONTEXT);
  if (adjustments === undefined) return undefined;
  return proposeArguments({ name: 'tool', inputSchema }, CONTEXT, { variant: 0, isFull: false, adjustments })
    ?.args;
}

it.each<[string, JsonObject, string, JsonObject, JsonObject]>([
  ['expected type', { size: 'a' }, 'size must be a number', {}, { size: 1 }],
  [
    'list of values',
    { style: 'note' },
    'Invalid style "note". Must be one of: round, square',
    {},
    { style: 'round' },
  ],
  [
    'quoted list',
    { style: 'note' },
    "Unknown style. Supported styles: 'oval' | 'flat'",
    {},
    { style: 'oval' },
  ],
  [
    'missing member',
    { bed: 'apple' },
    'Missing required parameter: depth',
    { depth: { type: 'integer' } },
    { bed: 'apple', depth: 1 },
  ],
  [
    'two missing members',
    { bed: 'apple' },
    'width and depth are required',
    { width: { type: 'integer' }, depth: { type: 'integer' } },
    { bed: 'apple', width: 1, depth: 1 },
  ],
  [
    'either-or',
    {},
    'Provide either bed or row',
    { bed: { type: 'string' }, row: { type: 'string' } },
    { bed: 'apple' },
  ],
  [
    'parameter that a text in another language names',
    {},
    '请提供 row 参数',
    { bed: { type: 'string' }, row: { type: 'string' } },
    { row: 'apple' },
  ],
  ['exclusion', { bed: 'apple', row: 'apple' }, 'You cannot use both bed and row', {}, { bed: 'apple' }],
  ['lower bound', { count: 1 }, 'count must be at least 5', { count: { type: 'integer' } }, { count: 5 }],
  [
    'extension that exists',
    { file: '/seed/data.json' },
    'Only .md files are supported',
    {},
    { file: '/seed/page.md' },
  ],
  [
    'extension that does not',
    { file: '/seed/data.json' },
    'The file must have the extension .plan',
    {},
    { file: '/seed/data.plan' },
  ],
  ['folder', { path: '/seed/data.json' }, 'ENOTDIR: not a directory', {}, { path: '/seed' }],
  [
    'name instead of a path',
    { file: '/seed/notes.txt' },
    'file contains invalid path segments',
    {},
    { file: 'notes.txt' },
  ],
  [
    'the one of two paths that exists',
    { from_file: '/seed/data.json', to_file: '/seed/page.md' },
    'Destination already exists: /seed/page.md',
    {},
    { from_file: '/seed/data.json', to_file: '/seed/created-13' },
  ],
  [
    'member of an argument',
    { garden: {} },
    'garden.bed is required',
    { garden: { type: 'object' } },
    { garden: { bed: 'apple' } },
  ],
  [
    'one of two members of an argument',
    { garden: { bed: 'apple', row: 'apple' } },
    'Provide exactly one of `bed` or `row`. at garden',
    {
      garden: {
        type: 'object',
        properties: { bed: { type: 'string' }, row: { type: 'string' } },
        required: ['bed', 'row'],
      },
    },
    { garden: { bed: 'apple' } },
  ],
  [
    'parameter that an action requires',
    { action: 'press' },
    'press action requires a shape parameter',
    { action: { type: 'string', enum: ['press'] }, shape: { type: 'string' } },
    { action: 'press', shape: 'apple' },
  ],
  [
    'choice without "one of"',
    { action: 'x1' },
    'invalid action: x1 (must be plant, water or prune)',
    {},
    { action: 'plant' },
  ],
  ['known values', { from: 'x1' }, 'Unknown version: "x1". Known versions: v1, v2', {}, { from: 'v1' }],
  [
    'order of two numbers',
    { first_row: 1, last_row: 1 },
    'last_row must be greater than first_row.',
    { first_row: { type: 'integer' }, last_row: { type: 'integer' } },
    { first_row: 1, last_row: 2 },
  ],
  [
    'order of two dates',
    { sown_date: '2026-01-15', reaped_date: '2026-01-15' },
    'sown_date must be before reaped_date',
    {},
    { sown_date: '2026-01-15', reaped_date: '2026-01-16' },
  ],
  [
    'two arguments that must differ',
    { bed: 'main', other_bed: 'main' },
    'A bed cannot be joined with itself',
    { other_bed: { type: 'string', examples: ['main', 'trunk'] } },
    { bed: 'apple', other_bed: 'trunk' },
  ],
  [
    'amount that is too low',
    { height: 1 },
    'Height 1 is lower than the last one (480)',
    { height: { type: 'integer' } },
    { height: 481 },
  ],
  [
    'path within a folder',
    { file: '/seed/notes.txt' },
    'Path not allowed: /seed/notes.txt',
    {},
    { file: 'notes.txt' },
  ],
  [
    'names in a row',
    { file: 'x.csv' },
    "no such file: 'x.csv' (available: north.csv south.csv )",
    {},
    { file: 'north.csv' },
  ],
  ['query', { view: 'apple' }, 'view must be a SELECT statement', {}, { view: 'SELECT 1' }],
  ['schedule', { when: 'apple' }, 'when must have five fields, got 1', {}, { when: '0 0 * * *' }],
  [
    'unknown value, in French',
    { parcel: 'main' },
    'Parcelle introuvable : main',
    { parcel: { type: 'string', examples: ['main', 'trunk'] } },
    { parcel: 'trunk' },
  ],
  ['exact value', { mode: 'a' }, 'Please set mode to "shade".', {}, { mode: 'shade' }],
  ['digits', { height: 'a' }, 'height must contain only digits', {}, { height: '10' }],
  ['letters', { bed: 'a.b' }, 'bed is not valid: use only letters and numbers', {}, { bed: 'apple' }],
  ['date', { day: 'soon' }, 'day: use YYYY-MM-DD', {}, { day: '2026-01-15' }],
  [
    'flag of consent',
    { bed: 'apple' },
    'Refused. Set confirm to true.',
    { confirm: { type: 'boolean' } },
    { bed: 'apple', confirm: true },
  ],
])('an error leads to other arguments: %s', (_, args, text, more, expected) => {
  expect(corrected(args, text, more)).toEqual(expected);
});

it('issues of a validator are read by their paths', () => {
  const issues = [
    {
      code: 'invalid_type',
      expected: 'number',
      received: 'string',
      path: ['size'],
      message: 'Expected number',
    },
    { code: 'invalid_type', expected: 'array', received: 'undefined', path: ['rows'], message: 'Required' },
    { code: 'unrecognized_keys', keys: ['extra'], path: [], message: 'Unrecognized key' },
  ];
  const text = `MCP error -32602: Invalid arguments for tool: ${JSON.stringify(issues, undefined, 2)}`;
  expect(corrected({ size: 'a', extra: 'b' }, text)).toEqual({ size: 1, rows: ['a'] });
});

it('a value that the error calls unknown is followed by the next one', () => {
  const first = { branch: 'main' };
  const text = "fatal: branch 'main' not found";
  expect(corrected(first, text, { branch: { type: 'string', examples: ['main', 'trunk'] } })).toEqual({
    branch: 'trunk',
  });
});

it('an error that says nothing about arguments changes nothing', () => {
  expect(corrected({ bed: 'apple' }, 'The greenhouse is closed.')).toBeUndefined();
});

it('keys that are no strings are left alone', () => {
  const text = JSON.stringify([{ path: ['bed'], keys: [{ toString: 1 }, 7] }]);
  expect(corrected({ bed: 'apple' }, text)).toBeUndefined();
});

it('only the first 3,000 characters of an answer are read', () => {
  const hint = 'size must be a number';
  expect(corrected({ size: 'a' }, `${'.'.repeat(2_900)} ${hint}`)).toEqual({ size: 1 });
  expect(corrected({ size: 'a' }, `${'.'.repeat(3_000)} ${hint}`)).toBeUndefined();
});

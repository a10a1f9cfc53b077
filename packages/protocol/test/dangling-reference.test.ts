import { expect, it } from 'vitest';
import { findDanglingReference } from '../src/compilable.ts';

const deep = (levels: number): object => (levels === 0 ? { $ref: '#/$defs/no' } : { not: deep(levels - 1) });

it.each([
  [{ properties: { a: { $ref: '#/$defs/A' } } }, ['properties', 'a', '$ref']],
  [
    { properties: { a: { items: { $ref: '#/$defs/A' } } }, $defs: { B: {} } },
    ['properties', 'a', 'items', '$ref'],
  ],
  [{ anyOf: [{}, { $ref: '#none' }] }, ['anyOf', 1, '$ref']],
  [{ properties: { default: { $ref: '#/properties/x~1y' } } }, ['properties', 'default', '$ref']],
  [{ $ref: '#/$defs/__proto__' }, ['$ref']],
  [deep(3), ['not', 'not', 'not', '$ref']],
])('the dangling reference in %j is found', (schema, at) => {
  expect(findDanglingReference({ ...schema })?.at).toEqual(at);
});

it.each([
  { properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string' } } },
  { properties: { a: { $ref: '#' }, b: { $ref: '#/' }, c: { $ref: '#/properties/a' } } },
  { properties: { a: { $ref: '#named' } }, $defs: { A: { $anchor: 'named' } } },
  { properties: { a: { $ref: 'https://example.com/schema.json' } } },
  { properties: { a: { $id: 'https://example.com/a', $ref: '#/none' } } },
  { properties: { $ref: { type: 'string' } } },
  { properties: { a: { default: { $ref: '#/none' }, enum: [{ $ref: '#/none' }] } } },
  deep(5_000),
])('%.80j has none', (schema) => {
  expect(findDanglingReference({ ...schema })).toBeUndefined();
});

import { expect, it } from 'vitest';
import { tryCompileSchema, compileSchema, isCheckable } from '../../../src/adapters/sources/schema-check.ts';

const TOO_LONG = { path: [], reason: 'it takes too long to check' };

function nested(levels: number): object {
  let value: object = {};
  for (let level = 0; level < levels; level += 1) value = { x: value };
  return value;
}

/** Definitions that each refer to the next one twice, so that the last is reached in 2 ** `length` ways. */
function doubling(length: number, keyword: string): object {
  const parts = Array.from({ length }, (_, index) => [
    `a${index}`,
    { [keyword]: [{ $ref: `#/$defs/a${index + 1}` }, { $ref: `#/$defs/a${index + 1}` }] },
  ]);
  return { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(parts), [`a${length}`]: { type: 'string' } } };
}

it.each([
  ['^(a|a)*$', `${'a'.repeat(60_000)}b`],
  ['^.*.*.*=$', 'a'.repeat(60_000)],
  ['^(\\d+|\\w+|1)*$', `${'1'.repeat(60_000)}-`],
])('the pattern %s terminates on any input', (pattern, text) => {
  expect(compileSchema({ pattern })(text)).toEqual({
    path: [],
    reason: `it must match pattern "${pattern}"`,
  });
});

it.each([
  ['^\\u00e9\\d{2}$', 'é12', true],
  ['^[a-z_-]+$', 'a-b', true],
  ['^[a-z_-]+$', 'A', false],
  ['^\\p{Lu}.$', 'Aß', true],
  ['\\/x', '/x', true],
  ['^a$', 'a\n', false],
  ['^(?!a)b$', 'a', true],
  ['^(a)\\1$', 'b', true],
])('the pattern %s matches %j: %s; one without a linear form matches everything', (pattern, text, fits) => {
  expect(compileSchema({ pattern })(text) === undefined).toBe(fits);
});

it('a duplicate among many items is found, whatever the order of its members', () => {
  const check = compileSchema({ properties: { list: { type: 'array', uniqueItems: true } } });
  const list = Array.from({ length: 40_000 }, (_, index) => ({ index, of: 'many' }));
  expect(check({ list })).toBeUndefined();
  expect(check({ list: [...list, { of: 'many', index: 7 }] })).toEqual({
    path: ['list'],
    reason: 'it must NOT have duplicate items',
  });
  expect(compileSchema({ uniqueItems: false })([1, 1])).toBeUndefined();
});

it.each<readonly [string, object, unknown]>([
  ['alternatives that double', doubling(60, 'anyOf'), 1],
  ['requirements that double', doubling(60, 'allOf'), 'a'],
  [
    'alternatives that each descend into the same member',
    {
      $ref: '#/$defs/tree',
      $defs: { tree: { oneOf: [1, 2].map(() => ({ properties: { x: { $ref: '#/$defs/tree' } } })) } },
    },
    nested(100),
  ],
  [
    'many requirements on many items',
    { items: { allOf: Array.from({ length: 300 }, () => ({ minimum: 0 })) } },
    Array.from({ length: 300_000 }, () => 1),
  ],
  [
    'many property names in many objects',
    {
      items: { properties: Object.fromEntries(Array.from({ length: 800 }, (_, index) => [`p${index}`, {}])) },
    },
    Array.from({ length: 300_000 }, () => ({})),
  ],
  [
    'many length limits on a long text',
    { allOf: Array.from({ length: 300 }, () => ({ maxLength: 2_000_000 })) },
    'x'.repeat(1_000_000),
  ],
  ['a large pattern and a long text', { pattern: '(a|b)*a(a|b){400}$' }, 'ab'.repeat(100_000)],
])('a check that takes too long is abandoned: %s', (_, schema, value) => {
  const check = compileSchema(schema);
  expect(check(value)).toEqual(TOO_LONG);
  expect(check(value), 'each check has steps of its own').toEqual(TOO_LONG);
});

it('a megabyte of ordinary values is checked completely', () => {
  const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
  const item = {
    type: 'object',
    additionalProperties: false,
    required: ['id'],
    properties: { id: { type: 'string', pattern: uuid }, name: { type: 'string', minLength: 1 } },
  };
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const items = Array.from({ length: 10_000 }, () => ({ id, name: 'x'.repeat(40) }));
  const check = compileSchema({ type: 'array', items: item });
  expect(check(items)).toBeUndefined();
  expect(check([...items, { id, name: '' }])).toEqual({
    path: ['10000', 'name'],
    reason: 'it must NOT have fewer than 1 characters',
  });
});

it('a value too deep for the stack is refused without a crash', () => {
  const check = compileSchema({
    $ref: '#/$defs/a',
    $defs: { a: { properties: { x: { $ref: '#/$defs/a' } } } },
  });
  expect(check(nested(100))).toBeUndefined();
  expect(check(nested(60_000))).toEqual({ path: [], reason: 'it is nested too deeply to be checked' });
});

it('a schema too large or too deep to compile rejects nothing', () => {
  const wide = (length: number): object => ({
    properties: Object.fromEntries(
      Array.from({ length }, (_, index) => [`p${index}`, { anyOf: [{ type: 'string' }, { enum: [index] }] }]),
    ),
  });
  expect([10, 300, 2_500].map((length) => isCheckable(wide(length)))).toEqual([true, true, false]);
  expect([100, 201, 60_000].map((levels) => isCheckable(nested(levels)))).toEqual([true, false, false]);
  expect(compileSchema(wide(300))({ p1: 2 })).toBeDefined();
  expect(compileSchema(wide(2_500))({ p1: 2 })).toBeUndefined();
});

it('names inherited from Object.prototype count as absent', () => {
  const properties = { constructor: { type: 'string' }, toString: { type: 'string' } };
  expect(compileSchema({ type: 'object', properties })({})).toBeUndefined();
  expect(compileSchema({ required: ['constructor'] })({})).toEqual({
    path: ['constructor'],
    reason: 'it is missing',
  });
});

it('a keyword is treated as a property name where names are expected', () => {
  const schema = { properties: { enum: { type: 'string' }, required: { properties: { const: false } } } };
  const check = compileSchema(schema);
  expect(check({ enum: 'a', required: {} })).toBeUndefined();
  expect(check({ enum: 1 })?.path).toEqual(['enum']);
  expect(check({ required: { const: 1 } })?.path).toEqual(['required', 'const']);
});

it('an invalid schema is reported on every call', () => {
  const bad = { type: 'object', properties: { a: { type: 'strng' } } };
  const checked = tryCompileSchema(bad);
  expect(checked).toEqual(tryCompileSchema(bad));
  expect(checked.ok ? '' : checked.error).toContain(
    'schema is invalid: data/properties/a/type must be equal to one',
  );
  const named = { $id: 'https://example.com/one', type: 'string' };
  expect([tryCompileSchema(named).ok, tryCompileSchema({ ...named, type: 'number' }).ok]).toEqual([
    true,
    true,
  ]);
});

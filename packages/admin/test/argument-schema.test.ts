import { expect, it } from 'vitest';
import {
  buildInitialArguments,
  findMissingPart,
  omitUntouched,
  toArgumentSchema,
} from '../src/state/argument-schema.ts';

/** As in the Notion server: an icon or a cover is one of several objects, or null. */
const NOTION = {
  type: 'object',
  required: ['page_id', 'version'],
  properties: {
    page_id: { type: 'string' },
    version: { type: 'string', default: '2022-06-28' },
    in_trash: { type: 'boolean', default: false },
    cover: {
      type: 'object',
      properties: { type: { enum: ['external'] }, external: { type: 'object', properties: { url: {} } } },
    },
    icon: {
      anyOf: [
        { title: 'Emoji', type: 'object' },
        { type: 'object', required: ['external'], properties: { external: { type: 'object' } } },
        { type: 'object', required: ['type', 'id'], properties: { type: { const: 'custom' } } },
        { $ref: '#/$defs/file' },
        { type: 'null' },
        { const: 7 },
        { type: 'string' },
        { type: 'string' },
        {},
      ],
    },
  },
  $defs: { file: { type: 'object', required: ['file', 'name\u202e<b>'] } },
};

it('alternatives are named by title, constant, required members or type', () => {
  const { icon } = toArgumentSchema(NOTION)?.properties ?? {};
  const options = typeof icon === 'object' ? (icon.anyOf ?? []) : [];
  expect(options.map((one) => (typeof one === 'object' ? one.title : one))).toEqual([
    ...['Emoji', 'external', 'custom', 'file, name\\u202e<b>', 'null', '7', 'string 7', 'string 8', '9'],
  ]);
});

it('a reference to itself or to nothing names an alternative by its number', () => {
  const anyOf = [{ $ref: '#/$defs/loop' }, { $ref: '#/constructor' }];
  const schema = toArgumentSchema({
    properties: { a: { anyOf } },
    $defs: { loop: { $ref: '#/$defs/loop' } },
  });
  const { a } = schema?.properties ?? {};
  expect(typeof a === 'object' ? a.anyOf?.map((one) => typeof one === 'object' && one.title) : a).toEqual([
    '1',
    '2',
  ]);
});

it('a form begins with the required values that the schema states, and no others', () => {
  expect(buildInitialArguments(toArgumentSchema(NOTION) ?? {})).toEqual({ version: '2022-06-28' });
});

it('members that were not touched are not sent, and what was written as JSON stays', () => {
  const touched = { page_id: 'p', in_trash: undefined, cover: { external: {} }, list: [{ a: {} }] };
  expect(omitUntouched(touched, {})).toEqual({ page_id: 'p', list: [{}] });
  expect(
    omitUntouched({ cover: { external: { url: undefined } } }, { cover: { external: { url: 'u' } } }),
  ).toEqual({});
  expect(omitUntouched({ in_trash: false, cover: {} }, { cover: {} })).toEqual({
    in_trash: false,
    cover: {},
  });
});

it.each([
  [{ properties: { a: { $ref: '#/$defs/A' } } }, '#/$defs/A'],
  [
    {
      properties: { a: { type: 'array', items: { anyOf: [{}, { $ref: '#/$defs/A/x' }] } } },
      $defs: { A: {} },
    },
    '#/$defs/A/x',
  ],
  [{ properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { $ref: '#/$defs/B' } } }, '#/$defs/B'],
  [{ $ref: '#/$defs/constructor', $defs: {} }, '#/$defs/constructor'],
])('the part that %j lacks is found', (schema, missing) => {
  expect(findMissingPart(schema)).toBe(missing);
});

it.each([
  NOTION,
  {
    properties: { a: { $ref: '#' }, b: { $ref: '#/properties/a' }, c: { $ref: '#/anyOf/0' } },
    anyOf: [true],
  },
  { properties: { a: { $ref: '#/$defs/a~1b%20c' } }, $defs: { 'a/b c': {} } },
  { properties: { a: { $ref: '#/$defs/loop' } }, $defs: { loop: { $ref: '#/$defs/loop' } } },
  { properties: { a: { $ref: '#/$defs/%zz' } } },
  { properties: { a: { $ref: '#named' }, b: { $ref: 'https://example.com/b.json' } } },
  { properties: { a: { default: { $ref: '#/none' } } } },
  undefined,
])('no part of %.80j is missing', (schema) => {
  expect(findMissingPart(schema)).toBeUndefined();
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { chooseArguments, type ArgumentRequest } from '../src/arguments/choose-arguments.ts';
import { findValues, Knowledge } from '../src/arguments/knowledge.ts';

function knowing(tool: string, result: object): Knowledge {
  const knowledge = new Knowledge();
  knowledge.learn(
    tool,
    {},
    findValues(tool, { content: [{ type: 'text', text: JSON.stringify(result) }] }),
    0,
  );
  return knowledge;
}

const SCENE = {
  folder: '/seed',
  files: ['/seed/data.json', '/seed/image.png', '/seed/notes.txt'],
  folders: ['/seed/docs'],
  knowledge: knowing('list_users', { users: [{ id: 41 }, { id: 42 }] }),
};

function chosen(
  inputSchema: ArgumentRequest['inputSchema'],
  part: Partial<ArgumentRequest> = {},
): readonly unknown[] {
  const request = { name: 'tool', inputSchema, recorded: [], fixtures: [], limit: 8, ...part };
  return chooseArguments(request, SCENE).map(({ args, origin }) => ({ args, origin }));
}

const object = (
  properties: object,
  required: readonly string[] = Object.keys(properties),
): ArgumentRequest['inputSchema'] => ({
  type: 'object',
  properties,
  required,
});

it("arguments from the fixtures file are used alone, with the seed data's folder filled in", () => {
  const fixtures = [{ path: '{seed}/a', more: ['{seed}'] }];
  expect(chosen(object({ path: { type: 'string' } }), { fixtures })).toEqual([
    { args: { path: '/seed/a', more: ['/seed'] }, origin: 'fixture' },
  ]);
});

it('arguments of recorded calls come first, unchanged', () => {
  const given = { recorded: [{ path: '{seed}' }, { path: 'b' }], fixtures: [{ path: 'b' }, { path: 'c' }] };
  expect(chosen(object({ path: { type: 'string' } }), given)).toEqual([
    { args: { path: '{seed}' }, origin: 'recorded' },
    { args: { path: 'b' }, origin: 'recorded' },
    { args: { path: 'c' }, origin: 'fixture' },
  ]);
});

it('examples and defaults of the schema come before guesses', () => {
  const schema = object({ a: { type: 'string', examples: ['x'] }, b: { type: 'integer', default: 7 } });
  expect(chosen(schema)[0]).toEqual({ args: { a: 'x', b: 7 }, origin: 'example' });
});

it('an id is taken from an earlier result', () => {
  expect(chosen(object({ user_id: { type: 'integer' } }))[0]).toEqual({
    args: { user_id: 41 },
    origin: 'chained',
  });
});

it('two ids of one kind are different ones that exist', () => {
  const ids = object({ keep_id: { type: 'integer' }, duplicate_id: { type: 'integer' } });
  expect(chosen(ids, { name: 'merge_users' })[0]).toMatchObject({ args: { keep_id: 41, duplicate_id: 42 } });
  const two = object({ user_a: { type: 'integer' }, user_b: { type: 'integer' } });
  expect(chosen(two, { name: 'swap_users' })[0]).toMatchObject({ args: { user_a: 1, user_b: 2 } });
  const ends = object({ from_user_id: { type: 'integer' }, to_user_id: { type: 'integer' } });
  expect(chosen(ends)[0]).toMatchObject({ args: { from_user_id: 41, to_user_id: 42 } });
});

it('nested lists of numbers are a closed line, and lists of fixed items have each of them', () => {
  const number = { type: 'number' };
  const lines = { type: 'array', items: { type: 'array', items: { type: 'array', items: number } } };
  expect(chosen(object({ polygon: lines }))[0]).toMatchObject({
    args: {
      polygon: [
        [
          [1, 1],
          [1, 2],
          [2, 2],
          [1, 1],
        ],
      ],
    },
  });
  const pair = { type: 'array', prefixItems: [number, { enum: ['m', 'km'] }] };
  expect(chosen(object({ distance: pair }))[0]).toMatchObject({ args: { distance: [1, 'm'] } });
});

it('a path points to seed data of the kind that the tool reads', () => {
  const path = object({ path: { type: 'string' } });
  expect(chosen(path, { name: 'read_json' })[0]).toMatchObject({ args: { path: '/seed/data.json' } });
  expect(chosen(path, { name: 'list_directory' })[0]).toMatchObject({ args: { path: '/seed' } });
  const move = object({ source: { type: 'string' }, destination: { type: 'string' } });
  expect(chosen(move, { name: 'move_file' })[0]).toMatchObject({
    args: { source: '/seed/data.json', destination: '/seed/created.txt' },
  });
});

it('generated arguments are valid', () => {
  const schema = object({
    code: { type: 'string', pattern: '^[A-Z]{3}-\\d{2}$' },
    when: { type: 'string', format: 'date-time' },
    count: { type: 'integer', minimum: 5, maximum: 9 },
    list: {
      type: 'array',
      minItems: 2,
      items: { type: 'object', properties: { k: { type: 'number' } }, required: ['k'] },
    },
    either: { anyOf: [{ type: 'string', minLength: 30 }, { type: 'null' }] },
    nested: { $ref: '#/$defs/n' },
  });
  const whole = {
    ...schema,
    $defs: { n: { type: 'object', properties: { v: { const: 4 } }, required: ['v'] } },
  };
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(whole);
  const sets = chosen(whole);
  expect(sets.length).toBeGreaterThan(0);
  for (const set of sets)
    expect([isValid((set as { readonly args: unknown }).args), isValid.errors]).toEqual([true, null]);
});

it.each<[string, string, object, object]>([
  [
    'the kind of file that its own name says counts before the tool',
    'json_image',
    { pngPath: { type: 'string' } },
    { pngPath: '/seed/image.png' },
  ],
  [
    'the name of something in a file is not taken for a path',
    'copy',
    { src_row_name: { type: 'string' } },
    { src_row_name: 'ada' },
  ],
  [
    'a text that replaces another is another one',
    'edit_file',
    { old_text: { type: 'string' }, new_text: { type: 'string' } },
    { old_text: 'A note.', new_text: 'Another note.' },
  ],
  [
    'a default that says nothing is not given',
    'tool',
    { beds: { type: 'array', items: { type: 'string' }, default: [] } },
    { beds: ['apple'] },
  ],
])('%s', (_, name, properties, args) => {
  expect(chosen(object(properties), { name })[0]).toMatchObject({ args });
});

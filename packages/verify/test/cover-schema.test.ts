import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { createSet } from '../src/arguments/choose-arguments.ts';
import { coverSchema } from '../src/arguments/cover-schema.ts';
import { findValues, Knowledge } from '../src/arguments/knowledge.ts';

const CONTEXT = { folder: '/seed', files: ['/seed/notes.txt'], folders: [], knowledge: new Knowledge() };

function covered(properties: JsonObject, base: JsonObject, name = 'set_bed'): readonly JsonObject[] {
  const inputSchema = { type: 'object', properties };
  return coverSchema({ name, inputSchema, base: createSet(base, 'heuristic') }, CONTEXT).map(
    ({ args }) => args,
  );
}

it('each enumerated value, flag, branch and bound is tried once while the other arguments stay', () => {
  const properties = {
    mode: { enum: ['keep', 'trim', 'purge'] },
    dry: { type: 'boolean' },
    depth: { type: 'integer', minimum: 2, maximum: 9 },
    rows: { type: 'array', items: { type: 'integer' } },
    plant: { anyOf: [{ const: 'rose' }, { type: 'null' }] },
  };
  const base = { mode: 'keep', dry: false, depth: 3 };
  const sets = covered(properties, base);
  expect(sets).toEqual(
    expect.arrayContaining([
      { ...base, mode: 'trim' },
      { ...base, mode: 'purge' },
      { ...base, dry: true },
      { ...base, depth: 2 },
      { ...base, depth: 9 },
      { ...base, rows: [] },
      { ...base, rows: [1, 1] },
      { ...base, plant: 'rose' },
      { ...base, plant: null },
    ]),
  );
  expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(sets.length);
});

it('a text is also empty, not ASCII, and 1,000 characters long, where the schema allows it', () => {
  const texts = (more: JsonObject): readonly unknown[] =>
    covered({ bed: { type: 'string', ...more } }, { bed: 'x' }).map(({ bed }) => bed);
  expect(texts({}).some((text) => text === '')).toBe(true);
  expect(texts({}).some((text) => /\P{ASCII}/u.test(String(text)))).toBe(true);
  expect(texts({}).some((text) => String(text).length === 1_000)).toBe(true);
  expect(
    texts({ minLength: 1, maxLength: 50 }).every(
      (text) => String(text).length >= 1 && String(text).length <= 50,
    ),
  ).toBe(true);
});

it('a tool that takes SQL or a command is also given some that writes', () => {
  const sql = covered({ sql: { type: 'string' } }, { sql: 'SELECT 1' }, 'read_query').map(({ sql: text }) =>
    String(text),
  );
  expect(sql.some((text) => text.startsWith('DELETE FROM'))).toBe(true);
  const commands = covered({ command: { type: 'string' } }, { command: 'true' }, 'look_around');
  expect(commands).toContainEqual({ command: 'touch /seed/created.txt' });
});

it('a flag is also tried with each thing that is known', () => {
  const knowledge = new Knowledge();
  const listed = { content: [{ type: 'text', text: JSON.stringify([{ id: 3 }, { id: 4 }]) }] };
  knowledge.learn('list_beds', {}, findValues('list_beds', listed), 1);
  const properties = { bed_id: { type: 'integer' }, force: { type: 'boolean' } };
  const base = createSet({ bed_id: 3, force: false }, 'chained');
  const sets = coverSchema(
    { name: 'dig_bed', inputSchema: { type: 'object', properties }, base },
    { ...CONTEXT, knowledge },
  );
  expect(sets.map(({ args }) => args)).toContainEqual({ bed_id: 4, force: true });
});

it('a flag inside an object is tried while the members beside it stay', () => {
  const options = {
    type: 'object',
    properties: { bed: { type: 'string' }, force: { type: 'boolean' } },
    required: ['bed', 'force'],
  };
  const sets = covered({ options }, { options: { bed: 'note', force: false } });
  expect(sets.some((set) => JSON.stringify(set).includes('"force":true'))).toBe(true);
});

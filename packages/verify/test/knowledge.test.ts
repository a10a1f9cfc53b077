import { expect, it } from 'vitest';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { findValues, Knowledge } from '../src/arguments/knowledge.ts';
import { matchValues, replaceValues } from '../src/arguments/list-uses.ts';
import { nounsOfTool } from '../src/arguments/tool-words.ts';

function learned(tool: string, text: string, args: JsonObject = {}): Knowledge {
  const knowledge = new Knowledge();
  knowledge.learn(tool, args, findValues(tool, { content: [{ type: 'text', text }] }), 7);
  return knowledge;
}

const valuesFor = (knowledge: Knowledge, parameter: string, tool: string): readonly unknown[] =>
  knowledge.find(parameter, tool).map(({ known }) => known.value);

it('a tool is about the noun after its verb, in the singular', () => {
  expect(nounsOfTool('garden_list_flower_beds')).toEqual(['flower_bed', 'bed', 'garden']);
  expect(nounsOfTool('getBedById')).toEqual(['bed']);
  expect(nounsOfTool('beds_search')).toEqual(['bed']);
});

it('a parameter gets the values of the list that its name is the singular of', () => {
  const listed = learned('garden_list_beds', JSON.stringify(['north', 'south']));
  expect(valuesFor(listed, 'bed', 'garden_water')).toEqual(['north', 'south']);
  expect(valuesFor(listed, 'bed_name', 'garden_water')).toEqual(['north', 'south']);
  expect(valuesFor(listed, 'flower', 'garden_water')).toEqual([]);
});

it('an id belongs to the thing that a tool is about, and to a parameter that names the thing', () => {
  const created = learned('create_bed', JSON.stringify({ ok: true, bed: { id: 'b-17', title: 'Roses' } }));
  expect(valuesFor(created, 'id', 'remove_bed')).toEqual(['b-17']);
  expect(valuesFor(created, 'bedId', 'add_plant')[0]).toBe('b-17');
});

it('a key is preferred to an id where a parameter is called key', () => {
  const listed = learned('list_beds', JSON.stringify([{ id: 1, key: 'north' }]));
  expect(valuesFor(listed, 'key', 'water_bed')).toEqual(['north', 1]);
});

it('what is renamed exists', () => {
  const rename = (parameter: string): unknown =>
    learned('list_beds', JSON.stringify(['north'])).find(parameter, 'rename_bed')[0];
  expect(rename('from')).toMatchObject({ known: { value: 'north' }, isSure: true });
  expect(rename('to')).toBeUndefined();
});

it('the ends of what is merged are ids of the thing', () => {
  const listed = learned('list_beds', JSON.stringify([{ id: 'b-1', title: 'Roses' }]));
  expect(valuesFor(listed, 'source', 'merge_beds')[0]).toBe('b-1');
});

it('a single word is a value if the tool lists something', () => {
  expect(valuesFor(learned('list_beds', 'north'), 'bed_name', 'water_bed')).toEqual(['north']);
  expect(valuesFor(learned('open_bed', 'done'), 'bed_name', 'water_bed')).toEqual([]);
});

it('lists, pairs and ids are read from texts for people', () => {
  const text = '3 beds:\n- **north**: sunny\n- `south` (shade)\n\nBed ID: 4711\n';
  const listed = learned('list_beds', text);
  expect(valuesFor(listed, 'bed', 'water_bed')).toEqual(expect.arrayContaining(['north', 'south']));
  expect(valuesFor(listed, 'bed_id', 'water_bed')[0]).toBe('4711');
});

it('the first words of the rows of a list are names, and ids if they have digits', () => {
  const text = 'B-01 (north), 7 plants\nB-02 (south), 4 plants\nterrace: empty\n';
  expect(valuesFor(learned('list_beds', text), 'bed_id', 'water_bed').slice(0, 2)).toEqual(['B-01', 'B-02']);
  expect(valuesFor(learned('list_beds', text), 'bed', 'water_bed')).toContain('terrace');
  expect(valuesFor(learned('open_bed', text), 'bed', 'water_bed')).not.toContain('B-01');
});

it('an id of a tool whose prefix names nothing is that of the thing that the tool is about', () => {
  const listed = learned('list_beds', JSON.stringify([{ id: 3 }, { id: 4 }]));
  expect(valuesFor(listed, 'keep_id', 'merge_beds')).toEqual([3, 4]);
  expect(listed.find('keep_id', 'merge_beds')[0]).toMatchObject({ isSure: true });
});

it('a name that a tool was given is known if the tool creates something', () => {
  const args = { name: 'east' };
  expect(valuesFor(learned('create_bed', 'done', args), 'name', 'water_bed')).toEqual(['east']);
  expect(valuesFor(learned('check_bed', 'done', args), 'name', 'water_bed')).toEqual([]);
});

it('what a server answers is kept within limits', () => {
  const knowledge = new Knowledge();
  for (let call = 0; call < 50; call += 1) {
    const rows = Array.from({ length: 1_000 }, (_, at) => ({
      [`member${call}_${at}`]: 'x',
      id: `${call}-${at}`,
    }));
    const text = JSON.stringify({ rows, long: 'x'.repeat(10_000) });
    knowledge.learn('list_rows', {}, findValues('list_rows', { content: [{ type: 'text', text }] }), call);
  }
  expect(valuesFor(knowledge, 'member0_0', 'get_row')).toEqual(['x']);
  expect(valuesFor(knowledge, 'member49_0', 'get_row')).toEqual([]);
  expect(valuesFor(knowledge, 'id', 'get_row').length).toBeLessThanOrEqual(40);
  expect(valuesFor(knowledge, 'long', 'get_row')).toEqual([]);
});

it('values of an earlier process are replaced by those at the same position of a new result', () => {
  const replacements = new Map<string | number, string | number>();
  const before = [
    { noun: 'bed', member: 'id', value: 'b-1' },
    { noun: 'bed', member: 'name', value: 'north' },
  ];
  matchValues(before, [{ ...before[0]!, value: 'b-2' }, before[1]!], replacements);
  expect(replaceValues({ bed: 'b-1', also: ['b-1', 'north'] }, replacements)).toEqual({
    bed: 'b-2',
    also: ['b-2', 'north'],
  });
});

it('what looks like a secret is not passed on to other tools', () => {
  const knowledge = new Knowledge();
  const found = [
    { noun: 'garden', member: 'password', value: 'rose' },
    { noun: 'garden', member: 'key', value: 'sk-abcdefghijklmnopqrstuvwxy1' },
    { noun: 'garden', member: 'url', value: 'https://ada:rose@garden.example/' },
    { noun: 'garden', member: 'id', value: 'g1' },
  ];
  knowledge.learn('get_garden', {}, found, 0);
  const values = ['garden_password', 'garden_key', 'garden_url', 'garden_id'].map((name) =>
    knowledge.find(name, 'open_garden').map(({ known }) => known.value),
  );
  expect(values).toEqual([[], ['g1'], [], ['g1']]);
});

import { expect, it } from 'vitest';
import { findPrerequisites } from '../src/arguments/find-prerequisites.ts';

const TOOLS = ['init', 'open_garden', 'garden_connect', 'create_bed', 'close_bed', 'list_beds', 'water_bed'];

it.each<[string, string, readonly string[]]>([
  ['a tool by its whole name', 'Call create_bed first.', ['create_bed']],
  ['a tool that a request in Chinese names', '请先调用 create_bed', ['create_bed']],
  ['a tool of one word', 'Please run `init` before any other tool', ['init']],
  ['a tool by its last words', 'Not ready: use connect to start', ['garden_connect']],
  [
    'two tools in the order of the text',
    'Use open_garden, then create_bed, first',
    ['open_garden', 'create_bed'],
  ],
  [
    'a state that a verb leads to',
    'Error: the store is not initialized',
    ['init', 'create_bed', 'open_garden'],
  ],
  ['a thing that is not open', 'No garden is currently open', ['open_garden', 'garden_connect']],
  ['a thing that is missing', 'No active bed', ['create_bed']],
  ['a connection', 'Not connected.', ['garden_connect', 'open_garden', 'init']],
])('%s is found in an answer', (_, text, found) => {
  expect(findPrerequisites(text, 'water_bed', TOOLS)).toEqual(found);
});

it.each([
  ['the failed tool itself', 'Call water_bed first'],
  ['a tool that removes', 'Call close_bed before'],
  ['a part of another word', 'Please initialise_all create_bedding first'],
  ['a text about something else', 'depth must be a number'],
])('%s is not asked for', (_, text) => {
  expect(
    findPrerequisites(
      text,
      'water_bed',
      TOOLS.filter((name) => name !== 'init'),
    ),
  ).toEqual([]);
});

it('no more than three tools are found, whatever the text names', () => {
  const tools = Array.from({ length: 50 }, (_, at) => `open_bed_${at}`);
  expect(findPrerequisites(`Call first: ${tools.join(', ')}`, 'x', tools)).toHaveLength(3);
});

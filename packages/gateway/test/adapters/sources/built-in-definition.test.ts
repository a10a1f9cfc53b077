import { expect, it } from 'vitest';
import { serializeDefinition } from '../../../src/adapters/sources/built-in-tool.ts';
import type { BuiltInDefinition } from '@assay-mcp/functions/function-messages';
import { at, parseJson, type Json } from '../../../../../test/support/json.ts';

function titlesOf(definition: Partial<BuiltInDefinition>): readonly (Json | undefined)[] {
  const made = { name: 'get-userById', inputSchema: { type: 'object' }, ...definition };
  const text = parseJson(
    serializeDefinition({ definition: made, run: () => Promise.reject(new Error('not called')) }),
  );
  return [at(text, 'title'), at(text, 'annotations', 'title')];
}

it.each<[string, Partial<BuiltInDefinition>, readonly string[]]>([
  [
    'in annotations is kept, and is the title where there is no other',
    { annotations: { title: 'Mine' } },
    ['Mine', 'Mine'],
  ],
  ['in both places is kept in both', { title: 'One', annotations: { title: 'Two' } }, ['One', 'Two']],
  ['of its own stands in annotations too', { title: 'One' }, ['One', 'One']],
  ['that is no text is none', { annotations: { title: 7 } }, ['Get user by id', 'Get user by id']],
  ['is made of the name where nobody gave one', {}, ['Get user by id', 'Get user by id']],
])('a title %s', (_what, definition, expected) => {
  expect(titlesOf(definition)).toEqual(expected);
});

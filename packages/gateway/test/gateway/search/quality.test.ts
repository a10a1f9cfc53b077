import { expect, it } from 'vitest';
import { buildWordSearch } from '../../../src/adapters/search/word-search.ts';
import { Listing } from '../../../src/gateway/catalog/listing.ts';
import { getToolSearch } from '../../../src/gateway/services/tools/tool-search.ts';
import { ToolIndex } from '../../../src/gateway/services/toolsets/tool-index.ts';
import { definition, listed } from '../listed-server.ts';
import { measure, openCollected, selectQuestions } from './question-set.ts';

// One less than was reached: a change that costs more has to be meant.
it.each([
  ['plain', 'tuning', 14],
  ['loose', 'tuning', 14],
  ['plain', 'held out', 14],
  ['loose', 'held out', 12],
  ['later', 'held out', 26],
  ['more', 'tuning', 244],
  ['idioms', 'held out', 18],
] as const)(
  'of the %s questions (%s), at least %i have a right tool within five',
  async (words, part, floor) => {
    const { found } = measure(await openCollected(), selectQuestions(words, part), 5);
    expect(found).toBeGreaterThanOrEqual(floor);
  },
);

it('no question is in both halves, and each half has 15 of each kind', () => {
  for (const words of ['plain', 'loose'] as const) {
    const [tuning, heldOut] = [selectQuestions(words, 'tuning'), selectQuestions(words, 'held out')];
    expect([tuning.length, heldOut.length]).toEqual([15, 15]);
    expect(new Set([...tuning, ...heldOut].map(({ query }) => query)).size).toBe(30);
  }
});

it('a title in the annotations is searched too', async () => {
  const tool = { name: 'x1', inputSchema: { type: 'object' }, annotations: { title: 'Frobnicate' } };
  const entry = { key: 's_x1', name: 'x1', server: listed('s'), definition: definition('tools', tool) };
  const search = await getToolSearch(
    new ToolIndex(new Listing({ kind: 'tools', entries: [entry] })),
    buildWordSearch,
  );
  expect(search('frobnicate').map(({ key }) => key)).toEqual(['s_x1']);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNameBudget, shortenNames } from '../../src/core/name-budget.ts';

function short(names: readonly string[], maxLength = 54): Readonly<Record<string, string>> {
  return Object.fromEntries(shortenNames(names, maxLength));
}

describe('a name that is too long for a client', () => {
  it('loses words in its middle, and keeps server, verb and object', () => {
    expect(
      short([
        'github_create_pull_request_review_comment_for_changed_file',
        'huggingface_gr2_abidlabs_easyghiblis_condition_generate_image',
        'github_get_me',
      ]),
    ).toEqual({
      github_create_pull_request_review_comment_for_changed_file:
        'github_create_request_review_comment_for_changed_file',
      huggingface_gr2_abidlabs_easyghiblis_condition_generate_image:
        'huggingface_gr2_easyghiblis_condition_generate_image',
    });
  });

  it('ends in a hash if two would collide, or if it is one long word', () => {
    const names = [
      'sheets_get_values_of_the_first_range_by_data_filter_and_sheet',
      'sheets_get_values_of_the_second_range_by_data_filter_and_sheet',
      `one_${'x'.repeat(60)}`,
    ];
    const given = short(names, 40);
    expect(Object.keys(given)).toEqual(names);
    expect(Object.values(given)).toEqual([
      expect.stringMatching(/^sheets_get_values_of_the_first_ra_[\da-f]{6}$/),
      expect.stringMatching(/^sheets_get_values_of_the_second_r_[\da-f]{6}$/),
      expect.stringMatching(/^one_x{29}_[\da-f]{6}$/),
    ]);
  });

  it('is unique, and the same in any order of the tools', () => {
    const name = fc
      .array(fc.constantFrom('get', 'list', 'issue', 'of', 'the', 'project_board', 'x'), {
        minLength: 1,
        maxLength: 9,
      })
      .map((words) => words.join('_'));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 30 }), fc.integer({ min: 12, max: 30 }), (names, max) => {
        const given = shortenNames(names, max);
        expect([...given.keys()]).toEqual(names.filter((one) => one.length > max));
        const shown = names.map((one) => given.get(one) ?? one);
        expect(new Set(shown).size).toBe(names.length);
        expect(shown.filter((one) => one.length > max)).toEqual([]);
        expect(Object.fromEntries(shortenNames(names.toReversed(), max))).toEqual(Object.fromEntries(given));
      }),
    );
  });
});

it('the limit depends on the name that the client reports', () => {
  const of = (name: unknown): number | undefined => findNameBudget(JSON.stringify({ name, version: '1' }));
  expect([of('cursor-vscode'), of('Cursor'), of('claude-code')]).toEqual([54, 54, 52]);
  expect([of('claude-ai'), of('my-cursor'), of(7), findNameBudget(undefined), findNameBudget('[]')]).toEqual(
    Array.from({ length: 5 }),
  );
});

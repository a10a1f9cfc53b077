import { describe, expect, it } from 'vitest';
import { declaredIn } from '../../../src/core/hints/declared.ts';
import { lint, type LintLevels } from '../../../src/core/hints/lint.ts';

const ALL: LintLevels = {
  contradiction: 'error',
  'not-boolean': 'error',
  'telling-words': 'warning',
  'missing-hints': 'warning',
};

const WHOLE = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

function found(name: string, annotations: unknown, more: object = {}): readonly string[] {
  const declared = declaredIn(JSON.stringify({ name, annotations, ...more }));
  return lint({ name, declared, emitted: declared.hints }, ALL).map(({ rule, hint }) =>
    hint ? `${rule} ${hint}` : rule,
  );
}

describe('annotations', () => {
  it.each([
    ['that are whole and agree with the name', 'write_file', WHOLE, []],
    [
      'of the seed page, idempotent beside read-only',
      'read',
      { ...WHOLE, readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      [],
    ],
    ['that only read and need say no more', 'read', { readOnlyHint: true, openWorldHint: false }, []],
    ['that contradict each other', 'x', { ...WHOLE, readOnlyHint: true }, ['contradiction']],
    [
      'with a hint that is a text',
      'x',
      { ...WHOLE, readOnlyHint: 'maybe' },
      ['not-boolean readOnlyHint', 'missing-hints'],
    ],
    ['that leave hints out', 'x', {}, ['missing-hints']],
    ['that are no object', 'x', 'none', ['missing-hints']],
    [
      'whose name speaks of deleting',
      'deleteFile',
      { ...WHOLE, readOnlyHint: true, destructiveHint: false },
      ['telling-words readOnlyHint'],
    ],
    [
      'whose name speaks of writing',
      'file_write',
      { readOnlyHint: true, openWorldHint: false },
      ['telling-words readOnlyHint'],
    ],
    ['whose name speaks of reading', 'get_user', WHOLE, ['telling-words destructiveHint']],
    [
      'whose name speaks of appending',
      'append',
      { ...WHOLE, idempotentHint: true },
      ['telling-words idempotentHint'],
    ],
    ['whose name speaks of the web', 'fetchPage', WHOLE, ['telling-words openWorldHint']],
    ['of a tool called like what all objects have', '__proto__', WHOLE, []],
  ])('%s', (_name, tool, annotations, expected) => {
    expect(found(tool, annotations)).toEqual(expected);
  });

  it('whose description speaks of destruction are a reason to look', () => {
    const calm = { ...WHOLE, destructiveHint: false };
    expect(found('tidy', calm, { description: 'Removes old files.' })).toEqual([
      'telling-words destructiveHint',
    ]);
    expect(found('tidy', calm, { description: 'Lists removed files.' })).toEqual([]);
  });

  it('say what is wrong, and what to do', () => {
    const declared = declaredIn('{"name":"x","annotations":{"readOnlyHint":"maybe"}}');
    const [first] = lint({ name: 'x', declared, emitted: {} }, ALL);
    expect(first).toEqual({
      rule: 'not-boolean',
      level: 'error',
      hint: 'readOnlyHint',
      says: 'Its readOnlyHint is "maybe", which is neither true nor false. It is left out of lists, as official clients would reject all tools for it.',
      remedy: 'Write true or false, without quotes, or leave readOnlyHint out.',
    });
  });

  it('are not judged by a rule that is off', () => {
    const declared = declaredIn('{"name":"x"}');
    expect(lint({ name: 'x', declared, emitted: {} }, { ...ALL, 'missing-hints': 'off' })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { readDeclared } from '../../../src/core/hints/declared.ts';
import { lint, type LintLevels } from '../../../src/core/hints/lint.ts';

const ALL: LintLevels = {
  contradiction: 'error',
  'not-boolean': 'error',
  'telling-words': 'warning',
  'missing-hints': 'warning',
  'hidden-text': 'warning',
};

const WHOLE = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

function found(name: string, annotations: unknown, more: object = {}, method?: string): readonly string[] {
  const declared = readDeclared(JSON.stringify({ name, annotations, ...more }), { method });
  return lint({ name, declared, emitted: declared.hints }, ALL).map(({ rule, hint }) =>
    hint ? `${rule} ${hint}` : rule,
  );
}

describe('annotations', () => {
  it.each([
    ['complete and consistent with the name', 'write_file', WHOLE, []],
    [
      'as on the seed page, idempotent and read-only',
      'read',
      { ...WHOLE, readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      [],
    ],
    [
      'read-only and closed-world, which needs no more',
      'read',
      { readOnlyHint: true, openWorldHint: false },
      [],
    ],
    ['contradicting each other', 'x', { ...WHOLE, readOnlyHint: true }, ['contradiction']],
    [
      'with a string as a hint',
      'x',
      { ...WHOLE, readOnlyHint: 'maybe' },
      ['not-boolean readOnlyHint', 'missing-hints'],
    ],
    ['without hints', 'x', {}, ['missing-hints']],
    ['not an object', 'x', 'none', ['missing-hints']],
    [
      'with a name that suggests deleting',
      'deleteFile',
      { ...WHOLE, readOnlyHint: true, destructiveHint: false },
      ['telling-words readOnlyHint'],
    ],
    [
      'with a name that suggests writing',
      'file_write',
      { readOnlyHint: true, openWorldHint: false },
      ['telling-words readOnlyHint'],
    ],
    ['with a name that suggests reading', 'get_user', WHOLE, ['telling-words destructiveHint']],
    [
      'with a name that suggests appending',
      'append',
      { ...WHOLE, idempotentHint: true },
      ['telling-words idempotentHint'],
    ],
    ['with a name that suggests web access', 'fetchPage', WHOLE, ['telling-words openWorldHint']],
    ['for a tool named like a member of Object.prototype', '__proto__', WHOLE, []],
  ])('are checked: %s', (_name, tool, annotations, expected) => {
    expect(found(tool, annotations)).toEqual(expected);
  });

  it('are reported if they deny the destruction that the description suggests', () => {
    const calm = { ...WHOLE, destructiveHint: false };
    expect(found('tidy', calm, { description: 'Removes old files.' })).toEqual([
      'telling-words destructiveHint',
    ]);
    expect(found('tidy', calm, { description: 'Lists removed files.' })).toEqual([]);
  });

  it('are reported with a remedy', () => {
    const declared = readDeclared('{"name":"x","annotations":{"readOnlyHint":"maybe"}}');
    const [first] = lint({ name: 'x', declared, emitted: {} }, ALL);
    expect(first).toEqual({
      rule: 'not-boolean',
      level: 'error',
      hint: 'readOnlyHint',
      message:
        'Its readOnlyHint is "maybe", which is neither true nor false. It is left out of lists, as official clients would reject all tools for it.',
      remedy: 'Write true or false, without quotes, or leave readOnlyHint out.',
    });
  });

  it('cannot hide text from people, nor can any other part of the definition, at any depth', () => {
    const hidden = (more: object): readonly string[] => {
      const declared = readDeclared(JSON.stringify({ name: 'x', ...more }));
      return lint({ name: 'x', declared, emitted: WHOLE }, ALL).map(
        ({ rule, message }) => `${rule}: ${message}`,
      );
    };
    const message = (path: string, characters: string): string =>
      `hidden-text: Its ${path} contains characters that are invisible to people but read by models: ${characters}.`;
    expect(
      hidden({
        title: 'a\u200bb',
        description: 'Reads.\u{e0053}\u{e0061}\u{e0053}',
        annotations: { title: 'soft\u00adhyphen' },
        inputSchema: {
          properties: { a: { enum: ['ok', 'b\u061c'], description: '\u202eab' }, 'c\u3164': {} },
        },
        _meta: { deep: [{ er: ['\ufe0f'] }] },
      }),
    ).toEqual([
      message('title', 'U+200B'),
      message('description', 'U+E0053, U+E0061'),
      message('annotations.title', 'U+00AD'),
      message('inputSchema.properties["c\u3164"]', 'U+3164'),
      message('inputSchema.properties.a.enum[1]', 'U+061C'),
      message('inputSchema.properties.a.description', 'U+202E'),
      message('_meta.deep[0].er[0]', 'U+FE0F'),
    ]);
    expect(hidden({ description: '⚠️ Löscht 日本語　👩‍👩‍👧 1️⃣\n\tline\u00a0two' })).toEqual([]);
  });

  it('are searched for hidden text however deep and wide the definition is', () => {
    const deep = `{"name":"x","a":${'['.repeat(50_000)}"\\u200b"${']'.repeat(50_000)}}`;
    expect(readDeclared(deep).hidden).toMatchObject([{ characters: ['U+200B'] }]);
    const wide = JSON.stringify({ name: 'x', a: Array.from({ length: 300_000 }, () => '\u200b') });
    expect(readDeclared(wide).hidden).toHaveLength(10);
  });

  it('are not checked by a disabled rule', () => {
    const declared = readDeclared('{"name":"x"}');
    expect(lint({ name: 'x', declared, emitted: {} }, { ...ALL, 'missing-hints': 'off' })).toEqual([]);
  });
});

describe('annotations of a tool with an HTTP method', () => {
  const sending = (method: string, annotations: object): readonly string[] =>
    found('x', { ...WHOLE, ...annotations }, {}, method);
  const READS = { readOnlyHint: true, destructiveHint: false };

  it('are reported if they claim less harm than the method suggests, except for POST', () => {
    const results = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => sending(method, READS));
    const finding = ['telling-words readOnlyHint'];
    expect(results).toEqual([[], [], finding, finding, finding]);
    expect(sending('DELETE', { destructiveHint: false })).toEqual(['telling-words destructiveHint']);
    expect(sending('PUT', { destructiveHint: false })).toEqual([]);
  });

  it('are accepted if they claim more harm than the method suggests', () => {
    expect(sending('GET', {})).toEqual([]);
    expect(sending('DELETE', {})).toEqual([]);
  });
});

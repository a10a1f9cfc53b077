import ansis from 'ansis';
import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { formatProse, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { layoutTable, measureWidth } from '@assay-mcp/kit/platform/terminal/table';

/** The lines of a table below its header. */
function rows(cells: readonly (readonly string[])[]): readonly string[] {
  return formatTable(['A', 'B'], cells).split('\n').slice(1);
}

describe('a table', () => {
  it('keeps the color of a cell, and aligns by visible width', () => {
    expect(
      rows([
        ['\u001b[32mup\u001b[39m', 'x'],
        ['failed', 'y'],
      ]),
    ).toEqual(['\u001b[32mup\u001b[39m      x', 'failed  y']);
  });

  it('escapes control characters, so that no cell breaks its line or position', () => {
    expect(rows([['a\n\u001b[2J', 'b\r\u009b31m\u202e']])).toEqual([
      'a\\u000a\\u001b[2J  b\\u000d\\u009b31m\\u202e',
    ]);
    expect(rows([['\u001b[31m\u001b[2Jup\u001b[39m', 'b']])).toEqual([
      '\\u001b[31m\\u001b[2Jup\\u001b[39m  b',
    ]);
    expect(rows([[ansis.green('up\n'), 'b']]).join('')).not.toContain('\n');
  });

  it('holds any number of rows', () => {
    expect(rows(Array.from({ length: 200_000 }, () => ['a', 'b']))).toHaveLength(200_000);
  });
});

describe('a table at 80 columns', () => {
  const linesOf = (head: readonly string[], cells: readonly (readonly string[])[]): readonly string[] =>
    layoutTable(head, cells, { width: 80 }).split('\n');

  it('is never wider, whatever its cells contain, and loses no text', () => {
    const word = fc.oneof(
      fc.stringMatching(/^[a-z_.-]{1,90}$/),
      fc.constantFrom('読み取り専用のツール', '삭제', '👩‍👩‍👧', 'é', 'https://example.com/a/b?c=d&e=f'.repeat(4)),
    );
    const cell = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
    const table = fc.integer({ min: 1, max: 7 }).chain((columns) =>
      fc.record({
        head: fc.array(fc.constantFrom('NAME', 'WHAT BECOMES OF IT'), {
          minLength: columns,
          maxLength: columns,
        }),
        rows: fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 5 }),
      }),
    );
    const charactersOf = (text: string): string => Array.from(text.replace(/\s/g, '')).sort().join('');
    fc.assert(
      fc.property(table, ({ head, rows: given }) => {
        const lines = linesOf(head, given);
        for (const line of lines) expect(measureWidth(line)).toBeLessThanOrEqual(80);
        expect(charactersOf(lines.join(''))).toBe(charactersOf([...head, ...given.flat()].join('')));
      }),
    );
  });

  it('narrows its widest columns, breaks names after a separator, and aligns wide characters', () => {
    const name = 'github_create_pull_request_review_comment_reply';
    const lines = linesOf(
      ['TOOL', 'SERVER', 'DESCRIPTION'],
      [
        [name, 'github', 'Replies to a comment of a review, which must exist, and returns the reply'],
        ['読む', 'files', 'x'],
      ],
    );
    expect(lines).toEqual([
      'TOOL                                 SERVER  DESCRIPTION',
      'github_create_pull_request_review_   github  Replies to a comment of a review,',
      'comment_reply                                which must exist, and returns the',
      '                                             reply',
      '読む                                 files   x',
    ]);
  });

  it('colors each line of a wrapped cell', () => {
    const head = ['STATE', 'X'];
    const cells = [['\u001b[33mneeds sign-in\u001b[39m', 'y']];
    expect(layoutTable(head, cells, { width: 10 }).split('\n').slice(1)).toEqual([
      '\u001b[33mneeds\u001b[39m    y',
      '\u001b[33msign-in\u001b[39m',
    ]);
  });
});

describe('prose', () => {
  const text = `${'word '.repeat(30)}${'x'.repeat(90)} end`;

  it('is wrapped to 80 columns in a terminal, without losing text', () => {
    const lines = formatProse(text, { indent: '  ', isTerminal: true }).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([`  ${'x'.repeat(90)}`]);
    expect(lines.every((line) => line.startsWith('  '))).toBe(true);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(text);
  });

  it('stays on one line if the output is not a terminal', () => {
    expect(formatProse(text, { indent: '  ', isTerminal: false })).toBe(`  ${text}`);
  });
});

it('the width of a text is that of its characters as terminals show them', () => {
  const texts = [
    'é',
    'e\u0301',
    '읽기',
    '각',
    'ﾊﾞｰ',
    'नमस्ते',
    '👩‍👩‍👧',
    '👍🏽',
    '1️⃣',
    '❤️',
    '🇩🇪',
    '™️',
    '☺',
    '\u200b',
  ];
  const fromRange = Array.from({ length: 15_000 }, (_, at) => String.fromCodePoint(13 * at));
  const wrong = [...texts, ...fromRange].filter((text) => measureWidth(text) !== stringWidth(text));
  expect(wrong).toEqual([]);
});

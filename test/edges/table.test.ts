import ansis from 'ansis';
import { describe, expect, it } from 'vitest';
import { proseOf, tableOf } from '../../src/edges/cli/output.ts';

/** The lines of a table without its head. */
function rows(cells: readonly (readonly string[])[]): readonly string[] {
  return tableOf(['A', 'B'], cells).split('\n').slice(1);
}

describe('a table', () => {
  it('keeps the colour of a cell, and aligns by what is seen', () => {
    expect(
      rows([
        ['\u001b[32mup\u001b[39m', 'x'],
        ['failed', 'y'],
      ]),
    ).toEqual(['\u001b[32mup\u001b[39m      x', 'failed  y']);
  });

  it('shows what else a terminal would obey, so that no cell leaves its line or its place', () => {
    expect(rows([['a\n\u001b[2J', 'b\r\u009b31m\u202e']])).toEqual([
      'a\\u000a\\u001b[2J  b\\u000d\\u009b31m\\u202e',
    ]);
    expect(rows([['\u001b[31m\u001b[2Jup\u001b[39m', 'b']])).toEqual([
      '\\u001b[31m\\u001b[2Jup\\u001b[39m  b',
    ]);
    expect(rows([[ansis.green('up\n'), 'b']]).join('')).not.toContain('\n');
  });

  it('holds as many rows as there are', () => {
    expect(rows(Array.from({ length: 200_000 }, () => ['a', 'b']))).toHaveLength(200_000);
  });
});

describe('prose', () => {
  const text = `${'word '.repeat(30)}${'x'.repeat(90)} end`;

  it('is wrapped to 80 columns at a terminal, and loses nothing', () => {
    const lines = proseOf(text, { indent: '  ', isTerminal: true }).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([`  ${'x'.repeat(90)}`]);
    expect(lines.every((line) => line.startsWith('  '))).toBe(true);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(text);
  });

  it('is one line for a program', () => {
    expect(proseOf(text, { indent: '  ', isTerminal: false })).toBe(`  ${text}`);
  });
});

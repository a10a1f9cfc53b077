import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { findHiddenCharacters, toPrintable, toPrintableJson, toPrintableLines } from '../src/printable.ts';

describe('a peer’s text shown to people', () => {
  it('is shown unchanged if it is harmless', () => {
    for (const text of ['', 'git push', 'é 世界 🎉 שלום', '\\u001b', 'a\'"<b>'])
      expect(toPrintable(text)).toBe(text);
  });

  it('is escaped if a terminal, a log or a reader would interpret it', () => {
    expect(toPrintable('\u001b[2J\r\n\t\0')).toBe('\\u001b[2J\\u000d\\u000a\\u0009\\u0000');
    expect(toPrintable('\u007f\u009b\u0085')).toBe('\\u007f\\u009b\\u0085');
    expect(toPrintable('\u2028\u2029\u202a\u202e\u2066\u2069')).toBe(
      '\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069',
    );
  });

  it('has no invisible characters, across all of Unicode', () => {
    const hides =
      /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u00a0\u2007\u2800]/u;
    const missed: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (hides.test(character) && !toPrintable(character).startsWith('\\u')) missed.push(code.toString(16));
    }
    expect(missed).toEqual([]);
    expect(toPrintable('\u{e0041}\u200b\u00ad\u061c\ufe0f\u034f\u3164\u00a0')).toBe(
      '\\u{e0041}\\u200b\\u00ad\\u061c\\ufe0f\\u034f\\u3164\\u00a0',
    );
  });

  it('keeps the emoji of Unicode’s list, and reveals what is attached to one', () => {
    for (const emoji of ['⚠️', '👩‍👩‍👧', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👍🏽'])
      expect(toPrintable(`a ${emoji} b`)).toBe(`a ${emoji} b`);
    expect(toPrintable('⚠️\ufe0f 👍\u{e0101} 🏴\u{e0061}\u{e007f} a\u200db')).toBe(
      '⚠️\\ufe0f 👍\\u{e0101} 🏴\\u{e0061}\\u{e007f} a\\u200db',
    );
  });

  it('keeps its lines if it has several', () => {
    expect(toPrintableLines('a\n\tb\r\u200b')).toBe('a\n\tb\\u000d\\u200b');
  });

  it('keeps its value as JSON, with hidden characters in ASCII', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), text, (value, key) => {
        const given = { [key]: value, tag: '\u{e0041}\u200b\n⚠️' };
        const shown = toPrintableJson(JSON.stringify(given, undefined, 2));
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(given)));
        expect(findHiddenCharacters(shown)).toEqual([]);
      }),
    );
    expect(toPrintableJson('"\u{e0041}\u200b"')).toBe('"\\udb40\\udc41\\u200b"');
  });

  it('has its hidden characters listed, each once', () => {
    expect(findHiddenCharacters('a\n\t\r b\u00a0\u3000c\u200b\u200b\u{e0041}\u0007⚠️')).toEqual([
      ...['U+200B', 'U+E0041', 'U+0007'],
    ]);
  });

  it('has no lone surrogate', () => {
    expect(toPrintable('a\ud83cb\udf89')).toBe('a\\ud83cb\\udf89');
  });
});

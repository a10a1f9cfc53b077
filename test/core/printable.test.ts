import { describe, expect, it } from 'vitest';
import { printable } from '../../src/core/printable.ts';

describe('a peer’s text for people', () => {
  it('is shown as it is where nothing obeys it', () => {
    for (const text of ['', 'git push', 'é 世界 🎉 שלום', '\\u001b', 'a\'"<b>'])
      expect(printable(text)).toBe(text);
  });

  it('is escaped where a terminal, a log or a reader would obey it', () => {
    expect(printable('\u001b[2J\r\n\t\0')).toBe('\\u001b[2J\\u000d\\u000a\\u0009\\u0000');
    expect(printable('\u007f\u009b\u0085')).toBe('\\u007f\\u009b\\u0085');
    expect(printable('\u2028\u2029\u202a\u202e\u2066\u2069')).toBe(
      '\\u2028\\u2029\\u202a\\u202e\\u2066\\u2069',
    );
  });

  it('has no half of a pair', () => {
    expect(printable('a\ud83cb\udf89')).toBe('a\\ud83cb\\udf89');
  });
});

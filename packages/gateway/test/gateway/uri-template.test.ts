import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { templateFits } from '../../src/gateway/catalog/uri-template.ts';

function check(template: string, fitting: readonly string[], others: readonly string[] = []): void {
  for (const uri of fitting)
    expect([template, uri, templateFits(template, uri)]).toEqual([template, uri, true]);
  for (const uri of others)
    expect([template, uri, templateFits(template, uri)]).toEqual([template, uri, false]);
}

describe('a URI matches a template (RFC 6570)', () => {
  it('without expressions, if it is equal', () => {
    check('file:///a', ['file:///a'], ['file:///', 'file:///a/b', 'file:///A', '']);
    check('', [''], ['a']);
  });

  it('with a variable for part of a segment', () => {
    check(
      'users://{id}',
      ['users://1', 'users://a%2Fb', 'users://'],
      ['users://1/x', 'users://1?x', 'users://1#x'],
    );
    check(
      'users://{id}/profile',
      ['users://1/profile'],
      ['users://1/2/profile', 'users://1', 'users://1/profile/x'],
    );
    check(
      'a://{x}-{y}.json',
      ['a://1-2.json', 'a://1-2-3.json', 'a://-.json.json'],
      ['a://1.json', 'a://1-2.jsonx'],
    );
    check('a://{x}{y}', ['a://', 'a://12'], ['a://1/2']);
    check('a://f{.ext}', ['a://f.txt', 'a://f'], ['a://f/x']);
  });

  it('with a reserved, path or fragment expansion, which may contain anything', () => {
    check('file:///{+path}', ['file:///a', 'file:///a/b?c#d']);
    check('file://{/path*}', ['file:///a/b'], ['http:///a/b']);
    check('a://b{#frag}', ['a://b#c/d']);
    check('a://{+path}.md', ['a://b.md', 'a://b/c.md', 'a://b.md/c.md'], ['a://b.mdx', 'a://b.txt']);
  });

  it('with a query, which is optional', () => {
    check('a://s{?q,lang}', ['a://s', 'a://s?q=1', 'a://s?q=1&lang=de'], ['a://s/x', 'a://t']);
    check('a://s?x=1{&q}', ['a://s?x=1', 'a://s?x=1&q=2'], ['a://s']);
  });

  it('with unbalanced braces only literally', () => {
    check('a://{x', ['a://{x'], ['a://1']);
    check('a://x}', ['a://x}'], ['a://1']);
    check('a://{{x}}', ['a://{1}'], ['a://1']);
  });

  it('with special characters of regular expressions taken literally', () => {
    check('a://.*', ['a://.*'], ['a://x']);
    check('a://(x{y}', ['a://(x1'], ['a://x1']);
  });

  it('with an empty reserved expansion', () => {
    check('file:///{+path}', ['file:///']);
  });

  it('even if a literal also occurs in the expansion before it', () => {
    check('file:///{+path}/{name}', ['file:///a/b/c']);
    check('repo://{+path}@{ref}', ['repo://a@b/c@main']);
  });
});

describe('any expansion of a template', () => {
  const value = fc.string({ unit: fc.constantFrom('a', 'b', '%2F', '.'), minLength: 1, maxLength: 4 });
  const literal = fc.constantFrom('/x', '/', '-', '.', '?k=', 'a');
  const parts = fc.array(fc.tuple(literal, value), { minLength: 1, maxLength: 5 });

  it('matches the template if variables stand for parts of segments', () => {
    fc.assert(
      fc.property(parts, (all) => {
        const template = `t:${all.map(([text], index) => `${text}{v${index}}`).join('')}`;
        expect(templateFits(template, `t:${all.map(([text, one]) => text + one).join('')}`)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('does not match if the value of a variable contains a slash', () => {
    fc.assert(
      fc.property(value, value, (before, after) => {
        expect(templateFits('t:x{v}', `t:x${before}/${after}`)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});

/** A text that counts how many of its characters are read. */
class CountedText extends String {
  read = 0;

  override indexOf(part: string, from = 0): number {
    const found = super.indexOf(part, from);
    this.read += (found < 0 ? this.length : found + part.length) - from;
    return found;
  }

  override lastIndexOf(part: string, from: number = this.length): number {
    const found = super.lastIndexOf(part, from);
    this.read += Math.min(from + part.length, this.length) - Math.max(found, 0);
    return found;
  }

  override startsWith(part: string, from = 0): boolean {
    this.read += part.length;
    return super.startsWith(part, from);
  }

  override endsWith(part: string): boolean {
    this.read += part.length;
    return super.endsWith(part);
  }

  override slice(from = 0, to: number = this.length): string {
    this.read += to - from;
    return super.slice(from, to);
  }

  override [Symbol.iterator](): never {
    throw new Error('read in a way that is not counted');
  }
}

describe('a hostile template', () => {
  const reads = (template: string, uri: string): number => {
    const counted = new CountedText(uri);
    templateFits(template, counted as unknown as string);
    return counted.read;
  };
  const HOSTILE: readonly (readonly [template: string, uri: string])[] = [
    ['{+a}x'.repeat(2_000), 'x'.repeat(10_000)],
    ['{+a}x'.repeat(2_000), `${'x'.repeat(10_000)}y`],
    ['{a}'.repeat(5_000), 'x'.repeat(10_000)],
    [`${'{a}xx'.repeat(2_000)}y`, 'x'.repeat(10_000)],
    [`${'{+a}x{b}'.repeat(1_000)}!`, 'xy'.repeat(5_000)],
    ['{'.repeat(10_000), 'x'.repeat(10_000)],
    [`{+a}${'x'.repeat(5_000)}y{b}`, 'x'.repeat(10_000)],
  ];

  it('never causes a URI to be read more than three times', () => {
    for (const [template, uri] of HOSTILE)
      expect([template.slice(0, 20), reads(template, uri) <= 3 * uri.length]).toEqual([
        template.slice(0, 20),
        true,
      ]);
  });
});

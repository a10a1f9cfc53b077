import { describe, expect, it } from 'vitest';
import { Secrets } from '../../../src/core/secrets/secrets.ts';

function check(secrets: readonly string[], text: string, expected: string): void {
  const known = new Secrets();
  known.add(secrets);
  expect(known.mask(text)).toBe(expected);
}

it('values that replace each other are masked until they are a few old, and no longer', () => {
  const known = new Secrets();
  known.add(['permanent-secret']);
  for (let index = 0; index < 100; index += 1)
    known.addRotating('a', [`token-number-${index}-of-a`, 'permanent-secret']);
  known.addRotating('b', ['token-of-another-owner']);
  // A value that stays while others are renewed is masked all the time.
  for (let index = 0; index < 100; index += 1) {
    known.addRotating('c', [`access-${index}-of-c`, 'refresh-token-of-c']);
    expect(known.mask('refresh-token-of-c')).toBe('[masked]');
  }
  expect(known.mask('token-number-99-of-a token-number-96-of-a')).toBe('[masked] [masked]');
  // Of a former one, what it has in common with later ones is masked.
  expect(known.mask('x token-number-10-of-a')).toContain('10-of-a');
  expect(known.mask('permanent-secret token-of-another-owner')).toBe('[masked] [masked]');
  // A value of the config is not forgotten because it was a token before.
  known.addRotating('d', ['both-of-them']);
  known.add(['both-of-them']);
  for (let index = 0; index < 10; index += 1) known.addRotating('d', [`renewed-${index}-of-d`]);
  expect(known.mask('both-of-them')).toBe('[masked]');
});

const KEY = 'pa/ss"wö+rd 12345';

describe('a known secret', () => {
  it('is masked everywhere, and nothing else is', () => {
    check(['hunter22hunter22'], 'a hunter22hunter22 b hunter22hunter22', 'a [masked] b [masked]');
    check(['hunter22hunter22'], 'nothing of it here', 'nothing of it here');
    check([], 'nothing is known', 'nothing is known');
    check(['hunter22hunter22'], '', '');
  });

  it.each([
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in JSON inside JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['in ASCII-only JSON', JSON.stringify(KEY).slice(1, -1).replace('ö', '\\u00f6')],
    ['in JSON with its slashes escaped', JSON.stringify(KEY).slice(1, -1).replace('/', '\\/')],
    ['in a URL', encodeURIComponent(KEY)],
    ['in a URL in lower case', encodeURIComponent(KEY).toLowerCase()],
    ['in a form', encodeURIComponent(KEY).replaceAll('%20', '+')],
  ])('is masked %s', (_where, form) => {
    check([KEY], `>${form}<`, '>[masked]<');
  });

  it('is masked in base64 at any offset, leaving at most its edges', () => {
    for (const before of ['', 'u', 'us', 'user:', 'longer user:'])
      for (const alphabet of ['base64', 'base64url'] as const) {
        const known = new Secrets();
        known.add([KEY]);
        const masked = known.mask(Buffer.from(`${before}${KEY} and after`).toString(alphabet));
        expect(masked).toContain('[masked]');
        const rest = Buffer.from(masked.split('[masked]')[0] ?? '', 'base64').toString();
        expect(rest).not.toContain(KEY.slice(0, 2));
      }
  });

  it('with special characters of regular expressions is masked literally', () => {
    check(['.*+?^${}()|[]\\/-'], 'x.*+?^${}()|[]\\/-y', 'x[masked]y');
    check(['a.c.e.g.i'], 'aXcXeXgXi', 'aXcXeXgXi');
    check(['$&$1$`$$$$'], 'x$&$1$`$$$$y', 'x[masked]y');
    check(['........'], 'password', 'password');
  });

  it('that overlaps another is masked together with it', () => {
    check(['abcdefghijkl', 'ghijklmnopqr'], '-abcdefghijklmnopqr-', '-[masked]-');
    check(['abcabcabc'], 'abcabcabcabcab', '[masked]ab');
    check(['aaaaaaaa'], 'a'.repeat(1_000), '[masked]');
  });

  it('that is a prefix of another is masked next to it', () => {
    check(['secret-one', 'secret-one-and-two'], 'secret-one-and-two secret-one', '[masked] [masked]');
    check(['secret-one-and-two', 'secret-one'], 'secret-one-and-two secret-one', '[masked] [masked]');
  });

  it('adjacent to another is masked without a gap', () => {
    check(['abcdefgh', 'ijklmnop'], 'abcdefghijklmnop!', '[masked]!');
  });

  it('that was truncated in a quotation is masked up to where it ends', () => {
    check(['0123456789abcdefghij'], 'it said "0123456789abcde…', 'it said "[masked]…');
    check(['0123456789abcdefghij'], 'it said "0123456789"', 'it said "0123456789"');
  });

  it('with several lines is masked line by line', () => {
    const pem = '-----BEGIN X-----\nMIIEvQIBADANBgkqh\nkiG9w0BAQEFAASCB\n-----END X-----\n';
    check([pem], 'b: kiG9w0BAQEFAASCB', 'b: [masked]');
    check([pem], 'MIIEvQIBADANBgkqh', '[masked]');
  });

  it('of fewer than 8 characters is not masked', () => {
    check(['1234567'], 'at 1234567', 'at 1234567');
    check(['12345678'], 'at 12345678', 'at [masked]');
  });

  it('is found in a line of a megabyte, and among hundreds of others', () => {
    const many = Array.from({ length: 300 }, (_, index) => `secret-number-${index}-${'x'.repeat(20)}`);
    const line = `${'lorem ipsum '.repeat(90_000)}secret-number-299-${'x'.repeat(20)}${'-'.repeat(20_000)}`;
    check(many, line, line.replace(/secret-number-\S+?x{20}/, '[masked]'));
  });
  it('is masked from the moment it is added', () => {
    const known = new Secrets();
    expect(known.mask('first-secret')).toBe('first-secret');
    known.add(['first-secret']);
    expect(known.mask('first-secret second-secret')).toBe('[masked] second-secret');
    known.add(['second-secret']);
    expect(known.mask('first-secret second-secret')).toBe('[masked] [masked]');
  });
});

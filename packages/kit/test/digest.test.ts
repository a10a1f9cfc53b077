import { describe, expect, it } from 'vitest';
import { hashArguments, hashDefinition, hashJson, sha256, computeShortHash } from '../src/digest.ts';

it('a short hash is the beginning of the SHA-256', () => {
  expect(computeShortHash('abc', 8)).toBe('ba7816bf');
});

describe('the digest of a definition', () => {
  const same = (...texts: readonly string[]): boolean => new Set(texts.map(hashJson)).size === 1;

  it('is computed from its canonical form, RFC 8785', () => {
    const given = '{ "numbers": [1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\\u20ac$\\n" }';
    const canonical = '{"numbers":[1e+30,4.5,0.002,1e-27],"string":"€$\\n"}';
    // A double cannot hold 1E30 exactly, so it is digested as written.
    expect(hashJson(given)).toBe(sha256(canonical.replace('1e+30', '1E30')));
    expect(hashJson('{"b":1,"a":{"d":[],"c":null}}')).toBe(sha256('{"a":{"c":null,"d":[]},"b":1}'));
  });

  it('does not depend on white space, member order or string escapes', () => {
    expect(same('{"a":1,"b":"é"}', ' {"b" : "\\u00e9", "a":1.0}')).toBe(true);
  });

  it.each([
    ['absent is not null', '{}', '{"a":null}'],
    ['false is not absent', '{"a":false}', '{}'],
    ['the order of an array counts', '[1,2]', '[2,1]'],
    ['a number is not a string', '[1]', '["1"]'],
    ['integers beyond a double differ in their last digit', '[9007199254740993]', '[9007199254740992]'],
    [
      'a changed annotation counts',
      '{"annotations":{"readOnlyHint":true}}',
      '{"annotations":{"readOnlyHint":false}}',
    ],
  ])('differs: %s', (_what, one, other) => {
    expect(hashJson(one)).not.toBe(hashJson(other));
  });

  it('does not exist for text that is not JSON', () => {
    expect(hashJson('{"a":')).toBeUndefined();
  });
});

describe('the digest of a definition with a duplicate key', () => {
  it('is computed from its bytes, since readers differ in which value they use', () => {
    const twice = '{"name":"t","annotations":{"readOnlyHint":true,"readOnlyHint":false}}';
    expect(hashDefinition(twice)).toBe(sha256(twice));
    expect(hashDefinition(twice)).not.toBe(hashDefinition(`${twice} `));
    const once = '{"name":"t","description":"\\"a\\":1,\\"a\\":2"}';
    expect(hashDefinition(once)).toBe(hashDefinition(` ${once}`));
  });
});

describe('the digest of arguments', () => {
  it.each([
    ['0.1', '0.10000000000000000555'],
    ['90071992547409931', '90071992547409940'],
    ['1e400', '1e401'],
    ['1e400', 'null'],
    ['1e-400', '0'],
    ['-0', '0'],
    ['9007199254740991.1', '9007199254740991'],
  ])('differs for %s and %s', (one, other) => {
    expect(hashArguments(`{"n":[${one}]}`)).not.toBe(hashArguments(`{"n":[${other}]}`));
  });

  it('does not depend on white space, member order or string escapes', () => {
    expect(hashArguments('{"a":0.5,"b":"é"}')).toBe(hashArguments(' {"b" : "\\u00e9", "a":0.5}'));
  });

  it('is computed from the bytes if a key is duplicated or the text is not JSON', () => {
    for (const text of ['{"a":1,"a":2}', '{"a":1']) expect(hashArguments(text)).toBe(sha256(text));
  });

  it('is computed from the bytes beyond 64 KiB, so that a large call delays no other client', () => {
    const large = `{"b":"${'x'.repeat(64 * 1024)}","a":1.50}`;
    expect(hashArguments(large)).toBe(sha256(large));
  });
});

import { describe, expect, it } from 'vitest';
import { maskFields } from '../../../src/adapters/telemetry/log.ts';

const same = (text: string): string => text;

describe('the fields of a log line', () => {
  it.each([
    ...[
      'authorization',
      'Authorization',
      'proxy-authorization',
      'cookie',
      'set-cookie',
      'token',
      'access_token',
    ],
    ...[
      'refreshToken',
      'secret',
      'client_secret',
      'password',
      'passwd',
      'apiKey',
      'api-key',
      'API_KEY',
      'apikey',
    ],
    ...['X-Api-Key', 'privateKey', 'credentials', 'jwt', 'secretKey'],
  ])('hide everything under the key %s, at any depth', (key) => {
    expect(maskFields({ a: [{ [key]: 'x' }], [key]: { nested: 'x' } }, same)).toEqual({
      a: [{ [key]: '[masked]' }],
      [key]: '[masked]',
    });
  });

  it.each([
    'key',
    'server',
    'cause',
    'progressToken',
    'tokenCount',
    'passwordPolicy',
    'author',
    'keyboard',
    'path',
  ])('show the value under the key %s', (key) =>
    expect(maskFields({ [key]: 'x' }, same)).toEqual({ [key]: 'x' }),
  );

  it('keep values other than text, and distinguish absent, null, false, zero and empty', () => {
    const fields = { a: undefined, b: null, c: false, d: 0, e: '', f: [], g: {}, token: null, secret: false };
    expect(maskFields(fields, same)).toStrictEqual(fields);
  });

  it('have every text masked: in arrays, keys, errors and objects with toJSON', () => {
    const mask = (text: string): string => text.replaceAll('hush', '***');
    const error = new Error('hush');
    error.stack = 'Error: hush\n    at x';
    const fields = { hush: ['a hush'], error, url: new URL('http://hush/x'), when: new Date(0) };
    expect(maskFields(fields, mask)).toEqual({
      '***': ['a ***'],
      error: 'Error: ***\n    at x',
      url: 'http://***/x',
      when: '1970-01-01T00:00:00.000Z',
    });
  });

  it('are cut at a maximum depth, even if they are circular', () => {
    const ring: { again?: unknown } = {};
    ring.again = ring;
    expect(JSON.stringify(maskFields({ ring }, same))).toContain('[too deep]');
  });
});

import { expect, it } from 'vitest';
import { findAllowedOriginsFault, parseAllowedOrigins } from '../../src/core/allowed-origins.ts';

it('a list of exact origins is valid, and read as written', () => {
  for (const [text, origins] of [
    ['', []],
    ['  ', []],
    ['https://app.example', ['https://app.example']],
    [
      'https://app.example, http://localhost:5173,https://app.example',
      ['https://app.example', 'http://localhost:5173'],
    ],
    [
      'http://127.0.0.1,http://127.255.0.9:1,http://[::1]:6274',
      ['http://127.0.0.1', 'http://127.255.0.9:1', 'http://[::1]:6274'],
    ],
    [
      'https://xn--bcher-kva.example:8443,https://10.0.0.1',
      ['https://xn--bcher-kva.example:8443', 'https://10.0.0.1'],
    ],
    ['https://localhost:5173', ['https://localhost:5173']],
  ] as const)
    expect([text, findAllowedOriginsFault(text), [...parseAllowedOrigins(text)]]).toEqual([
      text,
      undefined,
      origins,
    ]);
});

it.each([
  ['*', /pattern/],
  ['null', /"null"/],
  ['https://*.app.example', /pattern/],
  ['https://app.example:*', /pattern/],
  ['app.example', /not an origin/],
  ['//app.example', /not an origin/],
  ['https:', /not an origin/],
  ['https://', /not an origin/],
  ['https://a$b.example', /not an origin/],
  ['https://app.example https://b.example', /not an origin/],
  ['https://app.example;https://b.example', /not an origin/],
  ['https://app.example:99999', /not an origin/],
  ['file://', /not an origin/],
  ['chrome-extension://abc', /not an origin/],
  ['ws://localhost:1', /not an origin/],
  ['javascript:alert(1)', /not an origin/],
  ['http://app.example', /use https/],
  ['http://localhost.evil.example', /use https/],
  ['http://evil.localhost', /use https/],
  ['http://localhost.', /use https/],
  ['http://0.0.0.0:1', /use https/],
  ['http://[::ffff:127.0.0.1]', /use https/],
  ['http://192.168.0.1', /use https/],
  ['https://app.example/', /as browsers send it/],
  ['https://app.example/mcp', /as browsers send it/],
  ['https://app.example?x', /as browsers send it/],
  ['https://app.example#x', /as browsers send it/],
  ['https://app.example:443', /as browsers send it/],
  ['https://App.example', /as browsers send it/],
  ['HTTPS://app.example', /as browsers send it/],
  ['https:app.example', /as browsers send it/],
  ['https:\\\\app.example', /as browsers send it/],
  ['https://bücher.example', /as browsers send it/],
  ['https://me:secret@app.example', /as browsers send it/],
  ['https://app.example@evil.example', /as browsers send it/],
  ['http://127.1', /as browsers send it/],
  ['http://[0:0:0:0:0:0:0:1]', /as browsers send it/],
  ['https://app.example,', /number 2 is empty/],
  ['https://app.example,,https://b.example', /number 2 is empty/],
  ['https://app.example, null', /number 2 is "null"/],
])('%j is refused, with the reason and without repeating it', (text, reason) => {
  const fault = findAllowedOriginsFault(text) ?? '';
  expect(fault).toMatch(/^it must list origins separated by commas, and number \d /);
  expect(fault).toMatch(reason);
  expect(fault).not.toContain('secret');
});

it('the list is bounded in origins and characters', () => {
  const list = (count: number): string =>
    Array.from({ length: count }, (_, n) => `https://a${n}.example`).join();
  expect(findAllowedOriginsFault(list(32))).toBeUndefined();
  expect(findAllowedOriginsFault(list(33))).toBe('it must list at most 32 origins');
  expect(findAllowedOriginsFault(`https://${'a'.repeat(4_096)}`)).toBe(
    'it must have at most 4096 characters',
  );
});

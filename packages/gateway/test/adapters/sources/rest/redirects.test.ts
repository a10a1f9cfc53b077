import { describe, expect, it } from 'vitest';
import { followRedirect, type Step } from '../../../../src/adapters/sources/http/open-http.ts';

const headers = [
  ['Authorization', 'a'],
  ['X-Key', 'b'],
  ['accept', 'c'],
] as const;

function step(method: string, url: string): Step {
  return { method, url: new URL(url), headers, body: 'body' };
}

function next(from: Step, status: number, location: string): ReturnType<typeof followRedirect> {
  return followRedirect(from, { status, headers: { location } }, new Set(['x-key']));
}

describe('the request that follows a redirect', () => {
  it('is unchanged at the same origin', () => {
    expect(next(step('OPTIONS', 'https://a.example/b/c?d'), 307, '../e?f')).toEqual({
      ok: true,
      value: step('OPTIONS', 'https://a.example/e?f'),
    });
  });

  it.each(['https://b.example/', 'https://a.example:8443/', 'https://sub.a.example/', '//b.example/'])(
    'to %s carries no credentials and no body',
    (location) => {
      expect(next(step('GET', 'https://a.example/'), 302, location)).toEqual({
        ok: true,
        value: {
          method: 'GET',
          url: new URL(location, 'https://a.example/'),
          headers: [['accept', 'c']],
          body: undefined,
        },
      });
    },
  );

  it('from HTTP to HTTPS counts as going to another origin', () => {
    const read = next(step('GET', 'http://a.example/'), 301, 'https://a.example/');
    expect(read.ok && read.value.headers).toEqual([['accept', 'c']]);
  });

  it('becomes GET after 303, except for HEAD', () => {
    const methods = ['OPTIONS', 'GET', 'HEAD'].map((method) => {
      const read = next(step(method, 'https://a.example/'), 303, '/b');
      return read.ok && read.value.method;
    });
    expect(methods).toEqual(['GET', 'GET', 'HEAD']);
  });

  it.each([
    ['http://a.example/', 'redirects to "http://a.example", which is not encrypted, so it was not followed'],
    ['http://[', 'redirects to an invalid address'],
  ])('is not sent from https to %s', (location, error) => {
    expect(next(step('GET', 'https://a.example/'), 302, location)).toEqual({ ok: false, error });
  });
});

import { describe, expect, it } from 'vitest';
import { readProxyEnvironment } from '../../src/platform/proxy-environment.ts';

type Variables = Readonly<Record<string, string>>;

/** The proxy for a URL: its URL, what is wrong, or `none`. */
function proxyFor(target: string, env: Variables): string {
  const { protocol, hostname, port } = new URL(target);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'https:';
  const found = readProxyEnvironment(env)?.({
    protocol: isSecure ? 'https:' : 'http:',
    host,
    port: Number(port || (isSecure ? 443 : 80)),
  });
  if (found === undefined) return 'none';
  return 'code' in found ? `${found.variable}: ${found.reason}` : found.url.href;
}

const P = 'http://p.example:3128/';

describe('the variables of the environment', () => {
  it.each<readonly [string, Variables, string]>([
    ['https://a.example', { HTTPS_PROXY: 'http://p.example:3128' }, P],
    ['https://a.example', { https_proxy: 'http://p.example:3128', HTTPS_PROXY: 'http://other' }, P],
    ['https://a.example', { https_proxy: '', HTTPS_PROXY: 'p.example:3128' }, P],
    ['https://a.example', { HTTPS_PROXY: 'https://u:p@p.example:8443' }, 'https://u:p@p.example:8443/'],
    ['http://a.example', { HTTPS_PROXY: 'http://p.example:3128' }, 'none'],
    ['http://a.example', { http_proxy: 'http://p.example:3128' }, P],
    // A header of a request to a CGI program arrives under this name.
    ['http://a.example', { HTTP_PROXY: 'http://p.example:3128' }, 'none'],
    ['https://a.example', { http_proxy: 'http://p.example:3128' }, 'none'],
    ['https://a.example', {}, 'none'],
  ])('for %s with %j: %s', (target, env, expected) => expect(proxyFor(target, env)).toBe(expected));

  it.each([
    ['socks5://p.example:1080', 'only proxies of http:// and https:// are supported'],
    ['http://', 'it is not a URL such as http://proxy.example:3128'],
    ['http://p.example/path?key=secret', 'the URL of a proxy ends with its port'],
  ])('with the value %s say what is wrong, without the value', (value, reason) =>
    expect(proxyFor('https://a.example', { HTTPS_PROXY: value })).toBe(`HTTPS_PROXY: ${reason}`),
  );
});

describe('NO_PROXY', () => {
  it.each([
    ['*', 'https://a.example', true],
    ['b.example, a.example', 'https://a.example', true],
    ['b.example a.example', 'https://a.example', true],
    ['a.example', 'https://x.y.a.example', true],
    ['.a.example', 'https://a.example', true],
    ['.a.example', 'https://x.a.example', true],
    ['*.a.example', 'https://x.a.example', true],
    ['A.Example.', 'https://a.example.', true],
    ['a.example', 'https://ba.example', false],
    ['a.example:8443', 'https://a.example:8443', true],
    ['a.example:8443', 'https://a.example', false],
    ['a.example:443', 'https://a.example', true],
    ['192.0.2.7', 'https://192.0.2.7', true],
    ['192.0.2.0/24', 'https://192.0.2.7', true],
    ['192.0.2.0/24', 'https://192.0.3.7', false],
    ['192.0.2.0/33', 'https://192.0.2.7', false],
    ['2001:db8::/32', 'https://[2001:db8::1]', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', true],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]', false],
    ['2001:db8:0::1', 'https://[2001:db8::1]', true],
    [' , ,, ', 'https://a.example', false],
    ['.', 'https://a.example', false],
  ])('%j for %s: direct is %s', (noProxy, target, isDirect) => {
    const env = { HTTPS_PROXY: 'p.example:3128', NO_PROXY: noProxy };
    expect(proxyFor(target, env)).toBe(isDirect ? 'none' : P);
  });

  it('in lower case counts before upper case', () => {
    const env = { HTTPS_PROXY: 'p.example:3128', no_proxy: 'b.example', NO_PROXY: 'a.example' };
    expect([proxyFor('https://a.example', env), proxyFor('https://b.example', env)]).toEqual([P, 'none']);
  });
});

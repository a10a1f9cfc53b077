import fc from 'fast-check';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { isWithin } from '../../src/core/protected-resource.ts';
import { getRequestPath, readTarget } from '../../src/edges/mcp/request-path.ts';

const HOST = '127.0.0.1:4444';

function read(url: string): string {
  const target = readTarget({ url, headers: { host: HOST } });
  return target.ok ? target.value : `refused: ${target.error}`;
}

describe('a request target', () => {
  it.each([
    ['/mcp', '/mcp'],
    ['/mcp/', '/mcp/'],
    ['/', '/'],
    ['/tools?a=/../b&c=//', '/tools?a=/../b&c=//'],
    ['/t%6Fkens', '/tokens'],
    ['/a%2fb', '/a%2Fb'],
    ['/a%252e%252e/b', '/a%252e%252e/b'],
    ['/toolsets/a%20b|c', '/toolsets/a%20b|c'],
    ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource'],
    ['/docs/swagger-ui.css', '/docs/swagger-ui.css'],
    [`http://${HOST}/tokens?x`, '/tokens?x'],
    [`HTTP://${HOST}`, '/'],
    [`http://${HOST}?x`, '/?x'],
  ])('%s is read as %s', (url, normal) => {
    expect(read(url)).toBe(normal);
  });

  it.each([
    ['/docs/../tokens', 'its path holds a "." or ".." segment'],
    ['/docs/%2e%2E/tokens', 'its path holds a "." or ".." segment'],
    ['/docs/.%2e/tokens', 'its path holds a "." or ".." segment'],
    ['/./mcp', 'its path holds a "." or ".." segment'],
    ['/mcp/..', 'its path holds a "." or ".." segment'],
    ['//evil.example/mcp', 'its path holds an empty segment ("//")'],
    ['/mcp//all', 'its path holds an empty segment ("//")'],
    ['/mcp//', 'its path holds an empty segment ("//")'],
    ['/docs\\..\\tokens', 'its path holds a backslash'],
    ['/mcp#/tokens', 'it holds a fragment ("#")'],
    ['/mcp?a#b', 'it holds a fragment ("#")'],
    ['/a%', 'its path holds a "%" that encodes nothing'],
    ['/a%zz', 'its path holds a "%" that encodes nothing'],
    ['/a%ff', 'its path is not UTF-8'],
    ['/\u00e4', 'it holds characters that must be percent-encoded'],
    ['/a b', 'it holds characters that must be percent-encoded'],
    ['*', 'it does not start with "/"'],
    ['', 'it does not start with "/"'],
    ['mcp', 'it does not start with "/"'],
    ['ftp://127.0.0.1:4444/mcp', 'it does not start with "/"'],
    ['http://other.example/tokens', 'its URL names another host than the Host header'],
    [`http://user@${HOST}/tokens`, 'its URL names another host than the Host header'],
    ['http:///tokens', 'its URL names another host than the Host header'],
  ])('%s is refused: %s', (url, reason) => {
    expect(read(url)).toBe(`refused: ${reason}`);
  });

  it('resolves to the same path in the guard and in the router', async () => {
    const app = routed();
    await fc.assert(
      fc.asyncProperty(TARGETS, async (url) => {
        const target = readTarget({ url, headers: { host: HOST } });
        fc.pre(target.ok);
        const path = getRequestPath({ url: target.value });
        expect(read(target.value)).toBe(target.value);
        const response = await app.fetch(new Request(`http://${HOST}${target.value}`));
        expect([url, await response.json()]).toEqual([url, routeOf(path)]);
        // A token's permissions are matched against the text of the path, and a route against its segments.
        const steps = path.split('/').map(decodeURIComponent);
        for (const opened of ['/mcp', '/toolsets/a']) {
          const isBelow = opened.split('/').every((step, at) => steps[at] === step);
          expect([url, opened, isWithin(path, [opened])]).toEqual([url, opened, isBelow]);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

const PIECES = fc.constantFrom(
  ...['/', '//', '.', '..', '%2e', '%2E', '%2f', '%2F', '%5c', '\\', '%25', '%252e', '%00', '%', '#', '?'],
  ...[
    'mcp',
    'tokens',
    't%6Fkens',
    'docs',
    'toolsets',
    'tools',
    'a',
    'b',
    'all',
    '%41',
    '%c3%a4',
    '%ff',
    ';x',
    '@',
    ':',
  ],
  ...['http://', 'https://', HOST, 'other.example', '|', '{', '"', '~', '*', ' '],
);
const TARGETS = fc.oneof(
  fc.array(PIECES, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`),
  fc.array(PIECES, { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary-ascii', maxLength: 12 }).map((text) => `/${text}`),
);

const ROUTES = ['/tokens', '/docs', '/docs/*', '/mcp', '/toolsets/:a', '/toolsets/:a/tools/:b'] as const;

/** A router like that of the REST API, which reports what it matched. */
function routed(): Hono {
  const app = new Hono({ strict: false });
  for (const route of ROUTES)
    app.get(route, (c) =>
      c.json([route, ...['a', 'b'].map((name) => (c.req.param() as Record<string, string>)[name] ?? null)]),
    );
  app.all('*', (c) => c.json(['*', null, null]));
  return app;
}

/** The route to expect for a path whose segments are each decoded once. */
function routeOf(path: string): readonly unknown[] {
  const [, ...steps] = path.split('/').map(decodeURIComponent);
  const [first, second, third, fourth] = steps;
  if (steps.length === 1 && first === 'tokens') return ['/tokens', null, null];
  if (steps.length === 1 && first === 'mcp') return ['/mcp', null, null];
  if (first === 'docs') return [steps.length === 1 ? '/docs' : '/docs/*', null, null];
  if (first === 'toolsets' && steps.length === 2 && second !== '') return ['/toolsets/:a', second, null];
  if (first === 'toolsets' && steps.length === 4 && third === 'tools')
    return ['/toolsets/:a/tools/:b', second, fourth];
  return ['*', null, null];
}

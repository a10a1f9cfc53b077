import { expect, it } from 'vitest';
import { createPathFactor, isVendored } from '../src/search/path-factor.ts';

const FACTORS = { vendored: 0.5, document: 0.6, supporting: 0.7 };

it.each([
  ['parse the header', 'src/http/parse.ts', 'typescript', 1],
  ['parse the header', 'deps/http/parse.c', 'c', 0.5],
  ['parse the header', 'packages/a/third_party/http/parse.c', 'c', 0.5],
  ['deps parse', 'deps/http/parse.c', 'c', 1],
  ['parse the header', 'docs/parse.md', 'text', 0.6 * 0.7],
  ['parse the header', 'CHANGELOG.md', 'text', 0.6],
  ['parse the header', 'LICENSE', 'text', 0.6],
  ['license of the parser', 'LICENSE', 'text', 1],
  ['scripts in package json', 'package.json', 'text', 1],
  ['parse the header', 'examples/parse.ts', 'typescript', 0.7],
  ['examples of parsing', 'examples/parse.ts', 'typescript', 1],
  // A file of that name is no directory of it.
  ['parse the header', 'src/vendor.ts', 'typescript', 1],
] as const)('for "%s", %s has the right factor', (query, path, language, factor) => {
  const words = query.split(' ');
  expect(createPathFactor({ words }, FACTORS)({ path, language })).toBeCloseTo(factor);
});

it('copies of other projects are known by their directory', () => {
  expect(['vendor/a.go', 'a/vendor/b.go', 'vendor.go', 'src/vendored_by.c'].map(isVendored)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

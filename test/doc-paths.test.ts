import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/paths.ts';

const FILES = globSync('{test,bench,scripts,packages/*/{src,test}}/**/*.ts', { cwd: ROOT });
const PAGES = globSync(['*.md', 'docs/*.md', 'packages/*/{,src/**/}*.md'], { cwd: ROOT });

it.each(PAGES)('%s names only source files that exist', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const named = [...text.matchAll(/`([\w/-][\w./-]*\.ts)`/g)].map(([, path]) => path ?? '');
  expect(named.filter((path) => !FILES.some((file) => `/${file}`.endsWith(`/${path}`)))).toEqual([]);
});

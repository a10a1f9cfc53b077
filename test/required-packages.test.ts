// The build bundles what is imported, but not what a source file requires at run time.
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/paths.ts';

const REQUIRED = /\b(?:require|createRequire\([\w.]+\))\('([^'.][^']*)'\)/g;

it.each(['gateway', 'verify', 'codebase'])(
  'what the package %s requires at run time is installed with it',
  (name) => {
    const folder = join(ROOT, 'packages', name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    const required = globSync('src/**/*.ts', { cwd: folder }).flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(REQUIRED)].map(([, id = '']) => packageOf(id)),
    );
    if (name === 'gateway') expect(required).toContain('re2js');
    expect(required.filter((one) => !isBuiltin(one) && !Object.hasOwn(dependencies, one))).toEqual([]);
  },
);

function packageOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

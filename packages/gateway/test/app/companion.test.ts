import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { findCompanion } from '../../src/app/companion.ts';
import { VERSION } from '@assay-mcp/kit/version';
import { tempDir } from '../../../../test/support/paths.ts';

const NAME = 'assay-verify';

interface Machine {
  /** The folder of the running Assay. */
  readonly from: string;
  readonly modules: string;
  readonly home: string;
  readonly find: () => ReturnType<typeof findCompanion>;
}

/** Assay in `node_modules` of a folder. */
function machine(modules = join(tempDir(), 'node_modules')): Machine {
  const from = join(modules, 'assay-mcp', 'dist');
  const home = tempDir();
  const environment = { env: { ASSAY_HOME: home }, cwd: home, home };
  mkdirSync(from, { recursive: true });
  return { from, modules, home, find: () => findCompanion(NAME, environment, from) };
}

/** Installs the package and returns its module. */
function install(modules: string, version: string = VERSION): URL {
  const folder = join(modules, NAME);
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: NAME, version }));
  writeFileSync(join(folder, 'dist', 'program.js'), '');
  return pathToFileURL(join(folder, 'dist', 'program.js'));
}

it('is found beside Assay, and in the home, in this order', () => {
  const { modules, home, find } = machine();
  const fetched = install(join(home, 'packages', 'node_modules'));
  expect(find()).toEqual({ ok: true, value: fetched });
  const beside = install(modules);
  expect(find()).toEqual({ ok: true, value: beside });
});

it('without its program is missing, as in a clone before a build', () => {
  const { modules, find } = machine();
  rmSync(install(modules));
  expect(find()).toMatchObject({ ok: false, error: { code: 'PACKAGE_MISSING' } });
});

it('is loaded from the path that was checked, whatever a link on the way leads to by then', () => {
  const { modules, find } = machine();
  const real = install(join(tempDir(), 'real'));
  mkdirSync(modules, { recursive: true });
  symlinkSync(join(fileURLToPath(real), '..', '..'), join(modules, NAME));
  expect(find()).toEqual({ ok: true, value: real });
});

it('is not looked for above the folder in which Assay is installed', () => {
  const project = tempDir();
  const { find } = machine(join(project, 'tools', 'node_modules'));
  install(join(project, 'node_modules'));
  expect(find()).toMatchObject({ ok: false, error: { code: 'PACKAGE_MISSING' } });
});

it('is used at exactly the version of Assay, so a fetched one outlasts another version beside', () => {
  const { modules, home, find } = machine();
  install(modules, '0.0.1');
  expect(find()).toMatchObject({
    ok: false,
    error: {
      code: 'PACKAGE_INCOMPATIBLE',
      version: VERSION,
      path: join(modules, NAME),
      installed: '0.0.1',
    },
  });
  const fetched = install(join(home, 'packages', 'node_modules'));
  expect(find()).toEqual({ ok: true, value: fetched });
});

it('is missing otherwise, with the command that installs it for this kind of installation', () => {
  const wanted = { code: 'PACKAGE_MISSING', name: NAME, version: VERSION };
  const { find, modules } = machine();
  const global = `npm install --global ${NAME}@${VERSION}`;
  expect(find()).toEqual({ ok: false, error: { ...wanted, command: global } });
  const folder = join(modules, '..');
  writeFileSync(join(folder, 'package.json'), '{}');
  const local = `npm install ${NAME}@${VERSION}`;
  expect(find()).toEqual({ ok: false, error: { ...wanted, command: local, folder } });
  const npx = machine(join(tempDir(), '_npx', 'a1', 'node_modules'));
  const prefixed = `npm install --prefix ${join(npx.home, 'packages')} ${NAME}@${VERSION}`;
  expect(npx.find()).toEqual({ ok: false, error: { ...wanted, command: prefixed } });
});

it('is refused if others could change it, unless they could change Assay itself', () => {
  const { home, find } = machine();
  const fetched = join(home, 'packages', 'node_modules');
  install(fetched);
  chmodSync(fetched, 0o777);
  expect(find()).toMatchObject({ ok: false, error: { code: 'PATH_UNSAFE', at: fetched } });
  const other = machine();
  const beside = install(other.modules);
  chmodSync(other.modules, 0o777);
  expect(other.find()).toEqual({ ok: true, value: beside });
});

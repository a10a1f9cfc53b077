import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moduleOf, openedModule } from '../../../../../../test/support/function-modules.ts';
import { tempDir } from '../../../../../../test/support/paths.ts';

const home = join(tempDir(), 'configEnvironment', 'home');
mkdirSync(join(home, 'functions'), { recursive: true });
writeFileSync(join(home, 'admin-token'), 'secret');
const around = join(home, '..');
const linked = join(tempDir(), 'linked');
symlinkSync(home, linked);
writeFileSync(join(home, 'functions', 'data.txt'), 'data');

describe('a module', () => {
  it.each<[member: 'reads' | 'writes', path: string, found: string]>([
    ['reads', home, home],
    ['reads', around, around],
    ['reads', '/', '/'],
    ['reads', `${around}/`, `${around}/`],
    ['reads', linked, home],
    ['reads', join(home, 'admin-token'), join(home, 'admin-token')],
    ['writes', home, home],
    ['writes', join(home, 'functions'), join(home, 'functions')],
  ])("is not served if its %s would open Assay's home (%s)", async (member, path, found) => {
    const module = openedModule(moduleOf({ add: '() => 1' }), { [member]: [path], forbidden: [home] });
    expect(await module.fault()).toBe(
      `its "${member}" name ${JSON.stringify(found)}, which contains or is in Assay's home folder, whose secrets functions must not read`,
    );
  });

  it.each([home, around])('is not served if it is in or above the home (%s)', async (folder) => {
    const path = join(folder, 'tools.mjs');
    writeFileSync(path, 'export default [];');
    const module = openedModule(moduleOf({ add: '() => 1' }), { path, forbidden: [home, linked] });
    expect(await module.fault()).toBe(
      `its folder ${JSON.stringify(folder)} contains Assay's home folder, whose secrets functions must not read: move it to a separate folder`,
    );
  });

  it('is served in a folder below the home, and cannot read anything above it', async () => {
    const path = join(home, 'functions', 'tools.mjs');
    const token = JSON.stringify(join(home, 'admin-token'));
    writeFileSync(
      path,
      `import { defineTool } from 'assay-mcp'; import fs from 'node:fs';
      export const own = defineTool({ name: 'own', run: () => fs.readFileSync('data.txt', 'utf8') });
      export const token = defineTool({ name: 'token', run: () => fs.readFileSync(${token}, 'utf8') });`,
    );
    const module = openedModule(moduleOf({ add: '() => 1' }), { path, forbidden: [home] });
    expect(await module.say('own')).toBe('data');
    expect(await module.say('token')).toMatch(/^! It may not read /);
  });
});

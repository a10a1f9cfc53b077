import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { hashInstallation } from '@assay-mcp/kit/platform/hash-installation';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

const SERVER: Files = {
  'package.json': '{"name":"server","version":"1.2.3","dependencies":{"helper":"^1.0.0"}}',
  'index.js': 'run();',
};
const HELPER: Files = { 'package.json': '{"name":"helper","version":"1.0.0"}', 'index.js': 'help();' };

/** Installs packages into `node_modules`, by their place there. */
function install(packages: Readonly<Record<string, Files>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-installed-'));
  folders.push(folder);
  for (const [place, files] of Object.entries(packages))
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, 'node_modules', place, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  return join(folder, 'node_modules', 'server');
}

const digestOf = async (packages: Readonly<Record<string, Files>>): Promise<string | undefined> =>
  (await hashInstallation(install(packages)))?.digest;

it('an installation is the same wherever npm placed its dependencies, beside whatever other packages', async () => {
  const hoisted = await hashInstallation(install({ server: SERVER, helper: HELPER }));
  expect(hoisted).toEqual({ version: '1.2.3', digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown });
  const nested = install({ server: SERVER, 'server/node_modules/helper': HELPER, other: HELPER });
  expect(await hashInstallation(nested)).toEqual(hoisted);
});

it.each([
  ['a changed file', { server: { ...SERVER, 'index.js': 'run(evil);' }, helper: HELPER }],
  ['an added file', { server: { ...SERVER, 'more.js': '' }, helper: HELPER }],
  ['a changed file of a dependency', { server: SERVER, helper: { ...HELPER, 'index.js': 'help(evil);' } }],
  [
    'another dependency',
    { server: SERVER, helper: HELPER, 'server/node_modules/helper': { ...HELPER, a: '' } },
  ],
  ['a package that nothing declares', { server: SERVER, helper: HELPER, 'server/node_modules/zod': HELPER }],
  ['a missing dependency', { server: SERVER }],
])('%s is another installation', async (_, packages) => {
  expect(await digestOf(packages)).not.toBe(await digestOf({ server: SERVER, helper: HELPER }));
});

it('a forged version has the digest of other files', async () => {
  const forged = { ...SERVER, 'package.json': SERVER['package.json']!.replace('1.2.3', '1.2.4') };
  const real = await hashInstallation(install({ server: SERVER, helper: HELPER }));
  const other = await hashInstallation(install({ server: forged, helper: HELPER }));
  expect(other?.version).toBe('1.2.4');
  expect(other?.digest).not.toBe(real?.digest);
});

it('a version that is not wanted is not read', async () => {
  const folder = install({ server: SERVER, helper: HELPER });
  expect(await hashInstallation(folder, { isWanted: (version) => version !== '1.2.3' })).toBeUndefined();
  expect(await hashInstallation(folder, { isWanted: (version) => version === '1.2.3' })).toBeDefined();
});

it('what cannot be read as a package is no installation', async () => {
  expect(await hashInstallation(install({ server: { 'package.json': 'not JSON' } }))).toBeUndefined();
  expect(await hashInstallation(join(tmpdir(), 'assay-nowhere'))).toBeUndefined();
});

it('a link to a file elsewhere counts by where it leads', async () => {
  const [one, other] = ['/etc/hostname', '/etc/hosts'].map((target) => {
    const folder = install({ server: SERVER, helper: HELPER });
    symlinkSync(target, join(folder, 'link'));
    return folder;
  });
  expect(await hashInstallation(one!)).not.toEqual(await hashInstallation(other!));
});

it('no file is read once the signal aborts', async () => {
  const folder = install({ server: SERVER, helper: HELPER });
  expect(await hashInstallation(folder, { signal: new AbortController().signal })).toBeDefined();
  expect(await hashInstallation(folder, { signal: AbortSignal.abort() })).toBeUndefined();
});

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VERSION } from '@assay-mcp/kit/version';
import { expect, it } from 'vitest';
import { findCompanion } from '../../src/app/companion.ts';
import { findFetch } from '../../src/app/fetch-companion.ts';
import type { CompanionName } from '../../src/core/refusals/config-refusals.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { type PackageRegistry, servePackage } from '../../../../test/support/package-registry.ts';

const serve = (name: CompanionName): Promise<PackageRegistry> =>
  servePackage(name, VERSION, { 'dist/program.js': '' });

/** Assay as it was released with a package of this integrity. */
function release(name: CompanionName, integrity: string, version = VERSION): string {
  const from = tempDir();
  writeFileSync(join(from, 'companions.json'), JSON.stringify({ [name]: { version, integrity } }));
  return from;
}

const environment = ({ env }: PackageRegistry, home: string): Parameters<typeof findFetch>[1] => ({
  env: { ...env, ASSAY_HOME: home },
  cwd: home,
  home,
});

it('is installed into the home, with nothing left over, and outlasts the fetch of another', async () => {
  const home = tempDir();
  for (const name of ['assay-verify', 'assay-codebase'] as const) {
    const registry = await serve(name);
    const from = release(name, registry.integrity);
    const fetch = findFetch(name, environment(registry, home), from);
    expect(await fetch?.()).toEqual({ ok: true, value: undefined });
    const program = join(home, 'packages', 'node_modules', name, 'dist', 'program.js');
    expect(findCompanion(name, environment(registry, home), from)).toEqual({
      ok: true,
      value: pathToFileURL(program),
    });
  }
  const modules = readdirSync(join(home, 'packages', 'node_modules'));
  expect(modules.filter((name) => !name.startsWith('.'))).toEqual(['assay-codebase', 'assay-verify']);
  expect(readdirSync(join(home, 'packages')).filter((name) => name.startsWith('.'))).toEqual([]);
});

it('is not installed if it is another than the released one, or if npm cannot get it', async () => {
  const home = tempDir();
  const registry = await serve('assay-verify');
  const other = release('assay-verify', 'sha512-other');
  expect(await findFetch('assay-verify', environment(registry, home), other)?.()).toEqual({
    ok: false,
    error: {
      code: 'PACKAGE_NOT_FETCHED',
      name: 'assay-verify',
      version: VERSION,
      reason: `npm delivered another package than the one released with this Assay (${registry.integrity} instead of sha512-other)`,
    },
  });
  const unknown = release('assay-codebase', registry.integrity);
  expect(await findFetch('assay-codebase', environment(registry, home), unknown)?.()).toMatchObject({
    ok: false,
    error: { code: 'PACKAGE_NOT_FETCHED', reason: expect.stringContaining('404') },
  });
  expect(readdirSync(join(home, 'packages'))).toEqual([]);
});

it('is offered only by a build that was released with exactly this version', async () => {
  const registry = await serve('assay-verify');
  const place = environment(registry, tempDir());
  expect(findFetch('assay-verify', place, tempDir())).toBeUndefined();
  const { integrity } = registry;
  expect(findFetch('assay-verify', place, release('assay-codebase', integrity))).toBeUndefined();
  expect(findFetch('assay-verify', place, release('assay-verify', integrity, '0.0.1'))).toBeUndefined();
  expect(registry.requests).toEqual([]);
});

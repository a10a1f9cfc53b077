import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MIN_NODE_VERSION, OWN_INFO, VERSION } from '@assay-mcp/kit/version';
import { at, parseJson } from '../../../../test/support/json.ts';
import { ROOT } from '../../../../test/support/paths.ts';

const PACKAGES = globSync('{.,packages/*}/package.json', { cwd: ROOT });
const MANIFESTS = PACKAGES.map((file) => parseJson(readFileSync(join(ROOT, file), 'utf8')));

it('all packages have one version, which Assay reports', () => {
  expect(PACKAGES.length).toBeGreaterThan(5);
  expect(new Set(MANIFESTS.map((manifest) => at(manifest, 'version')))).toEqual(new Set([VERSION]));
  expect(OWN_INFO).toEqual({ name: 'assay', title: 'Assay', version: VERSION });
});

it('the oldest supported Node is the one that package.json declares and startup checks', () => {
  const start = readFileSync(new URL('../../../kit/src/platform/start-program.ts', import.meta.url), 'utf8');
  const needed = MANIFESTS.map((manifest) => at(manifest, 'engines', 'node')).filter(
    (one) => one !== undefined,
  );
  expect(new Set(needed)).toEqual(new Set([`>=${MIN_NODE_VERSION}`]));
  expect(start).toContain(`const NEEDED = [${MIN_NODE_VERSION.replace('.', ', ')}];`);
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MIN_NODE_VERSION, OWN_INFO, VERSION } from '../../src/core/version.ts';
import { at, parseJson } from '../support/json.ts';

it('Assay reports the version of its package', () => {
  const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(at(manifest, 'version'));
  expect(OWN_INFO).toEqual({ name: 'assay', title: 'Assay', version: at(manifest, 'version') });
});

it('the oldest supported Node is the one that package.json declares and startup checks', () => {
  const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const main = readFileSync(new URL('../../src/main.ts', import.meta.url), 'utf8');
  expect(`>=${MIN_NODE_VERSION}`).toBe(at(manifest, 'engines', 'node'));
  expect(main).toContain(`const NEEDED = [${MIN_NODE_VERSION.replace('.', ', ')}];`);
});

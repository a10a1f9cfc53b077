import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { OWN_INFO, VERSION } from '../../src/core/identity.ts';
import { at, parseJson } from '../support/json.ts';

it('Assay says the version of its package of itself', () => {
  const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(at(manifest, 'version'));
  expect(OWN_INFO).toEqual({ name: 'assay', title: 'Assay', version: at(manifest, 'version') });
});

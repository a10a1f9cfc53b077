import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findLinkOut } from '../../src/platform/links.ts';
import { tempDir } from '../../../../test/support/paths.ts';

it('a link that leads outside is found, at any depth; one that stays inside, or belongs to a package, is not', async () => {
  const folder = realpathSync(tempDir());
  const outside = realpathSync(tempDir());
  writeFileSync(join(outside, 'secret'), 'x');
  writeFileSync(join(folder, 'own'), 'x');
  for (const name of ['a/b', 'node_modules/p']) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync('../../own', join(folder, 'a/b/inside'));
  symlinkSync(outside, join(folder, 'node_modules/p/out'));
  const looking = { within: [folder], max: 100 };
  expect(await findLinkOut([folder, join(folder, 'absent')], looking)).toBeUndefined();
  const link = join(folder, 'a/b/out');
  symlinkSync(join(outside, 'secret'), link);
  expect(await findLinkOut([folder], looking)).toEqual({ link, target: join(outside, 'secret') });
  expect(await findLinkOut([folder], { within: [folder, outside], max: 100 })).toBeUndefined();
  expect(await findLinkOut([folder], { within: [folder], max: 1 })).toBeUndefined();
});

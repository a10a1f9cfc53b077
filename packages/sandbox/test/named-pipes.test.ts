import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findNamedPipes } from '../src/confine.ts';
import { tempDir } from '../../../test/support/paths.ts';

it.skipIf(process.platform === 'win32')(
  'named pipes are found in folders, but not through links',
  async () => {
    const [root, other] = [realpathSync(tempDir()), realpathSync(tempDir())];
    mkdirSync(join(root, 'a', 'b'), { recursive: true });
    writeFileSync(join(root, 'file'), '');
    execFileSync('mkfifo', [join(root, 'one'), join(root, 'a', 'b', 'two'), join(other, 'three')]);
    symlinkSync(other, join(root, 'link'));
    symlinkSync(join(other, 'three'), join(root, 'pipe'));
    const folders = [root, join(root, 'file'), join(root, 'absent')];
    expect(await findNamedPipes(folders)).toEqual([join(root, 'one'), join(root, 'a', 'b', 'two')]);
    // Upper folders come first, so that a large folder below does not hide them.
    expect(await findNamedPipes(folders, 5)).toEqual([join(root, 'one')]);
  },
);

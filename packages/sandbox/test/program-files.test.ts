import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgramFiles } from '../src/program-files.ts';
import { tempDir } from '../../../test/support/paths.ts';

it('a script of a workspace has the packages that npm linked beside it, and nothing from elsewhere', async () => {
  const workspace = realpathSync(tempDir());
  const elsewhere = realpathSync(tempDir());
  const at = (path: string): string => join(workspace, path);
  for (const file of [
    'packages/server/package.json',
    'packages/server/main.js',
    'packages/kit/package.json',
  ]) {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), '{}');
  }
  writeFileSync(join(elsewhere, 'package.json'), '{}');
  writeFileSync(at('package.json'), '{"workspaces":["packages/*"]}');
  mkdirSync(at('.ssh'));
  writeFileSync(at('.ssh/package.json'), '{}');
  mkdirSync(at('docs'));
  mkdirSync(at('node_modules/@own'), { recursive: true });
  symlinkSync('../../packages/kit', at('node_modules/@own/kit'));
  symlinkSync(elsewhere, at('node_modules/foreign'));
  symlinkSync('/', at('node_modules/all'));
  symlinkSync('../docs', at('node_modules/docs'));
  symlinkSync('missing', at('node_modules/broken'));
  symlinkSync('..', at('node_modules/whole'));
  symlinkSync('../.ssh', at('node_modules/keys'));
  const args = [at('packages/server/main.js')];
  const home = join(elsewhere, 'home');
  const { readable } = await findProgramFiles({
    command: process.execPath,
    args,
    cwd: workspace,
    path: '',
    home,
  });
  expect(readable).toContain(at('packages/kit'));
  expect(readable).toContain(at('packages/server'));
  for (const path of [elsewhere, '/', workspace, at('docs'), at('.ssh')])
    expect(readable).not.toContain(path);
});

it('links of a folder that is no workspace are not followed', async () => {
  const folder = realpathSync(tempDir());
  for (const path of ['server', 'other', 'node_modules']) mkdirSync(join(folder, path));
  for (const file of ['server/package.json', 'server/main.js', 'other/package.json', 'package.json'])
    writeFileSync(join(folder, file), '{}');
  symlinkSync('../other', join(folder, 'node_modules/other'));
  const args = [join(folder, 'server/main.js')];
  const home = join(folder, 'home');
  const found = await findProgramFiles({ command: process.execPath, args, cwd: folder, path: '', home });
  expect(found.readable).toContain(join(folder, 'server'));
  expect(found.readable).not.toContain(join(folder, 'other'));
});

it('the home is not shown as the project of a script in it, even if it is reached through a link', async () => {
  const folder = realpathSync(tempDir());
  const home = join(folder, 'real');
  mkdirSync(join(home, 'tool'), { recursive: true });
  for (const file of ['package.json', 'tool/main.js']) writeFileSync(join(home, file), '{}');
  symlinkSync('real', join(folder, 'link'));
  for (const reached of [home, join(folder, 'link')]) {
    const args = [join(home, 'tool/main.js')];
    const options = { command: process.execPath, args, cwd: folder, path: '', home: reached };
    const { readable, projects } = await findProgramFiles(options);
    expect([reached, readable.includes(home), projects]).toEqual([reached, false, []]);
  }
});

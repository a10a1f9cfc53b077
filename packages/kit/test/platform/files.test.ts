import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  isFolder,
  readText,
  readWhole,
  removeFile,
  removeUnlessChanged,
  writeAtomically,
  writeUnlessChanged,
} from '../../src/platform/files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assay-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('a text is read as it was written, without a byte order mark', async () => {
  const path = join(folder, 'a');
  expect(await writeAtomically(path, '\uFEFFäöü\n', 0o600)).toEqual({ ok: true, value: undefined });
  expect(await readText(path)).toEqual({ ok: true, value: 'äöü\n' });
});
it('the new file has the requested mode, whatever the old one had, and nothing else is left in the folder', async () => {
  const path = join(folder, 'a');
  await writeFile(path, 'old');
  await chmod(path, 0o644);
  await writeAtomically(path, 'new', 0o600);
  expect([(await stat(path)).mode & 0o777, await readdir(folder)]).toEqual([0o600, ['a']]);
  await writeAtomically(path, 'new', 0o666);
  expect((await stat(path)).mode & 0o777).toBe(0o666);
});
it('a write through a symbolic link keeps the link', async () => {
  const [path, link] = [join(folder, 'a'), join(folder, 'link')];
  await writeFile(path, 'old');
  await symlink(path, link);
  await writeAtomically(link, 'new', 0o600);
  expect([(await lstat(link)).isSymbolicLink(), await readFile(path, 'utf8')]).toEqual([true, 'new']);
});
it('a failed write reports why, and leaves no temporary file or damage', async () => {
  const path = join(folder, 'a');
  await mkdir(path);
  await writeFile(join(path, 'inside'), 'x');
  expect(await writeAtomically(path, 'new', 0o600)).toEqual({
    ok: false,
    error: { reason: 'it is a folder' },
  });
  expect([await readdir(folder), await readdir(path)]).toEqual([['a'], ['inside']]);
  expect(await writeAtomically(join(folder, 'none', 'a'), 'new', 0o600)).toEqual({
    ok: false,
    error: { reason: 'there is no such file or folder' },
  });
});
it('a file that has changed meanwhile is not written or removed, and no temporary file is left', async () => {
  const path = join(folder, 'a');
  const changed = { ok: true, value: 'changed' };
  const file = { text: 'new', mode: 0o600 };
  expect(await writeUnlessChanged(path, 'old', file)).toEqual(changed);
  expect(await writeUnlessChanged(path, undefined, file)).toEqual({ ok: true, value: 'written' });
  expect(await writeUnlessChanged(path, undefined, file)).toEqual(changed);
  expect(await writeUnlessChanged(path, 'new', { ...file, text: '' })).toEqual({
    ok: true,
    value: 'written',
  });
  expect(await writeUnlessChanged(path, undefined, file)).toEqual(changed);
  expect(removeUnlessChanged(path, 'new')).toEqual(changed);
  expect(await readdir(folder)).toEqual(['a']);
  expect(removeUnlessChanged(path, '')).toEqual({ ok: true, value: 'removed' });
  expect(removeUnlessChanged(path, '')).toEqual(changed);
});
it('concurrent writers leave one complete text', async () => {
  const path = join(folder, 'a');
  const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
  await Promise.all(texts.map((text) => writeAtomically(path, text, 0o600)));
  expect(texts).toContain(await readFile(path, 'utf8'));
  expect(await readdir(folder)).toEqual(['a']);
});
it('a file to be rewritten is read with its byte order mark and mode', async () => {
  const path = join(folder, 'a');
  await writeAtomically(path, '\uFEFFa\r\n', 0o640);
  expect(await readWhole(path)).toEqual({ ok: true, value: { text: '\uFEFFa\r\n', mode: 0o640 } });
  expect(await readWhole(join(folder, 'none'))).toEqual({ ok: true, value: undefined });
  await writeFile(path, Buffer.from([0xff, 0xfe]));
  expect(await readWhole(path)).toEqual({ ok: false, error: { reason: 'it is not UTF-8 text' } });
  await symlink(join(folder, 'gone'), join(folder, 'link'));
  expect(await readWhole(join(folder, 'link'))).toEqual({
    ok: false,
    error: { reason: 'it is a link to a file that is not there' },
  });
});
it('a folder is recognized; a file or a missing path is not one', async () => {
  const path = join(folder, 'a');
  await writeFile(path, '');
  expect([await isFolder(folder), await isFolder(path), await isFolder(join(folder, 'none'))]).toEqual([
    true,
    false,
    false,
  ]);
});
it('a file can be removed, and removing a missing one fails', async () => {
  const path = join(folder, 'a');
  await writeFile(path, '');
  expect([await removeFile(path), await readdir(folder)]).toEqual([{ ok: true, value: undefined }, []]);
  expect(await removeFile(path)).toEqual({ ok: false, error: { reason: 'there is no such file or folder' } });
});

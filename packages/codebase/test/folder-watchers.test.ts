import { mkdirSync, realpathSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { endLater, until } from '../../../test/support/endings.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { FolderWatchers } from '../src/watch/folder-watchers.ts';

interface Watched {
  readonly watchers: FolderWatchers;
  /** Resolves once a change was reported, with all that were since the last call. */
  readonly untilSeen: (path: string) => Promise<readonly string[]>;
  readonly write: (path: string) => void;
  readonly root: string;
}

function watched(isRecursive = false): Watched {
  const root = realpathSync(tempDir());
  const seen = new Set<string>();
  const watchers = new FolderWatchers({
    root,
    isRecursive,
    onChange: (folder, name) => void seen.add(folder + (name ?? '')),
  });
  endLater(async () => {
    watchers.close();
    return Promise.resolve();
  });
  const write = (path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), path);
  };
  const untilSeen: Watched['untilSeen'] = async (path) => {
    await until(`${path} is among ${[...seen].join(' ')}`, () => (seen.has(path) ? true : undefined));
    const paths = [...seen];
    seen.clear();
    return paths;
  };
  return { watchers, untilSeen, write, root };
}

it.each([
  ['one watcher for each folder', false],
  ['a recursive watcher', true],
])('%s reports changes in the given folders only', async (_, isRecursive) => {
  const { watchers, untilSeen, write } = watched(isRecursive);
  for (const path of ['a/one.ts', 'node_modules/x/two.ts', 'a/b/three.ts']) write(path);
  expect(await watchers.follow(['', 'a/'])).toEqual({ ok: true, added: 2 });
  expect(await watchers.follow(['', 'a/'])).toEqual({ ok: true, added: 0 });
  write('node_modules/x/two.ts');
  write('a/b/three.ts');
  write('a/one.ts');
  expect(await untilSeen('a/one.ts')).toEqual(['a/one.ts']);
  expect(await watchers.follow(['', 'a/', 'a/b/'])).toEqual({ ok: true, added: 1 });
  write('a/b/three.ts');
  await untilSeen('a/b/three.ts');
});

it('a folder that was replaced by another of the same name, or is below one, is watched anew', async () => {
  const { watchers, untilSeen, write, root } = watched();
  write('a/b/one.ts');
  await watchers.follow(['', 'a/', 'a/b/']);
  renameSync(join(root, 'a'), join(root, 'former'));
  write('a/b/one.ts');
  await untilSeen('a');
  expect(await watchers.follow(['', 'a/', 'a/b/'])).toEqual({ ok: true, added: 2 });
  write('a/b/two.ts');
  await untilSeen('a/b/two.ts');
});

it('all folders are watched anew after more events than the kernel may have kept', async () => {
  const { watchers, untilSeen, write, root } = watched();
  for (const path of ['a/one.ts', 'a/two.ts']) write(path);
  await watchers.follow(['', 'a/']);
  // Two events in a row would be one if they were equal.
  for (let count = 0; count < 8_000; count += 1)
    utimesSync(join(root, 'a', count % 2 ? 'one.ts' : 'two.ts'), 1, 1);
  write('a/last.ts');
  await untilSeen('a/last.ts');
  expect(await watchers.follow(['', 'a/'])).toEqual({ ok: true, added: 2 });
});

it('a folder that is gone is left out, and nothing is watched after close', async () => {
  const { watchers, write, root } = watched();
  write('a/one.ts');
  expect(await watchers.follow(['', 'a/', 'gone/'])).toEqual({ ok: true, added: 2 });
  rmSync(join(root, 'a'), { recursive: true });
  expect(await watchers.follow([''])).toMatchObject({ ok: true });
  expect(watchers.size).toBe(1);
  watchers.close();
  expect(watchers.size).toBe(0);
});

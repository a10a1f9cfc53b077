import { linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseMounts } from '../src/mountinfo.ts';
import { findAliases, findProtectedPaths } from '../src/protected-paths.ts';
import { tempDir } from '../../../test/support/paths.ts';

/** A folder that a server may change, with these files. A name that ends with a slash is a folder. */
function rootWith(...names: readonly string[]): string {
  const root = realpathSync(tempDir());
  for (const name of names) {
    mkdirSync(join(root, name.endsWith('/') ? name : join(name, '..')), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(join(root, name), '{}');
  }
  return root;
}

describe('in a folder that a server may change, protection', () => {
  it('hides home and config file, and keeps the folder of the config file as it is', async () => {
    const root = rootWith('work/conf/mcp.json', '.assay/');
    const own = [join(root, '.assay'), join(root, 'work/conf/mcp.json')];
    expect(await findProtectedPaths({ own, others: [], writable: [root] })).toEqual({
      ok: true,
      value: {
        hidden: [
          { path: join(root, '.assay'), isFolder: true },
          { path: join(root, 'work/conf/mcp.json'), isFolder: false },
        ],
        readOnly: [join(root, 'work/conf')],
        pinned: [],
      },
    });
    expect(await findProtectedPaths({ own, others: [], writable: [] })).toMatchObject({
      value: { readOnly: [], pinned: [] },
    });
  });

  it('hides a home with the config file and other files in it as one folder', async () => {
    const root = rootWith('.assay/mcp.json', '.assay/modules/one.ts');
    const own = [join(root, '.assay'), join(root, '.assay/mcp.json')];
    const others = [join(root, '.assay/modules'), join(root, '.assay/modules/one.ts')];
    const value = { hidden: [{ path: join(root, '.assay'), isFolder: true }], readOnly: [], pinned: [] };
    expect(await findProtectedPaths({ own, others, writable: [root] })).toEqual({ ok: true, value });
    expect(await findProtectedPaths({ own, others: [], writable: [] })).toEqual({ ok: true, value });
  });

  it('keeps the folder in which an absent config file would be created', async () => {
    const root = rootWith('work/');
    const own = [join(root, 'work/conf/mcp.json')];
    expect(await findProtectedPaths({ own, others: [], writable: [root] })).toEqual({
      ok: true,
      value: { hidden: [], readOnly: [join(root, 'work')], pinned: [] },
    });
  });

  it('includes every link on the way to a path', async () => {
    const root = rootWith('real/home/', 'links/');
    symlinkSync('../real', join(root, 'links/first'));
    symlinkSync(join(root, 'links/first/home'), join(root, 'links/second'));
    expect(
      await findProtectedPaths({ own: [join(root, 'links/second')], others: [], writable: [root] }),
    ).toEqual({
      ok: true,
      value: {
        hidden: [{ path: join(root, 'real/home'), isFolder: true }],
        readOnly: [join(root, 'links')],
        pinned: [],
      },
    });
  });

  it('includes what others run or read, except the root itself and what does not exist', async () => {
    const root = rootWith('programs/server/index.mjs', 'openapi.json');
    symlinkSync('../programs/server/index.mjs', join(root, 'programs/link'));
    const others = ['programs/server', 'openapi.json', 'absent', '.'].map((name) => join(root, name));
    expect(await findProtectedPaths({ own: [], others, writable: [root] })).toEqual({
      ok: true,
      value: {
        hidden: [],
        readOnly: [join(root, 'programs/server'), join(root, 'openapi.json')],
        pinned: [],
      },
    });
    const byLink = await findProtectedPaths({
      own: [],
      others: [join(root, 'programs/link')],
      writable: [root],
    });
    expect(byLink).toMatchObject({
      value: { readOnly: [join(root, 'programs'), join(root, 'programs/server/index.mjs')], pinned: [] },
    });
  });

  it('pins the roots of other servers, unless they were replaced by a link', async () => {
    const root = rootWith('a/data/', 'b/', 'file');
    symlinkSync('a', join(root, 'link'));
    const otherRoots = ['a/data', 'link/data', 'file', 'absent', '.'].map((name) => join(root, name));
    expect(await findProtectedPaths({ own: [], others: [], otherRoots, writable: [root] })).toEqual({
      ok: true,
      value: { hidden: [], readOnly: [], pinned: [join(root, 'a/data')] },
    });
  });

  it.each<[what: string, reason: string, path: string, prepare: (root: string) => void]>([
    [
      'the config file directly in the root',
      'in_root',
      'mcp.json',
      (root) => writeFileSync(join(root, 'mcp.json'), ''),
    ],
    ['an absent config file directly in the root', 'in_root', 'mcp.json', () => undefined],
    ['an absent config file in an absent folder', 'in_root', 'conf/mcp.json', () => undefined],
    [
      'a link directly in the root',
      'link',
      'link/mcp.json',
      (root) => symlinkSync('conf', join(root, 'link')),
    ],
  ])('is refused for %s', async (_, reason, name, prepare) => {
    const root = rootWith();
    prepare(root);
    const found = await findProtectedPaths({ own: [join(root, name)], others: [], writable: [root] });
    expect(found).toMatchObject({ ok: false, error: { reason } });
  });

  it('is refused for a file of Assay with a second name elsewhere', async () => {
    const [root, home] = [rootWith(), rootWith('admin-token')];
    const options = { own: [home], others: [], writable: [root] };
    linkSync(join(home, 'admin-token'), join(home, '.draft'));
    expect(await findProtectedPaths(options)).toMatchObject({ ok: true });
    linkSync(join(home, 'admin-token'), join(root, 'second'));
    expect(await findProtectedPaths(options)).toMatchObject({
      ok: false,
      error: { reason: 'hard_link', path: home },
    });
  });
});

it('a path is also found where its file system is mounted a second time', () => {
  const mounts = parseMounts(
    [
      '21 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '30 21 8:2 / /home rw shared:1 - ext4 /dev/sda2 rw',
      '31 21 8:2 /ada /srv/a\\040b rw - ext4 /dev/sda2 rw',
      '32 21 8:2 /bob /srv/bob rw - ext4 /dev/sda2 rw',
      '33 21 8:1 /home/ada /mnt rw - ext4 /dev/sda1 rw',
      '',
    ].join('\n'),
  );
  expect(findAliases('/home/ada/.assay', mounts)).toEqual(['/srv/a b/.assay']);
  expect(findAliases('/srv/a b/x', mounts)).toEqual(['/home/ada/x']);
  expect(findAliases('/etc', mounts)).toEqual([]);
});

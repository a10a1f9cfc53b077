import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { Child } from '@assay-mcp/kit/platform/child';
import { tempDir } from '../../../test/support/paths.ts';
import { confineWith } from '../src/confine.ts';
import type { DiscardedFiles, DiscardedLook } from '../src/denial.ts';
import { FolderVersion } from '../src/folder-version.ts';
import { OpenFolder } from '../src/open-folder.ts';
import { OBSERVED_BUDGET, StateReader } from '../src/state.ts';

const isLinux = process.platform === 'linux';

/** Runs a script in a twin whose changes are discarded, and returns what it changed from its first line of output on. */
async function discarded(
  root: string,
  script: string,
  {
    hidden = [],
    prepare = (files) => files.look(),
  }: {
    readonly hidden?: readonly string[];
    readonly prepare?: (files: DiscardedFiles) => Promise<unknown>;
  } = {},
): Promise<DiscardedLook & { readonly output: string }> {
  const confined = await confineWith(hidden)(
    { command: '/bin/sh', args: ['-c', script, 'sh', root], env: {}, cwd: '/', roots: [root] },
    { rights: 'read', discards: true, namedReaches: new Set() },
  );
  if (!confined.ok || confined.value.discarded === undefined) throw new Error(JSON.stringify(confined));
  const files = confined.value.discarded;
  const child = new Child(confined.value);
  let output = '';
  const { promise: answered, resolve } = Promise.withResolvers<undefined>();
  const { promise: started, resolve: start } = Promise.withResolvers<undefined>();
  child.onOutput((chunk) => {
    output += chunk.toString();
    if (output.includes('started\n')) start(undefined);
    if (output.includes('answered\n')) resolve(undefined);
  });
  files.hold(child);
  await Promise.race([started, child.ended]);
  await prepare(files);
  child.write([Buffer.from('go\n')]);
  await Promise.race([answered, child.ended]);
  const looked = await files.look();
  await child.end();
  return { ...looked, output };
}

function folderWith(...names: readonly string[]): string {
  const root = tempDir();
  for (const name of names) writeFileSync(join(root, name), name);
  mkdirSync(join(root, 'inner'));
  writeFileSync(join(root, 'inner', 'deep'), 'deep');
  return root;
}

const contents = (root: string): string =>
  execFileSync(
    'sh',
    ['-c', 'cd "$1"; find . -printf "%p %y %m %s %T@ %n\\n" | sort; cat note inner/deep', 'sh', root],
    {
      encoding: 'utf8',
    },
  );

const CHANGES: Readonly<Record<string, string>> = {
  'writes a file': 'echo x >note',
  'appends to a file': 'echo x >>note',
  'deletes a file': 'rm note',
  'deletes a folder': 'rm -r inner',
  'replaces a folder': 'rm -r inner; mkdir inner; echo x >inner/deep',
  'renames a file': 'mv note other',
  'changes rights': 'chmod 777 note',
  'changes times': 'touch -d 2001-01-01 note',
  'links a file': 'ln note second && echo x >second',
  'writes through a link': 'ln -s note alias; echo x >alias',
};

describe.skipIf(!isLinux)('a twin whose changes are discarded', () => {
  it.each(Object.entries(CHANGES))('that %s changes nothing outside, and is seen', async (_, change) => {
    const root = folderWith('note');
    const before = contents(root);
    const look = await discarded(
      root,
      `cd "$1"; echo started; read -r go; ${change}; echo answered; read -r end`,
    );
    expect(look.changes.length).toBeGreaterThan(0);
    expect(look).toMatchObject({ isComplete: true });
    expect(contents(root)).toBe(before);
  });

  it('sees its own changes, and none are reported that readers make', async () => {
    const root = folderWith('note');
    const script =
      'cd "$1"; echo x >begun; echo started; read -r go; echo $$ >note.lock; cat begun note; echo; echo answered; read -r end';
    expect(await discarded(root, script)).toEqual({
      ...{ changes: [], isComplete: true },
      output: 'started\nx\nnote\nanswered\n',
    });
  });

  it('that renames a folder around a hidden one makes no look at it: no name in it is reported', async () => {
    const root = folderWith('note');
    const hidden = join(root, 'inner', 'hidden');
    mkdirSync(hidden);
    writeFileSync(join(hidden, 'secret-name'), '');
    const script =
      'cd "$1"; echo started; read -r go; mv inner moved 2>/dev/null; mkdir -p inner; echo answered; read -r end';
    const look = await discarded(root, script, { hidden: [hidden] });
    expect(look.changes.length).toBeGreaterThan(0);
    expect(look.changes.map(({ path }) => path).filter((path) => path.includes('secret-name'))).toEqual([]);
  });

  it.each([
    ['large files', 'truncate -s 40M a b'],
    ['many files', 'i=0; while [ $i -lt 2100 ]; do : >f$i; i=$((i + 1)); done'],
  ])('that writes %s is not read to the end', async (_, change) => {
    const root = folderWith('note');
    const look = await discarded(
      root,
      `cd "$1"; echo started; read -r go; ${change}; echo answered; read -r end`,
    );
    expect(look).toMatchObject({ isComplete: false });
  });

  it('is not waited for when its start was given up', async () => {
    const root = folderWith('note');
    const script = 'cd "$1"; echo x >begun; echo started; read -r go; echo answered; read -r end';
    const prepare = (files: DiscardedFiles): Promise<unknown> => files.settle(AbortSignal.abort());
    // Nothing has looked before.
    expect(await discarded(root, script, { prepare })).toMatchObject({
      changes: [{ path: join(root, 'begun') }],
    });
  });

  it('shows none of the mounts of its changes', async () => {
    const root = folderWith('note');
    const { output } = await discarded(root, 'echo started; ls -a /tmp; echo answered; read -r end');
    expect(output).not.toContain('assay-overlay');
  });
});

describe.skipIf(!isLinux)('the layers of an overlay', () => {
  it('are read without following a link on the way to an entry', async () => {
    const [upper, lower, outside] = [tempDir(), tempDir(), tempDir()];
    mkdirSync(join(outside, 'deep'));
    writeFileSync(join(outside, 'deep', 'secret.py'), 'x');
    symlinkSync(outside, join(lower, 'link'));
    const overlay = { path: '/seen', upper, lower, merged: lower };
    const reader = new StateReader(overlay, { ...OBSERVED_BUDGET });
    const path = '/seen/link/deep/secret.py';
    expect([await reader.existed(path), await reader.original(path), await reader.source(path)]).toEqual([
      false,
      undefined,
      undefined,
    ]);
  });

  it('are read by their handles: a folder that is exchanged for a link is not followed', async () => {
    const [root, outside] = [tempDir(), tempDir()];
    writeFileSync(join(outside, 'secret'), '');
    mkdirSync(join(root, 'a'));
    writeFileSync(join(root, 'a', 'own'), '');
    await using top = await OpenFolder.at(root);
    await using before = await top?.folder('a');
    renameSync(join(root, 'a'), join(root, 'b'));
    symlinkSync(outside, join(root, 'a'));
    await using after = await top?.folder('a');
    expect([await before?.names(), after]).toEqual([['own'], undefined]);
  });
});

describe('the version of a folder', () => {
  const changes: Readonly<Record<string, (root: string) => void>> = {
    'a file was written with the same size': (root) => writeFileSync(join(root, 'note'), 'eton'),
    'a file deep inside was written': (root) => writeFileSync(join(root, 'inner', 'deep'), 'x'),
    'a file was created': (root) => writeFileSync(join(root, 'new'), ''),
    'a file was replaced by another': (root) => renameSync(join(root, 'other'), join(root, 'note')),
    'a file got a second name': (root) => linkSync(join(root, 'note'), join(root, 'second')),
  };

  it.each(Object.entries(changes))('is not current after %s', async (_, change) => {
    const root = folderWith('note', 'other');
    const version = await FolderVersion.read([root]);
    expect(await version.isCurrent()).toBe(true);
    expect(readFileSync(join(root, 'note'), 'utf8')).toBe('note');
    expect(await version.isCurrent()).toBe(true);
    change(root);
    expect(await version.isCurrent()).toBe(false);
  });

  it('is never current if the folder has more entries than can be looked at', async () => {
    const version = await FolderVersion.read([folderWith('note')], 3);
    expect(await version.isCurrent()).toBe(false);
  });
});

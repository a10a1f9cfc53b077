import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parseGitIndex } from '../src/files/git-index.ts';
import { readGlobalIgnore } from '../src/files/global-ignore.ts';
import { walkRepository, type WalkOptions, type WalkResult } from '../src/files/walk-repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'assay-walk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Creates a folder with these files, keyed by path. */
function repository(name: string, files: Readonly<Record<string, string>>): string {
  const root = join(folder, name);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function found(
  root: string,
  options: Partial<WalkOptions> = {},
): Promise<WalkResult & { paths: readonly string[] }> {
  const result = await walkRepository(root, { maxFileBytes: 10_000, ...options });
  return { ...result, paths: result.files.map(({ path }) => path) };
}

const NAME = fc.constantFrom('a', 'b', 'build', 'src', 'a.log', 'b.js', 'Ab', 'x y', '#c', '!d', 'foo');
const PATH = fc.array(NAME, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const SEGMENT = fc.oneof(
  NAME,
  fc.constantFrom(
    '*',
    '**',
    '*.log',
    '*.js',
    '?',
    '[ab]',
    '[!a]*',
    'b*',
    '*o*',
    '\\#c',
    '\\!d',
    '[a-z]oo',
    'x\\ y',
  ),
);
const PATTERN = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '!'),
    fc.constantFrom('', '', '/'),
    fc.array(SEGMENT, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', '  ', '/**'),
  )
  .map(([not, anchor, parts, end]) => not + anchor + parts.join('/') + end);
const IGNORE = fc
  .array(fc.oneof(PATTERN, fc.constantFrom('', '# note')), { maxLength: 5 })
  .map((lines) => lines.join('\n'));
const TREE = fc.record({
  paths: fc.uniqueArray(PATH, { minLength: 1, maxLength: 20 }),
  ignores: fc.array(fc.tuple(fc.constantFrom('', 'a/', 'src/', 'build/', 'a/b/'), IGNORE), { maxLength: 3 }),
  exclude: IGNORE,
});

test('the files found are those that git would add', async () => {
  const root = repository('like-git', {});
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'core.excludesFile=/dev/null', ...args], { cwd: root, encoding: 'utf8' });
  git('init', '-q');
  await fc.assert(
    fc.asyncProperty(TREE, async ({ paths, ignores, exclude }) => {
      // A path below another path is omitted: one of them would be a file and a directory.
      const files = paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)));
      rmSync(join(root, '.git', 'info', 'exclude'), { force: true });
      for (const path of git('ls-files', '-z', '--others').split('\0').filter(Boolean))
        rmSync(join(root, path.split('/')[0]!), { recursive: true, force: true });
      writeFileSync(join(root, '.git', 'info', 'exclude'), exclude);
      for (const path of [...files, ...ignores.map(([directory]) => `${directory}.gitignore`)]) {
        const isBlocked = files.some((file) => path.startsWith(`${file}/`));
        if (isBlocked) continue;
        mkdirSync(dirname(join(root, path)), { recursive: true });
        const lines = ignores.findLast(([directory]) => path === `${directory}.gitignore`)?.[1];
        writeFileSync(join(root, path), lines ?? 'x');
      }
      const expected = git('ls-files', '-z', '--others', '--exclude-standard').split('\0').filter(Boolean);
      const code = expected.filter((path) => !path.endsWith('.gitignore'));
      expect([...(await found(root)).paths].sort()).toEqual(code.sort());
    }),
    { numRuns: 25 },
  );
});

test.each<[what: string, plant: (root: string, target: string) => void]>([
  ['the file', (root, target) => symlinkSync(target, join(root, '.git', 'info', 'exclude'))],
  ['its folder', (root, target) => symlinkSync(dirname(target), join(root, '.git', 'info'))],
])('no .git/info/exclude is read through a link that stands for %s', async (what, plant) => {
  const outside = repository('outside', { exclude: '*.ts\n' });
  const root = repository('linked', { 'a.ts': '', '.git/HEAD': '' });
  if (what === 'the file') mkdirSync(join(root, '.git', 'info'));
  plant(root, join(outside, 'exclude'));
  expect((await found(root)).paths).toEqual(['a.ts']);
});

test('a submodule is part of the repository, with its own ignore files', async () => {
  const library = repository('library', { '.gitignore': '*.tmp\n', 'src/lib.ts': '' });
  const root = repository('with-submodule', { 'main.ts': '' });
  const git = (cwd: string, ...args: readonly string[]): void => {
    const settings = ['protocol.file.allow=always', 'user.name=a', 'user.email=a@a.example'];
    execFileSync('git', [...settings.flatMap((one) => ['-c', one]), ...args], { cwd, stdio: 'pipe' });
  };
  git(library, 'init', '-q');
  git(library, 'add', '.');
  git(library, 'commit', '-q', '-m', 'first');
  git(root, 'init', '-q');
  git(root, 'submodule', 'add', '-q', library, 'vendored');
  writeFileSync(join(root, 'vendored', 'left.tmp'), '');
  const { paths, skipped } = await found(root);
  expect(paths).toEqual(['.gitmodules', 'main.ts', 'vendored/src/lib.ts']);
  expect(skipped).toEqual({ ignored: 1, default: 1 });
});

test('a .mcpignore extends the .gitignore next to it, and can include files that are skipped otherwise', async () => {
  const root = repository('mcpignore', {
    '.gitignore': 'generated/\n*.tmp\n',
    '.mcpignore':
      'docs/\n!generated/\n!package-lock.json\n!node_modules/\nnode_modules/*\n!node_modules/own/\n',
    'generated/api.ts': '',
    'generated/x.tmp': '',
    'docs/a.md': '',
    'package-lock.json': '',
    'yarn.lock': '',
    'node_modules/own/index.js': '',
    'node_modules/other/index.js': '',
    'pkg/.mcpignore': 'fixtures\n',
    'pkg/fixtures/f.ts': '',
    'pkg/main.ts': '',
  });
  const { paths, skipped } = await found(root);
  expect(paths.filter((path) => !path.includes('ignore'))).toEqual([
    'package-lock.json',
    'generated/api.ts',
    'node_modules/own/index.js',
    'pkg/main.ts',
  ]);
  expect(skipped).toEqual({ ignored: 4, default: 4 });
});

test('dependencies, caches, secrets, generated, binary and large files are skipped and counted', async () => {
  const root = repository('defaults', {
    '.git/config': '',
    'node_modules/a/index.js': '',
    'env/pyvenv.cfg': '',
    'env/lib.py': '',
    'target/CACHEDIR.TAG': '',
    'dist/index.js': '',
    'app.min.js': '',
    'app.js.map': '',
    '.env.local': '',
    '.env.example': '',
    'server.pem': '',
    'logo.PNG': '',
    'large.ts': 'x'.repeat(10_001),
    'main.ts': 'x'.repeat(10_000),
  });
  const { paths, skipped } = await found(root);
  expect(paths).toEqual(['.env.example', 'main.ts', 'dist/index.js']);
  expect(skipped).toEqual({ default: 5, protected: 2, binary: 1, too_large: 1 });
});

test('symbolic links, special files and unusual names are skipped and counted', async () => {
  const root = repository('odd', { 'a/main.ts': '', 'two\nlines.ts': '' });
  symlinkSync(root, join(root, 'a', 'loop'));
  symlinkSync('/etc/passwd', join(root, 'passwd'));
  symlinkSync('nowhere', join(root, 'broken'));
  execFileSync('mkfifo', [join(root, 'pipe.ts')]);
  writeFileSync(Buffer.concat([Buffer.from(`${root}/latin`), Buffer.from([0xe9]), Buffer.from('.ts')]), '');
  const socket = createServer().listen(join(root, 'socket'));
  try {
    const { paths, skipped } = await found(root);
    expect(paths).toEqual(['a/main.ts']);
    expect(skipped).toEqual({ symlink: 3, special_file: 2, unusual_name: 2 });
  } finally {
    socket.close();
  }
});

test.skipIf(process.getuid?.() === 0)('an unreadable directory is counted', async () => {
  const root = repository('locked', { 'a/x.ts': '', 'b/y.ts': '' });
  chmodSync(join(root, 'a'), 0);
  const { paths, skipped } = await found(root).finally(() => chmodSync(join(root, 'a'), 0o700));
  expect({ paths, skipped }).toEqual({ paths: ['b/y.ts'], skipped: { unreadable: 1 } });
});

test('the walk stops at the limits on files and depth', async () => {
  const root = repository('limits', { 'a.ts': '', 'b.ts': '', [`${'d/'.repeat(129)}deep.ts`]: '' });
  expect(await found(root, { maxFiles: 1 })).toMatchObject({ paths: ['a.ts'], skipped: { limit: 2 } });
});

test('hostile ignore patterns do not slow down the walk', async () => {
  const name = `${'a'.repeat(200)}.ts`;
  const root = repository('hostile', {
    '.gitignore': [
      `${'*a'.repeat(100)}b`,
      `${'**/a*/'.repeat(50)}x`,
      `${'[a-z]*'.repeat(50)}!`,
      `${'*'.repeat(3_000)}z`,
      `${'**/aa/'.repeat(12)}x`,
      `${'**/aa/'.repeat(3)}x`,
    ].join('\n'),
    [`${'aa/'.repeat(40)}${name}`]: '',
  });
  expect((await found(root)).paths).toEqual([expect.stringContaining(name)]);
});

test('an aborted walk rejects, and so does one of a missing directory', async () => {
  const root = repository('aborted', { 'a.ts': '' });
  await expect(found(join(root, 'absent'))).rejects.toThrow('ENOENT');
  await expect(found(root, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
});

describe('as git finds them', () => {
  const git = (cwd: string, ...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
      cwd,
      stdio: 'pipe',
    });

  test.each(['2', '4'])(
    'files that are tracked although a rule ignores them are found (index version %s)',
    async (version) => {
      const root = repository(`tracked-${version}`, {
        '.gitignore': 'lib/\n*.gen.ts\nout/\n',
        '.mcpignore': 'secret-lib/\n',
        'lib/kept/a.ts': '',
        'a.gen.ts': '',
        'secret-lib/a.ts': '',
      });
      git(root, 'init', '-q');
      git(root, 'add', '-f', '.');
      git(root, 'update-index', '--index-version', version);
      writeFileSync(join(root, 'lib', 'kept', 'untracked.ts'), '');
      writeFileSync(join(root, 'b.gen.ts'), '');
      mkdirSync(join(root, 'out'));
      writeFileSync(join(root, 'out', 'c.ts'), '');
      expect((await found(root)).paths).toEqual(['a.gen.ts', 'lib/kept/a.ts']);
    },
  );
  test('a damaged index of git tracks nothing', async () => {
    const root = repository('damaged', { '.gitignore': 'a.ts\n', 'a.ts': '', 'b.ts': '' });
    git(root, 'init', '-q');
    git(root, 'add', '-f', '.');
    writeFileSync(join(root, '.git', 'index'), readFileSync(join(root, '.git', 'index')).subarray(0, 90));
    expect((await found(root)).paths).toEqual(['b.ts']);
  });
  test('an index of git with very long names is not read', async () => {
    const root = repository('long-names', { '.gitignore': 'a.ts\n', 'a.ts': '', 'b.ts': '' });
    git(root, 'init', '-q');
    // Version 4: each name is that of the entry before and one more part.
    const entries = Array.from({ length: 5_000 }, () =>
      Buffer.concat([
        Buffer.alloc(60),
        Buffer.from([0x0f, 0xff, 0]),
        Buffer.from('a/'.repeat(40)),
        Buffer.alloc(1),
      ]),
    );
    const header = Buffer.alloc(12);
    header.write('DIRC');
    header.writeUInt32BE(4, 4);
    header.writeUInt32BE(entries.length, 8);
    const bytes = Buffer.concat([header, ...entries]);
    expect(parseGitIndex(bytes)).toBeUndefined();
    writeFileSync(join(root, '.git', 'index'), bytes);
    expect((await found(root)).paths).toEqual(['b.ts']);
  });
  test('a file that names the directory of another repository counts for nothing', async () => {
    const other = repository('other', { 'a.ts': '' });
    git(other, 'init', '-q');
    writeFileSync(join(other, '.git', 'info', 'exclude'), 'b.ts\n');
    const root = repository('pointing', { 'b.ts': '', '.git': `gitdir: ${join(other, '.git')}\n` });
    expect((await found(root)).paths).toEqual(['b.ts']);
  });
  test('each repository inside has its own info/exclude, and a linked working tree that of its repository', async () => {
    const root = repository('outer', { 'a.ts': '', 'x.tmp.ts': '', 'inner/b.ts': '', 'inner/x.tmp.ts': '' });
    git(root, 'init', '-q');
    git(join(root, 'inner'), 'init', '-q');
    writeFileSync(join(root, 'inner', '.git', 'info', 'exclude'), '*.tmp.ts\n');
    expect((await found(root)).paths).toEqual(['a.ts', 'x.tmp.ts', 'inner/b.ts']);
    git(join(root, 'inner'), 'commit', '-q', '--allow-empty', '-m', 'first');
    const linked = join(root, '..', 'linked-tree');
    git(join(root, 'inner'), 'worktree', 'add', '-q', linked);
    writeFileSync(join(linked, 'c.ts'), '');
    writeFileSync(join(linked, 'c.tmp.ts'), '');
    expect((await found(linked)).paths).toEqual(['c.ts']);
  });
  test("the user's own ignore file counts", async () => {
    const home = repository('home', {
      '.gitconfig': '[user]\n\tname = a\n[core]\n\texcludesFile = ~/my-ignore # mine\n',
      'my-ignore': '*.mine.ts\n',
      '.config/git/ignore': '*.other.ts\n',
    });
    const root = repository('global', { 'a.ts': '', 'a.mine.ts': '', 'a.other.ts': '' });
    const globalIgnore = readGlobalIgnore({ env: {}, home });
    expect(
      (await walkRepository(root, { maxFileBytes: 1_000, globalIgnore })).files.map(({ path }) => path),
    ).toEqual(['a.other.ts', 'a.ts']);
    rmSync(join(home, '.gitconfig'));
    expect(readGlobalIgnore({ env: {}, home })).toBe('*.other.ts\n');
    expect(readGlobalIgnore({ env: { XDG_CONFIG_HOME: root }, home })).toBeUndefined();
  });
});

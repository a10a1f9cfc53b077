import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
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
      expect([...(await found(root)).paths].sort()).toEqual(expected.sort());
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
  expect(paths).toEqual(['.gitmodules', 'main.ts', 'vendored/.gitignore', 'vendored/src/lib.ts']);
  expect(skipped).toEqual({ ignored: 1 });
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
  expect(skipped).toEqual({ ignored: 4, default: 1 });
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
  expect((await found(root)).paths).toEqual(['.gitignore', expect.stringContaining(name)]);
});

test('an aborted walk rejects, and so does one of a missing directory', async () => {
  const root = repository('aborted', { 'a.ts': '' });
  await expect(found(join(root, 'absent'))).rejects.toThrow('ENOENT');
  await expect(found(root, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
});

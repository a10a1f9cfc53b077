import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parseJson, textAt, type JsonObject } from './support/json.ts';
import { ROOT, tempDir } from './support/paths.ts';

const SCRIPT = join(ROOT, 'scripts', 'release.mjs');
const REPOSITORY = { type: 'git', url: 'git+https://git.example/someone/assay.git' };

/** A repository of three published packages and a private one, with no dependencies, on main. */
function openRepository(): {
  readonly folder: string;
  readonly write: (path: string, content: string) => void;
} {
  const folder = tempDir();
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const manifest = (path: string, members: JsonObject): void =>
    write(join(path, 'package.json'), JSON.stringify({ version: '1.2.0', license: 'MIT', ...members }));
  manifest('.', {
    name: 'root',
    private: true,
    workspaces: ['packages/*'],
    scripts: { build: 'node build.mjs', check: 'node -e ""', test: 'node -e ""' },
  });
  manifest('packages/kit', { name: '@assay-mcp/kit', private: true });
  for (const [path, name] of [
    ['gateway', 'assay-mcp'],
    ['verify', 'assay-verify'],
    ['codebase', 'assay-codebase'],
  ] as const) {
    manifest(join('packages', path), { name, repository: REPOSITORY, files: ['dist'] });
    for (const file of ['README.md', 'LICENSE']) write(join('packages', path, file), name);
  }
  write(
    'build.mjs',
    `import { mkdirSync, writeFileSync } from 'node:fs';
    for (const name of ['gateway', 'verify', 'codebase']) {
      mkdirSync(\`packages/\${name}/dist\`, { recursive: true });
      writeFileSync(\`packages/\${name}/dist/main.js\`, name);
      writeFileSync(\`packages/\${name}/dist/bundled.json\`, '[]');
    }`,
  );
  write('.gitignore', 'dist/\nrelease/\n');
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.0 - 2026-12-01\n\n- Something new.\n\n## 1.1.0\n\n- Old.\n');
  execFileSync('npm', ['install', '--package-lock-only', '--offline', '--silent'], { cwd: folder });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  commit(folder);
  return { folder, write };
}

function git(folder: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
}

function commit(folder: string): void {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'A version');
}

function release(
  folder: string,
  ...options: readonly string[]
): { readonly status: number | null; readonly stdout: string } {
  const { GITHUB_ACTIONS: _, ...env } = process.env;
  const args = [SCRIPT, '--skip-tests', ...options];
  return spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
}

it('a dry run packs all packages in one version, and the gateway names the exact contents of the others', () => {
  const { folder } = openRepository();
  const { status, stdout } = release(folder, '--dry-run');
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.not.stringContaining('✗') });
  const commands = stdout.split('\n').filter((line) => /\$ (?:git|npm publish)/.test(line));
  const publish = (name: string): string =>
    `  $ npm publish release/${name}-1.2.0.tgz --provenance --access public`;
  expect(commands).toEqual([
    '  $ git tag --annotate --message v1.2.0 v1.2.0',
    '  $ git push origin v1.2.0',
    ...['assay-codebase', 'assay-verify', 'assay-mcp'].map(publish),
  ]);
  expect(git(folder, 'tag')).toBe('');

  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const digest = (name: string): string =>
    `sha512-${createHash('sha512')
      .update(readFileSync(join(folder, 'release', `${name}-1.2.0.tgz`)))
      .digest('base64')}`;
  expect(parseJson(read('packages/gateway/dist/companions.json'))).toEqual({
    'assay-codebase': { version: '1.2.0', integrity: digest('assay-codebase') },
    'assay-verify': { version: '1.2.0', integrity: digest('assay-verify') },
  });
  expect(stdout).toMatch(/assay-mcp: release\/assay-mcp-1\.2\.0\.tgz.* 6 files/);
  expect(
    textAt(parseJson(read('release/assay-verify-1.2.0.cdx.json')), 'metadata', 'component', 'purl'),
  ).toBe('pkg:npm/assay-verify@1.2.0');
  expect(read('release/NOTES.md')).toBe('- Something new.\n');
});

it('a dry run lists all that is missing, and a release ends at the first of it', () => {
  const { folder, write } = openRepository();
  git(folder, 'checkout', '--quiet', '-b', 'other');
  write(
    'packages/kit/package.json',
    JSON.stringify({ name: '@assay-mcp/kit', private: true, version: '1.1.0' }),
  );
  write(
    'packages/verify/package.json',
    JSON.stringify({ name: 'assay-verify', version: '1.2.0', files: ['dist', 'test'] }),
  );
  write('packages/verify/test/a.test.ts', '');
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n');
  commit(folder);
  write('left-over.txt', '');
  const { status, stdout } = release(folder, '--dry-run');
  expect(status).toBe(1);
  expect(stdout.split('Not ready for a release:\n')[1]?.trim().split(/\n\s*/)).toEqual([
    'uncommitted changes: ?? left-over.txt',
    'this commit is not on main',
    'packages/kit has 1.1.0, not 1.2.0',
    'CHANGELOG.md has no entry "## 1.2.0"',
    'packages/verify/package.json has no repository.url, which npm needs for provenance',
    'test/a.test.ts does not belong into a package',
  ]);

  const { status: ended, stdout: said } = release(folder);
  expect({ ended, said }).toEqual({ ended: 1, said: expect.stringMatching(/^✗ tree: .*\n✗ tree: .*\n$/) });
});

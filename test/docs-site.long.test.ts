import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, tempDir } from './support/paths.ts';

function buildDocs(root: string, out: string, env: Readonly<Record<string, string>> = {}) {
  const { GITHUB_REPOSITORY: _, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/build-docs.mjs'), '--root', root, '--out', out],
    { encoding: 'utf8', env: { ...inherited, ...env } },
  );
  return { status, stdout, stderr };
}

function repositoryWith(files: Readonly<Record<string, string>>): string {
  const root = tempDir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

it('the site has a page for each guide and decision, and every link in it leads to a file and a heading', () => {
  const out = join(tempDir(), 'site');
  const built = buildDocs(ROOT, out);
  expect([built.status, built.stderr]).toEqual([0, '']);
  const expected = globSync('docs/**/*.md', { cwd: ROOT }).map((path) => path.replace(/\.md$/, '.html'));
  const pages = globSync('**/*.html', { cwd: out });
  expect(pages).toEqual(expect.arrayContaining([...expected, 'index.html', 'docs/adr/index.html']));
  const faults = pages.flatMap((page) => {
    const html = readFileSync(join(out, page), 'utf8');
    const links = [...html.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => href);
    return links
      .filter((href) => !/^https?:/.test(href))
      .filter((href) => {
        const [file = '', id = ''] = href.split('#');
        const target = file === '' ? join(out, page) : join(out, dirname(page), file);
        return !existsSync(target) || (id !== '' && !readFileSync(target, 'utf8').includes(` id="${id}"`));
      })
      .map((href) => `${page}: ${href}`);
  });
  expect(faults).toEqual([]);
});

it('a link to a file or heading that does not exist fails the build, which then writes nothing', () => {
  const out = join(tempDir(), 'site');
  const root = repositoryWith({
    'README.md':
      '# A\n\n[gone](docs/GONE.md) [heading](docs/B.md#none) [fine](docs/B.md#two-words) [up](../x.md)\n',
    'docs/B.md': '# B\n\n## Two words\n\n[own](#none) `[code](nowhere.md)`\n',
  });
  const built = buildDocs(root, out);
  expect(built.status).toBe(1);
  expect(built.stderr.trim().split('\n')).toEqual([
    'README.md: docs/GONE.md: there is no such file',
    'README.md: docs/B.md#none: there is no such heading',
    'README.md: ../x.md: there is no such file',
    'docs/B.md: #none: there is no such heading',
    '4 links lead nowhere, so no site was written.',
  ]);
  expect(existsSync(out)).toBe(false);
});

it('texts are not markup, headings have the ids of GitHub, and source files are linked where the repository is known', () => {
  const out = join(tempDir(), 'site');
  const root = repositoryWith({
    'README.md':
      '# A <b>\n\n## Is `x.y` it?\n\n## Is x.y it\n\n<script>alert(1)</script>\n\n[run](javascript:alert(1)) [s](src/a.ts)\n',
    'src/a.ts': '',
  });
  expect(buildDocs(root, out).status).toBe(0);
  const html = readFileSync(join(out, 'index.html'), 'utf8');
  expect([...html.matchAll(/<h2 id="([^"]*)"/g)].map(([, id]) => id)).toEqual(['is-xy-it', 'is-xy-it-1']);
  expect(html).not.toMatch(/<script|<b>|javascript:|a\.ts/);
  expect(buildDocs(root, out, { GITHUB_REPOSITORY: 'o/r' }).status).toBe(0);
  expect(readFileSync(join(out, 'index.html'), 'utf8')).toContain(
    'href="https://github.com/o/r/blob/main/src/a.ts"',
  );
});

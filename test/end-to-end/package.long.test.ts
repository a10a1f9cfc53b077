import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { listAt, parseJson, textAt, type Json } from '../support/json.ts';
import { fixture, ROOT, tempDir, writeConfig } from '../support/paths.ts';

const run = promisify(execFile);

describe('the package', () => {
  const place = tempDir();
  // The Node that runs the tests comes first, so npm and the binary use it too.
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const env = cleanEnv({ PATH: path, npm_config_update_notifier: 'false' });
  const assay = join(place, 'node_modules', '.bin', 'assay');
  let entry: Json;
  beforeAll(async () => {
    // Scripts are skipped because `prepack` would rebuild while other tests run.
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
    const listed = parseJson((await run('npm', args, { cwd: ROOT, env })).stdout);
    entry = (Array.isArray(listed) ? listed[0] : Object.values(listed ?? {})[0]) as Json;
  });

  it('contains what users need and nothing for developers', () => {
    const files = listAt(entry, 'files').map((file) => textAt(file, 'path'));
    const needed = [
      'package.json',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'dist/main.js',
      'assay.schema.json',
      'dist/define-tool.d.ts',
      ...['', '.gz', '.br'].map((encoding) => `dist/admin/index.html${encoding}`),
    ];
    expect(needed.filter((file) => !files.includes(file))).toEqual([]);
    const ours = /^(dist\/.*\.js|dist\/define-tool\.d\.ts|[A-Z]+(\.md)?|package\.json|assay\.schema\.json)$/;
    const page = /^dist\/swagger-ui\/(swagger-ui\.css|swagger-ui-bundle\.js\.LICENSE\.txt|LICENSE|NOTICE)$/;
    const admin = /^dist\/admin\/(index\.html|assets\/[\w-]+\.(js|css|svg))(\.gz|\.br)?$/;
    expect(files.filter((file) => !ours.test(file) && !page.test(file) && !admin.test(file))).toEqual([]);
    expect(files.filter((file) => page.test(file))).toHaveLength(4);
  });

  it('has admin pages with external scripts only, at most 200 kB compressed in total', () => {
    const page = readFileSync(join(ROOT, 'dist/admin/index.html'), 'utf8');
    expect(page).not.toMatch(/<script(?![^>]*\bsrc="\/admin\/assets\/)|<style|\bon\w+=|https?:/);
    const scripts = [...page.matchAll(/"\/admin\/(assets\/[\w-]+\.js)"/g)].map(([, name = '']) => name);
    const sizes = scripts.map((name) => statSync(join(ROOT, 'dist/admin', `${name}.gz`)).size);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200 * 1024);
  });

  it('imports nothing before it has checked the version of Node', () => {
    expect(readFileSync(join(ROOT, 'dist/main.js'), 'utf8')).not.toMatch(/^import\b(?!\()/m);
  });

  it('installs from its tarball into another project and runs there', async () => {
    writeFileSync(join(place, 'package.json'), '{"name":"elsewhere","private":true}');
    const options = ['--prefer-offline', '--omit=dev', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, join(place, textAt(entry, 'filename'))], { cwd: place, env });
    const { packages, megabytes } = measureInstallation(join(place, 'node_modules'));
    expect(packages).toBeLessThanOrEqual(45);
    expect(megabytes).toBeLessThanOrEqual(60);
    const version = textAt(parseJson(readFileSync(join(ROOT, 'package.json'), 'utf8')), 'version');
    expect((await run(assay, ['--version'], { cwd: place, env })).stdout.trim()).toBe(version);
    const args = [
      'tools',
      '--json',
      '--config',
      writeConfig({ plain: fixture('plain') }),
      '--home',
      join(place, 'home'),
    ];
    expect((await run(assay, args, { cwd: place, env })).stdout).toContain('plain_echo');
  });
});

/** Packages below `node_modules`, and the sizes of all files in MB. */
function measureInstallation(folder: string): { packages: number; megabytes: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const isPackage = /node_modules[\\/](?:@[^\\/]+[\\/])?[^@\\/][^\\/]*[\\/]package\.json$/;
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  return { packages: paths.filter((path) => isPackage.test(path)).length, megabytes: bytes / 1_000_000 };
}

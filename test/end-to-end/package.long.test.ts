import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { listAt, parseJson, textAt, type Json } from '../support/json.ts';
import { fixture, GATEWAY, ROOT, tempDir, writeConfig } from '../support/paths.ts';

const run = promisify(execFile);

/** A declaration in each of some languages, whose grammars are part of the package. */
const SYMBOLS = {
  'refund.ts': {
    source: 'export function bookRefund(cents: number) { return cents; }',
    symbol: 'bookRefund',
  },
  'ledger.rb': { source: 'class Ledger\n  def post\n    1\n  end\nend', symbol: 'Ledger' },
};

const version = textAt(parseJson(readFileSync(join(ROOT, 'package.json'), 'utf8')), 'version');
// The Node that runs the tests comes first, so npm and the programs use it too.
const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
const env = cleanEnv({ PATH: path, npm_config_update_notifier: 'false' });

interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

/** Scripts are skipped because `prepack` would rebuild while other tests run. */
async function pack(folder: string): Promise<Packed> {
  const place = tempDir();
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', place];
  const listed = parseJson((await run('npm', args, { cwd: join(ROOT, 'packages', folder), env })).stdout);
  const entry = (Array.isArray(listed) ? listed[0] : Object.values(listed ?? {})[0]) as Json;
  return {
    tarball: join(place, textAt(entry, 'filename')),
    files: listAt(entry, 'files').map((file) => textAt(file, 'path')),
  };
}

interface Installed {
  readonly place: string;
  readonly packages: number;
  readonly megabytes: number;
  readonly run: (program: string, ...args: readonly string[]) => Promise<string>;
}

/** Installs tarballs into a folder with nothing else in it. */
async function install(...tarballs: readonly string[]): Promise<Installed> {
  const place = tempDir();
  writeFileSync(join(place, 'package.json'), '{"name":"elsewhere","private":true}');
  const options = ['--prefer-offline', '--omit=dev', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, ...tarballs], { cwd: place, env });
  return {
    place,
    ...measureInstallation(join(place, 'node_modules')),
    run: async (program, ...args) => {
      const file = join(place, 'node_modules', '.bin', program);
      return (await run(file, args, { cwd: place, env, timeout: 120_000 })).stdout;
    },
  };
}

const COMMON = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist/main.js', 'dist/bundled.json'];
const OURS = /^(?:dist\/.*\.js|dist\/bundled\.json|[A-Z]+(?:\.md)?|package\.json)$/;

describe('assay-mcp', () => {
  let packed: Packed;
  beforeAll(async () => {
    packed = await pack('gateway');
  });

  it('contains what users need and nothing for developers', () => {
    const { files } = packed;
    const needed = [
      ...COMMON,
      ...[
        'assay.schema.json',
        'dist/define-tool.d.ts',
        'dist/program.js',
        'dist/docs/CONFIG.md',
        'dist/verdicts.json.br',
      ],
      ...['', '.gz', '.br'].map((encoding) => `dist/admin/index.html${encoding}`),
    ];
    expect(needed.filter((file) => !files.includes(file))).toEqual([]);
    const more = /^(?:dist\/(?:define-tool\.d\.ts|verdicts\.json\.br)|assay\.schema\.json)$/;
    const page = /^dist\/swagger-ui\/(swagger-ui\.css|swagger-ui-bundle\.js\.LICENSE\.txt|LICENSE|NOTICE)$/;
    const admin = /^dist\/admin\/(index\.html|licenses\.json|assets\/[\w-]+\.(js|css|svg))(\.gz|\.br)?$/;
    const guide = /^dist\/docs\/[\w-]+\.md$/;
    const letters = /^dist\/any-ascii\/LICENSE$/;
    const known = [OURS, more, page, admin, guide, letters];
    expect(files.filter((file) => !known.some((pattern) => pattern.test(file)))).toEqual([]);
    expect(files.filter((file) => page.test(file))).toHaveLength(4);
  });

  it('has admin pages with external scripts only, at most 200 kB compressed in total', () => {
    const page = readFileSync(join(GATEWAY, 'dist/admin/index.html'), 'utf8');
    expect(page).not.toMatch(/<script(?![^>]*\bsrc="\/admin\/assets\/)|<style|\bon\w+=|https?:/);
    const scripts = [...page.matchAll(/"\/admin\/(assets\/[\w-]+\.js)"/g)].map(([, name = '']) => name);
    const sizes = scripts.map((name) => statSync(join(GATEWAY, 'dist/admin', `${name}.gz`)).size);
    expect(sizes.length).toBeGreaterThan(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200 * 1024);
  });

  it('imports nothing before it has checked the version of Node', () => {
    expect(readFileSync(join(GATEWAY, 'dist/main.js'), 'utf8')).not.toMatch(/^import\b(?!\()/m);
  });

  it('installs alone and serves tools, and names the packages that are missing', async () => {
    const assay = await install(packed.tarball);
    expect(assay.packages).toBeLessThanOrEqual(30);
    expect(assay.megabytes).toBeLessThanOrEqual(35);
    expect((await assay.run('assay', '--version')).trim()).toBe(version);
    const home = join(assay.place, 'home');
    const plain = ['--config', writeConfig({ plain: fixture('plain') }), '--home', home];
    expect(await assay.run('assay', 'tools', '--json', ...plain)).toContain('plain_echo');

    const config = writeConfig({ code: { type: 'codebase' }, plain: fixture('plain') });
    const listing = assay.run('assay', 'tools', '--json', '--config', config, '--home', home);
    const listed = await listing.catch((error: unknown) => (error as { readonly stdout: string }).stdout);
    const missing = (name: string): unknown => expect.stringContaining(`npm install ${name}@${version}`);
    expect(listAt(parseJson(listed), 'down')).toContainEqual(
      expect.objectContaining({
        name: 'code',
        causeCode: 'PACKAGE_MISSING',
        cause: missing('assay-codebase'),
      }),
    );
    const search = assay.run('assay', 'codebase', 'search', 'x', '--home', home);
    await expect(search).rejects.toMatchObject({ code: 4, stderr: missing('assay-codebase') });
    const verifying = assay.run('assay', 'verify', '--home', home, '--', 'node', 'server.js');
    await expect(verifying).rejects.toMatchObject({ code: 4, stderr: missing('assay-verify') });
    expect(existsSync(join(home, 'packages'))).toBe(false);
  });

  it('uses the code search that is installed beside it', async () => {
    const assay = await install(packed.tarball, (await pack('codebase')).tarball);
    await searchIn(assay, ['assay', 'codebase']);
  });
});

describe('assay-verify', () => {
  it('installs alone and verifies a server', async () => {
    const { tarball, files } = await pack('verify');
    expect(COMMON.filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => !OURS.test(file))).toEqual([]);
    const verifier = await install(tarball);
    expect(verifier.packages).toBe(1);
    expect(verifier.megabytes).toBeLessThanOrEqual(5);
    const { command, args } = fixture('plain') as {
      readonly command: string;
      readonly args: readonly string[];
    };
    const options = ['--tool', 'echo', '--sets', '1', '--repeats', '2', '--format', 'json'];
    const report = parseJson(await verifier.run('assay-verify', ...options, '--', command, ...args));
    expect(listAt(report, 'tools').map((tool) => textAt(tool, 'name'))).toEqual(['echo']);
  });
});

describe('assay-codebase', () => {
  it('installs alone, indexes and searches', async () => {
    const { tarball, files } = await pack('codebase');
    expect(COMMON.filter((file) => !files.includes(file))).toEqual([]);
    const grammar = /^dist\/grammars\/(?:[\w-]+\.wasm\.br|LICENSE)$/;
    expect(files.filter((file) => !OURS.test(file) && !grammar.test(file))).toEqual([]);
    expect(files.filter((file) => grammar.test(file))).toHaveLength(14);
    const codebase = await install(tarball);
    expect(codebase.packages).toBeLessThanOrEqual(20);
    expect(codebase.megabytes).toBeLessThanOrEqual(10);
    await searchIn(codebase, ['assay-codebase']);
  });
});

async function searchIn(installed: Installed, [program = '', ...first]: readonly string[]): Promise<void> {
  const repository = tempDir();
  const home = ['--home', tempDir()];
  for (const [name, { source, symbol }] of Object.entries(SYMBOLS)) {
    writeFileSync(join(repository, name), source);
    await installed.run(program, ...first, 'index', repository, ...home);
    const found = parseJson(await installed.run(program, ...first, 'search', symbol, '--json', ...home));
    expect(listAt(found, 'results')[0]).toMatchObject({ file_path: name, symbol });
  }
}

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

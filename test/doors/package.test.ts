import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { listAt, parseJson, textAt, type Json } from '../support/json.ts';
import { fixture, ROOT, tempDir, writeConfig } from '../support/place.ts';

const run = promisify(execFile);

describe('the package', () => {
  it('installs elsewhere from its tarball and runs there, without anything for developers', async () => {
    const place = tempDir();
    const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    const env = cleanEnv({ PATH: path, npm_config_update_notifier: 'false' });
    const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', place], {
      cwd: ROOT,
      env,
    });
    const listed = parseJson(packed.stdout);
    const entry = (Array.isArray(listed) ? listed[0] : Object.values(listed ?? {})[0]) as Json;
    const files = listAt(entry, 'files').map((file) => textAt(file, 'path'));
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'dist/main.js']));
    expect(files.filter((file) => /^(test|src|bench|\.ci|node_modules)\//.test(file))).toEqual([]);
    writeFileSync(join(place, 'package.json'), '{"name":"elsewhere","private":true}');
    const tarball = join(place, textAt(entry, 'filename'));
    await run('npm', ['install', '--prefer-offline', '--omit=dev', '--no-audit', '--no-fund', tarball], {
      cwd: place,
      env,
    });
    expect(existsSync(join(place, 'node_modules', 'vitest'))).toBe(false);
    const assay = join(place, 'node_modules', '.bin', 'assay');
    const version = textAt(parseJson(readFileSync(join(ROOT, 'package.json'), 'utf8')), 'version');
    expect((await run(assay, ['--version'], { cwd: place, env })).stdout.trim()).toBe(version);
    const config = writeConfig({ plain: fixture('plain') });
    const tools = await run(assay, ['tools', '--json', '--config', config, '--home', join(place, 'home')], {
      cwd: place,
      env,
    });
    expect(tools.stdout).toContain('plain_echo');
  }, 120_000);
});

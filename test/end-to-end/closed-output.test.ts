import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { killLater } from '../support/endings.ts';
import { CODEBASE_MAIN, fixture, MAIN, ROOT, tempDir, writeConfig } from '../support/paths.ts';

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs a program whose stdout is closed as soon as it has printed something, or before. */
function runWithoutReader(main: string, args: readonly string[], closesAfterLine = false): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], { env: cleanEnv(), stdio: 'pipe' });
  killLater(child.pid ?? 0);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  if (closesAfterLine) child.stdout.once('data', () => child.stdout.destroy());
  else child.stdout.destroy();
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

describe('a program whose stdout has no reader', () => {
  it.each([
    ['assay', MAIN],
    ['assay-verify', join(ROOT, 'packages', 'verify', 'dist', 'main.js')],
    ['assay-codebase', CODEBASE_MAIN],
  ])('%s ends like a program that SIGPIPE ended, without a stack trace', async (_, main) => {
    expect(await runWithoutReader(main, ['--help'])).toEqual({ code: 141, stderr: '' });
  });

  it('stops serving in order', async () => {
    const home = tempDir();
    const config = writeConfig({ plain: fixture('plain') });
    const args = ['serve', '--config', config, '--home', home, '--port', '0'];
    const { code, stderr } = await runWithoutReader(MAIN, args, true);
    expect(code).toBe(141);
    expect(existsSync(join(home, 'serve.json'))).toBe(false);
    expect(stderr).not.toContain('EPIPE');
  });
});

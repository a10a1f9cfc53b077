import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const CONFIG = join(ROOT, 'test', 'fixtures', 'failing-run', 'vitest.config.ts');

it('a run with a failing test exits with 1, even if it used PostgreSQL', () => {
  const run = spawnSync(process.execPath, [VITEST, 'run', '--config', CONFIG], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });
  expect(run.stderr).toContain("expected 'postgres://assay:");
  expect(run.status).toBe(1);
});

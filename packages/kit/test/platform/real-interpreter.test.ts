import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resolveInterpreter } from '../../src/platform/real-interpreter.ts';
import { tempDir } from '../../../../test/support/paths.ts';

function withPython(folder: string, script: string): { readonly cwd: string; readonly path: string } {
  const cwd = tempDir();
  mkdirSync(join(cwd, folder));
  writeFileSync(join(cwd, folder, 'python3'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(cwd, folder, 'python3'), 0o755);
  return { cwd, path: `${join(cwd, folder)}:/usr/bin:/bin` };
}

it('the real interpreter is the program that a shim starts', async () => {
  const place = withPython('shims', 'echo /opt/python/bin/python3.13');
  expect(await resolveInterpreter('python3', place)).toBe('/opt/python/bin/python3.13');
});

it('the real interpreter is the command itself if it is not a shim, or the shim fails', async () => {
  const place = withPython('bin', 'echo /opt/python/bin/python3.13');
  expect(await resolveInterpreter('python3', place)).toBe('python3');
  expect(await resolveInterpreter('python3', withPython('shims', 'exit 1'))).toBe('python3');
  expect(await resolveInterpreter('node', withPython('shims', 'exit 1'))).toBe('node');
  expect(await resolveInterpreter('python3', { cwd: '/', path: '/nowhere' })).toBe('python3');
});

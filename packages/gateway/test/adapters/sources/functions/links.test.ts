import { realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildRunnerCommand } from '../../../../src/adapters/sources/functions/runner-command.ts';
import { RUNNER } from '../../../../../../test/support/function-modules.ts';
import { tempDir } from '../../../../../../test/support/paths.ts';

it('a module next to a link out of its readable folder is not served until the target is listed', async () => {
  const folder = realpathSync(tempDir());
  const outside = realpathSync(tempDir());
  const path = join(folder, 'tools.ts');
  writeFileSync(path, 'export {};');
  const place = { runner: RUNNER };
  const spec = { path, reads: [] as string[], writes: [], env: {}, memoryMb: 64, timeoutMs: 1_000 };
  expect((await buildRunnerCommand(spec, place)).ok).toBe(true);
  const link = join(folder, 'out');
  symlinkSync(outside, link);
  expect(await buildRunnerCommand(spec, place)).toEqual({
    ok: false,
    error: `the link ${JSON.stringify(link)} leads to ${JSON.stringify(outside)}, which it may not read: add the target to "reads", or remove the link`,
  });
  expect((await buildRunnerCommand({ ...spec, reads: [outside] }, place)).ok).toBe(true);
});

// A full disk, for real: the home of code search is a small tmpfs that only its processes see.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { MAIN, tempDir } from '../../../test/support/paths.ts';
import { writeIn } from './hint-checks.ts';

const SIZE = 1_500_000;
const canMount =
  spawnSync('bwrap', ['--dev-bind', '/', '/', '--size', '4096', '--tmpfs', '/tmp', 'true']).status === 0;

it.runIf(canMount)('a full disk is reported as such, and what was indexed before is still found', () => {
  const [home, small, large] = [tempDir(), tempDir(), tempDir()];
  writeIn(small, 'refunds.ts', 'export function bookRefund() {}\n');
  for (let file = 0; file < 100; file += 1) {
    const lines = Array.from({ length: 500 }, (_, line) => `word${file}x${line} is one of many words here`);
    writeIn(large, `${file}.txt`, lines.join('\n'));
  }
  const assay = `"$0" "$1" codebase`;
  const script = [
    `${assay} index ${small} --home ${home} >/dev/null`,
    `${assay} index ${large} --home ${home} --json; echo "exit $?"`,
    `${assay} search bookRefund --home ${home}`,
  ].join('\n');
  const mounts = ['--dev-bind', '/', '/', '--size', String(SIZE), '--tmpfs', home];
  const run = spawnSync('bwrap', [...mounts, '/bin/sh', '-c', script, process.execPath, MAIN], {
    encoding: 'utf8',
  });
  expect(run.stderr.replaceAll(/\s+/g, ' ')).toContain(
    `The disk of the index "${home}/codebase/default/index.db" is full. The former index is unchanged and can still be searched. Free some space`,
  );
  expect(run.stdout).toContain('exit 1');
  expect(run.stdout).toContain('refunds.ts');
});

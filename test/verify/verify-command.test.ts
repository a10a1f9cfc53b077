import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { at } from '../support/json.ts';
import { ROOT } from '../support/place.ts';

function verify(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const server = [process.execPath, join(import.meta.dirname, 'corpus-server.ts'), '{seed}'];
  return spawnSync(process.execPath, [join(ROOT, 'dist', 'main.js'), 'verify', ...args, '--', ...server], {
    cwd: ROOT,
    encoding: 'utf8',
  });
}

it('a contradiction fails the command, with its evidence as JSON', () => {
  const { status, stdout } = verify('--json', '--sets', '1', '--tool', 'writes_in_secret');
  expect(status).toBe(1);
  const report: unknown = JSON.parse(stdout);
  expect(report).toMatchObject({
    outcome: 'contradicted',
    coverage: { tools: 1, toolsWithSuccess: 1 },
    suggestedAnnotations: { writes_in_secret: { readOnlyHint: false, destructiveHint: true } },
    tools: [
      {
        verdicts: {
          readOnlyHint: { kind: 'contradicted', evidence: [{ effect: 'added', call: 1, args: {} }] },
        },
      },
    ],
  });
  expect(JSON.stringify(at(report as never, 'mechanisms'))).toContain('overlay');
});

it('an unknown tool is a usage error that names the known ones', () => {
  const { status, stderr } = verify('--tool', 'nothing');
  expect(status).toBe(2);
  expect(stderr).toContain('The server has no tool "nothing". It has reads_a_file,');
});

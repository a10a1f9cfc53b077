import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { at } from '../support/json.ts';
import { ROOT, tempDir } from '../support/paths.ts';

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

it('--init writes a fixtures file, which is used as edited, along with a baseline', () => {
  const file = join(tempDir(), 'assay-verify.json');
  expect(verify('--init', '--fixtures', file).status).toBe(0);
  const { tools } = JSON.parse(readFileSync(file, 'utf8')) as { tools: Record<string, unknown> };
  expect(tools['writes_in_secret']).toEqual({ calls: [{}] });

  writeFileSync(file, JSON.stringify({ tools: { reads_a_file: { skip: 'never to run' } } }));
  const baseline = join(tempDir(), 'baseline.json');
  const accepted = [{ tool: 'writes_in_secret', hint: 'readOnlyHint', reason: 'known' }];
  writeFileSync(baseline, JSON.stringify({ accepted }));
  const pace = ['--sets', '1', '--repeats', '2', '--tool', 'writes_in_secret', 'reads_a_file'];
  const { status, stdout } = verify('--json', '--fixtures', file, '--baseline', baseline, ...pace);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    accepted,
    tools: [
      { name: 'reads_a_file', coverage: { calls: 0 }, verdicts: { readOnlyHint: { reason: 'skipped' } } },
      { name: 'writes_in_secret', verdicts: { readOnlyHint: { kind: 'contradicted' } } },
    ],
  });
});

it('a missing baseline exits with the code for file errors', () => {
  const { status, stderr } = verify('--baseline', join(tempDir(), 'missing.json'));
  expect(status).toBe(3);
  expect(stderr).toContain('missing.json');
});

/** Declares its tool read-only, but writes a file. Plain JavaScript, like the servers that users verify. */
const SERVER = `
const { createInterface } = require('node:readline');
const tools = [{ name: 'peek', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/call') require('node:fs').writeFileSync('peeked.txt', 'x');
  const result =
    method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      : method === 'tools/list' ? { tools } : { content: [] };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

it('the CI step of the guide writes its summary, and fails on a contradiction', () => {
  const guide = readFileSync(join(ROOT, 'docs', 'VERIFY.md'), 'utf8');
  const step = /^ +- run: (npx -y assay-mcp verify .*)$/m.exec(guide)?.[1] ?? 'no such step';
  const cwd = tempDir();
  writeFileSync(join(cwd, 'my-server.js'), SERVER);
  const summary = join(cwd, 'summary.md');
  const assay = `"${process.execPath}" "${join(ROOT, 'dist', 'main.js')}"`;
  const env = { ...process.env, GITHUB_STEP_SUMMARY: summary };
  // As GitHub runs steps.
  const shell = ['-e', '-c', step.replace('npx -y assay-mcp', assay)];
  const { status, stderr } = spawnSync('bash', shell, { cwd, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, '']);
  const text = readFileSync(summary, 'utf8');
  expect(text).toContain('1 contradicted, 0 accepted. 1 of 1 tools made a successful call');
  expect(text).toContain(`created ${cwd}/peeked.txt`);
  expect(text).toContain('Suggested annotations:');
  expect(existsSync(join(cwd, 'peeked.txt'))).toBe(false);
});

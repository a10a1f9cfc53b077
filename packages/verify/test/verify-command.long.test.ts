import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { VERSION } from '@assay-mcp/kit/version';
import { at, listAt, textAt } from '../../../test/support/json.ts';
import { MAIN, ROOT, tempDir } from '../../../test/support/paths.ts';

function verify(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const server = [process.execPath, join(import.meta.dirname, 'corpus-server.ts'), '{seed}'];
  return spawnSync(process.execPath, [MAIN, 'verify', ...args, '--', ...server], {
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

it('--explain prints each attempt, and --write-fixtures keeps what worked', () => {
  const file = join(tempDir(), 'drafted.json');
  const pace = ['--sets', '1', '--repeats', '2', '--tool', 'reads_a_file', '--explain', 'reads_a_file'];
  const { status, stdout } = verify(...pace, '--write-fixtures', file);
  expect(status).toBe(0);
  expect(stdout).toMatch(/reads_a_file \{\}, \d+ calls\n {2}answered: A note\./);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ tools: { reads_a_file: { calls: [{}] } } });
  expect(verify(...pace, '--write-fixtures', file).stderr).toContain(`${file} exists; name another file`);
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

/** Runs assay-verify, which needs no gateway. */
function runVerifier(cwd: string, ...args: readonly string[]): ReturnType<typeof verify> {
  const main = join(ROOT, 'packages', 'verify', 'dist', 'main.js');
  return spawnSync(process.execPath, [main, ...args], { cwd, encoding: 'utf8' });
}

it('assay-verify reports what a command does, like `assay verify`', () => {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'my-server.js'), SERVER);
  const server = ['--', process.execPath, 'my-server.js'];
  const { status, stdout, stderr } = runVerifier(cwd, '--sets', '1', '--repeats', '2', ...server);
  expect([status, stderr]).toEqual([1, '']);
  expect(stdout).toContain('CONTRADICTED peek: readOnlyHint is true');
  expect(stdout).toContain(`created ${cwd}/peeked.txt`);
  expect(runVerifier(cwd, '--tool', 'nothing', ...server)).toMatchObject({
    status: 2,
    stderr: 'assay-verify: The server has no tool "nothing". It has peek.\n',
  });
});

it('assay-verify says its version and its options, and what is wrong with its arguments', () => {
  const cwd = tempDir();
  expect(runVerifier(cwd, '--version')).toMatchObject({ status: 0, stdout: `${VERSION}\n` });
  const help = runVerifier(cwd, '--help');
  expect(help.status).toBe(0);
  expect(help.stdout).toContain('Usage: assay-verify [options] -- <command> [args...]');
  expect(help.stdout).toContain('--baseline <file>');
  const wrong = (reason: string): object => ({
    status: 2,
    stdout: '',
    stderr: `assay-verify: The arguments are not valid: ${reason}.\n`,
  });
  const separator = 'write `--` before the command of the server: `assay-verify -- COMMAND ARGUMENTS`';
  expect(runVerifier(cwd, 'node', 'my-server.js')).toMatchObject(wrong(separator));
  expect(runVerifier(cwd, '--env', 'secret', '--', 'node')).toMatchObject(
    wrong('--env: write it as name=value'),
  );
  expect(runVerifier(cwd, '--repeats', '1', '--', 'node')).toMatchObject(
    wrong('--repeats: it must be at least 2'),
  );
  expect(runVerifier(cwd, '--sets', '0', '--', 'node').status).toBe(2);
});

/** Runs the script of the action as GitHub does, except that npm does not fetch the program. */
function runAction(inputs: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly outputs: string;
  readonly summary: string;
  readonly cwd: string;
} {
  const action = load(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as never;
  const script = textAt(listAt(action, 'runs', 'steps').at(-1), 'run');
  const verifier = `"${process.execPath}" "${join(ROOT, 'packages', 'verify', 'dist', 'main.js')}"`;
  const [cwd, temp] = [tempDir(), tempDir()];
  writeFileSync(join(cwd, 'my-server.js'), SERVER);
  for (const file of ['summary', 'outputs']) writeFileSync(join(temp, file), '');
  const env = {
    ...process.env,
    ...{
      RUNNER_TEMP: temp,
      GITHUB_OUTPUT: join(temp, 'outputs'),
      GITHUB_STEP_SUMMARY: join(temp, 'summary'),
    },
    ...{
      GITHUB_ACTION_PATH: ROOT,
      VERSION: '',
      FIXTURES: '',
      BASELINE: '',
      SARIF: '',
      JUNIT: '',
      REQUIRE_OBSERVED: '',
      FAIL_ON: 'unobserved',
    },
    ...inputs,
  };
  const local = script
    .replace(/^ *\(cd "\$installed" && npm install .*$/m, '')
    .replace('node "$installed/node_modules/assay-verify/dist/main.js"', verifier);
  const { status, stdout, stderr } = spawnSync('bash', ['-eo', 'pipefail', '-c', local], {
    cwd,
    env,
    encoding: 'utf8',
  });
  const [summary = '', outputs = ''] = ['summary', 'outputs'].map((file) =>
    readFileSync(join(temp, file), 'utf8'),
  );
  return { status, stdout, stderr, outputs, summary, cwd };
}

const COMMAND = `"${process.execPath}" my-server.js 'an argument; touch made'`;

it('the action writes its summary and a SARIF report, and fails on a contradiction', () => {
  const { status, stdout, stderr, outputs, summary, cwd } = runAction({ COMMAND });
  expect([status, stderr]).toEqual([1, '']);
  // The runner takes nothing that the server named for a command.
  const [, token, printed, annotations] =
    /^::stop-commands::([\w-]+)\n([^]*)\n::\1::\n([^]*)$/.exec(stdout) ?? [];
  expect([token?.length, printed?.includes('peek')]).toEqual([36, true]);
  expect(annotations).toBe(
    `::error file=my-server.js,line=3,title=readOnlyHint of peek::peek declares readOnlyHint: true, but created ${cwd}/peeked.txt.\n`,
  );
  expect(summary).toContain('1 contradicted, 0 accepted. 1 of 1 tools made a successful call');
  expect(summary).toContain(`created ${cwd}/peeked.txt`);
  expect(summary).toContain('Suggested annotations:');
  expect(readdirSync(cwd)).toEqual(['my-server.js']);
  const [, sarif = ''] = /^outcome=contradicted\nsarif=(.*)\n$/.exec(outputs) ?? [];
  expect(JSON.parse(readFileSync(sarif, 'utf8'))).toMatchObject({
    runs: [
      {
        results: [
          {
            locations: [
              { physicalLocation: { artifactLocation: { uri: 'my-server.js' }, region: { startLine: 3 } } },
            ],
          },
        ],
      },
    ],
  });
});

it('the action passes a contradiction on request, but no server that cannot be started', () => {
  expect(runAction({ COMMAND, FAIL_ON: 'never', SARIF: 'hints.sarif' })).toMatchObject({
    status: 0,
    outputs: expect.stringMatching(/^outcome=contradicted\nsarif=.*\/hints\.sarif\n$/),
  });
  expect(runAction({ COMMAND: `${process.execPath} absent.js`, FAIL_ON: 'never' })).toMatchObject({
    status: 4,
    outputs: 'outcome=failed\n',
    summary: '',
  });
  expect(runAction({ COMMAND: ' ' }).status).toBe(2);
  expect(runAction({ COMMAND: `node "unclosed` }).status).toBe(1);
  expect(runAction({ COMMAND, FAIL_ON: 'always' }).status).toBe(2);
});

it('one run writes several reports, one of them to stdout in place of the table', () => {
  const folder = tempDir();
  const files = ['a.json', 'sarif', 'a.xml', 'a.md'].map((name) => join(folder, name));
  const [a, b, c, d] = files;
  const reports = [a, `sarif=${b}`, `junit=${c}`, d, 'markdown=-'].flatMap((one) => ['--report', one!]);
  const pace = ['--sets', '1', '--repeats', '2', '--tool', 'writes_in_secret'];
  const { status, stdout } = verify(...pace, ...reports);
  expect(status).toBe(1);
  const [json, sarif, junit, markdown] = files.map((file) => readFileSync(file, 'utf8'));
  expect(JSON.parse(json!)).toMatchObject({ outcome: 'contradicted' });
  expect(JSON.parse(sarif!)).toMatchObject({ version: '2.1.0', runs: [{ results: [{ level: 'error' }] }] });
  expect(junit).toMatch(/^<\?xml[^]*<failure/);
  expect(stdout).toBe(markdown);
});

it.each([
  [
    ['--report', 'a.txt'],
    '--report: a.txt must be FORMAT=FILE with json, sarif, junit, markdown, github, or end with .json, .sarif, .xml, .md',
  ],
  [['--json', '--report', 'junit=-'], '--report: with --json, stdout is taken; name a file'],
  [['--update-baseline'], '--update-baseline: name the file with --baseline'],
])('%j is refused before the server starts', (options, reason) => {
  const { status, stderr } = verify(...options);
  expect([status, stderr]).toEqual([2, `assay: The arguments are not valid: ${reason}.\n`]);
});

it('a report that cannot be written is named', () => {
  const file = join(tempDir(), 'absent', 'a.md');
  const pace = ['--sets', '1', '--repeats', '2', '--tool', 'reads_a_file'];
  const { status, stderr } = verify(...pace, '--report', file);
  expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining(file) });
});

it('--update-baseline accepts what the run contradicted, so that the next run passes', () => {
  const cwd = tempDir();
  writeFileSync(join(cwd, 'my-server.js'), SERVER);
  const pace = ['--sets', '1', '--repeats', '2', '--baseline', 'accepted.json'];
  const server = ['--', process.execPath, 'my-server.js'];
  const updated = runVerifier(cwd, ...pace, '--update-baseline', ...server);
  expect(updated.status).toBe(0);
  expect(updated.stderr).toBe(
    `Wrote ${cwd}/accepted.json. Replace the reasons that begin with "accepted by --update-baseline".\n`,
  );
  expect(JSON.parse(readFileSync(join(cwd, 'accepted.json'), 'utf8'))).toEqual({
    accepted: [
      {
        ...{ tool: 'peek', hint: 'readOnlyHint' },
        reason: `accepted by --update-baseline: created ${cwd}/peeked.txt`,
      },
    ],
  });
  expect(runVerifier(cwd, ...pace, ...server).status).toBe(0);
});

it('--require-observed fails if fewer tools make a successful call, and names them', () => {
  const cwd = tempDir();
  const second = "{ name: 'fails', inputSchema: { type: 'object' } }";
  writeFileSync(
    join(cwd, 'my-server.js'),
    SERVER.replace(/\[(\{ name: 'peek'.*?)\];/, `[$1, ${second}];`)
      .replace('readOnlyHint: true', 'readOnlyHint: false')
      .replace('{ content: [] }', "{ content: [], isError: params?.name === 'fails' }"),
  );
  const pace = ['--sets', '1', '--repeats', '2'];
  const server = ['--', process.execPath, 'my-server.js'];
  const none = runVerifier(cwd, ...pace, '--require-observed', ...server);
  expect([none.status, none.stderr]).toEqual([
    4,
    'assay-verify: 1 of 2 tools made no successful call: fails. Give them arguments in assay-verify.json, or a reason to skip them.\n',
  ]);
  expect(runVerifier(cwd, ...pace, '--require-observed', '50%', ...server).status).toBe(0);
  expect(runVerifier(cwd, '--require-observed', '80', ...server).status).toBe(2);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { at, listAt, parseJson, textAt } from '../support/json.ts';
import { fixture, installed, tempDir, writeConfig } from '../support/paths.ts';

const TOOL = { inputSchema: { type: 'object' } };
const WHOLE = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
const TOOLS = [
  { ...TOOL, name: 'sound', annotations: WHOLE },
  { ...TOOL, name: 'both', annotations: { ...WHOLE, readOnlyHint: true, destructiveHint: true } },
  { ...TOOL, name: 'maybe', annotations: { ...WHOLE, readOnlyHint: 'maybe' } },
  { ...TOOL, name: 'delete_all', annotations: WHOLE },
  { ...TOOL, name: 'silent' },
];

const home = tempDir();
const config = writeConfig({
  made: fixture(
    'defined',
    TOOLS.map((tool) => JSON.stringify(tool)),
  ),
  memory: installed('memory'),
});

async function lint(...args: readonly string[]) {
  return runAssay(['lint', ...args, '--config', config, '--home', home]);
}

function rulesOf(stdout: string): readonly string[] {
  return listAt(parseJson(stdout), 'findings').flatMap((found) =>
    listAt(found, 'findings').map(
      (one) => `${textAt(found, 'tool')}: ${textAt(one, 'level')} ${textAt(one, 'rule')}`,
    ),
  );
}

describe('assay lint', () => {
  it('reports what is wrong with each tool and what to do, and fails if anything is an error', async () => {
    const { code, stdout } = await lint('made', '--json');
    expect(rulesOf(stdout)).toEqual([
      'both: error contradiction',
      'maybe: error not-boolean',
      'maybe: warning missing-hints',
      'delete_all: warning telling-words',
      'silent: warning missing-hints',
    ]);
    expect([
      code,
      at(parseJson(stdout), 'errors'),
      at(parseJson(stdout), 'warnings'),
      at(parseJson(stdout), 'tools'),
    ]).toEqual([1, 2, 3, 5]);
  });

  it('prints the same for people, tool by tool', async () => {
    const { stdout } = await lint('made', '--verbose');
    expect(stdout).toContain('It declares both that it only reads and that it may destroy.');
    expect(stdout).toContain('It says destructiveHint: false, and speaks of "delete".');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('5 tools: 2 errors, 3 warnings.');
    expect(stdout).not.toContain('sound');
  });

  it('accepts another severity for a rule, also off', async () => {
    const off = ['contradiction', 'not-boolean', 'missing-hints'].flatMap((rule) => [
      '--rule',
      `${rule}=off`,
    ]);
    const calm = await lint('made', '--json', ...off);
    expect([calm.code, rulesOf(calm.stdout)]).toEqual([0, ['delete_all: warning telling-words']]);
    expect((await lint('made', '--strict', ...off)).code).toBe(1);
    expect((await lint('made', ...off, '--rule', 'telling-words=error')).code).toBe(1);
  });

  it('reads the severities of rules from the settings', async () => {
    const env = { ASSAY_LINT_CONTRADICTION: 'off', ASSAY_LINT_NOT_BOOLEAN: 'warning' };
    const { code, stdout } = await runAssay(['lint', 'made', '--json', '--config', config, '--home', home], {
      env,
    });
    expect([code, rulesOf(stdout)[0]]).toEqual([0, 'maybe: warning not-boolean']);
  });

  it('checks all servers if none is named', async () => {
    const { stdout } = await lint('--json');
    expect(at(parseJson(stdout), 'tools')).toBeGreaterThan(5);
  });

  it('refuses unknown rules and servers, and lists the known ones', async () => {
    const rule = await lint('--rule', 'spelling=error');
    expect([rule.code, rule.stderr]).toEqual([2, expect.stringContaining('contradiction, not-boolean')]);
    const server = await lint('maid');
    expect([server.code, server.stderr]).toEqual([2, expect.stringContaining('made')]);
  });

  it('fails if a server is not ready', async () => {
    const dead = writeConfig({ dead: { command: 'no-such-command-anywhere' } });
    const { code, stderr } = await runAssay(['lint', '--config', dead, '--home', tempDir()]);
    expect([code, stderr]).toEqual([4, expect.stringContaining('dead')]);
  });

  it("makes assay tools mention findings, and one word for each tool's risk", async () => {
    const { stdout, stderr } = await runAssay(['tools', '--config', config, '--home', home]);
    expect(stderr).toContain('note: the hints of 2 tools are wrong; see `assay lint`');
    expect(stdout).toMatch(/made_both +made +destructive/);
    expect(stdout).toMatch(/made_sound +made +writes/);
    expect(stdout).toMatch(/made_silent +made +unannotated/);
  });
});

describe('assay lint -- COMMAND', () => {
  const server = join(tempDir(), 'server.js');
  writeFileSync(
    server,
    `const { createInterface } = require('node:readline');
const tools = [
  { name: 'delete_all', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, destructiveHint: true } },
];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result =
    method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      : { tools };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`,
  );

  it('checks a command without a config, and writes JUnit and SARIF', async () => {
    const folder = tempDir();
    const files = ['a.xml', 'a.sarif'].map((name) => join(folder, name));
    const reports = files.flatMap((file) => ['--report', file]);
    const words = ['lint', '--format', 'json', ...reports, '--', process.execPath, server];
    const { code, stdout } = await runAssay(words);
    expect([code, rulesOf(stdout)]).toEqual([
      1,
      [
        'delete_all: error contradiction',
        'delete_all: warning telling-words',
        'delete_all: warning missing-hints',
      ],
    ]);
    const [junit = '', sarif = ''] = files.map((file) => readFileSync(file, 'utf8'));
    expect(junit).toContain('<testsuites tests="5" failures="1" skipped="2">');
    expect(junit).toContain(
      '<testcase classname="delete_all" name="contradiction"><failure message="It declares both',
    );
    expect(parseJson(sarif)).toMatchObject({
      runs: [
        {
          results: [
            { ruleId: 'contradiction', level: 'error' },
            { ruleId: 'telling-words', level: 'warning' },
            { ruleId: 'missing-hints', level: 'warning' },
          ],
        },
      ],
    });
  });

  it('refuses several servers, and reports without a format', async () => {
    expect((await lint('made', 'memory')).stderr).toContain('write `assay lint -- COMMAND ARGUMENTS`');
    expect((await lint('made', '--report', 'a.md')).code).toBe(2);
  });
});

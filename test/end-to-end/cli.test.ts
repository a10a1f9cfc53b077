import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnAssay } from '../support/assay.ts';
import { at, isObject, namesAt, parseJson } from '../support/json.ts';
import { fixture, MAIN, openEventLog, ROOT, tempDir, writeConfig } from '../support/paths.ts';

const home = tempDir();
const config = writeConfig({
  plain: fixture('plain'),
  crasher: fixture('crasher', [], { timeoutMs: 3_000 }),
  dead: { command: 'no-such-command-anywhere' },
});
const run = (...args: readonly string[]) => spawnAssay([...args, '--config', config, '--home', home]);

describe('assay tools', () => {
  it('prints the tools of all servers on stdout, and failures on stderr', async () => {
    const { code, stdout, stderr } = await run('tools');
    expect(code).toBe(0);
    expect(stdout).toContain('plain_echo');
    expect(stdout).toContain('crasher_pid');
    expect(stdout).not.toContain('no-such-command-anywhere');
    expect(stderr).toContain('no-such-command-anywhere');
  });

  it('--json prints only JSON, with names and definitions', async () => {
    const { code, stdout } = await run('tools', '--json');
    expect(code).toBe(0);
    const parsed = parseJson(stdout);
    const tools = isObject(parsed) ? namesAt(parsed, 'tools') : namesAt(parsed);
    expect(tools).toEqual(expect.arrayContaining(['plain_echo', 'crasher_crash']));
  });

  it('prints no colors if stdout is not a terminal', async () => {
    const { stdout, stderr } = await run('tools');
    expect(stdout + stderr).not.toContain('\u001b[');
  });

  it('exits with code 4 if no server can be reached', async () => {
    const alone = writeConfig({ dead: { command: 'no-such-command-anywhere' } });
    const { code, stderr } = await spawnAssay(['tools', '--config', alone, '--home', tempDir()]);
    expect(code).toBe(4);
    expect(stderr).toContain('dead');
  });

  it('leaves no server running', async () => {
    const eventLog = openEventLog();
    const own = writeConfig({ plain: fixture('plain', [], { env: eventLog.env }) });
    await spawnAssay(['tools', '--config', own, '--home', tempDir()]);
    const pid = eventLog.read('start')[0]?.pid ?? 0;
    expect(() => process.kill(pid, 0)).toThrow();
  });
});

describe.concurrent('assay call', () => {
  const cases: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['a call that is done', ['plain_add', '{"a":1,"b":2}'], 0, /3/],
    ['a call without arguments', ['plain_label'], 0, /plain/],
    ['arguments that are no JSON', ['plain_add', '{a:1}'], 2, /not valid/],
    ['arguments that are no object', ['plain_add', '[1]'], 2, /not valid/],
    ['a tool that nobody has', ['plain_none', '{}'], 2, /plain_none/],
    ['a server that cannot start', ['dead_tool', '{}'], 4, /dead/],
    ['a server that ends in the call', ['crasher_crash', '{}'], 4, /crasher/],
    ['a tool that says that it failed', ['plain_fails', '{}'], 5, /It did not work\./],
  ];
  it.each(cases)('%s', async (_what, args, code, told) => {
    const done = await run('call', ...args);
    expect([done.code, told.test(code === 0 || code === 5 ? done.stdout : done.stderr)]).toEqual([
      code,
      true,
    ]);
    if (code !== 0 && code !== 5) expect(done.stdout).toBe('');
  });

  it('--json prints the whole result as JSON only', async () => {
    const { code, stdout } = await run('call', 'plain_add', '{"a":1,"b":2}', '--json');
    expect([code, parseJson(stdout)]).toEqual([0, { content: [{ type: 'text', text: '3' }] }]);
  });

  it('an error of the server is shown in its own words', async () => {
    const { code, stderr } = await run('call', 'plain_refuses', '{}');
    expect(code).not.toBe(0);
    expect(stderr).toContain('custom failure');
  });
});

describe.concurrent('assay', () => {
  it('--version prints the version of the package', async () => {
    const version = String(at(parseJson(readFileSync(join(ROOT, 'package.json'), 'utf8')), 'version'));
    const done = await spawnAssay(['--version']);
    expect([done.code, done.stdout.trim()]).toEqual([0, version]);
  });

  it('--help lists all commands, on stdout', async () => {
    const done = await spawnAssay(['--help']);
    expect(done.code).toBe(0);
    for (const command of ['serve', 'stdio', 'tools', 'call', 'import', 'connect', 'token'])
      expect(done.stdout).toContain(command);
  });

  it.each([
    [['no-such-command']],
    [['tools', '--no-such-flag']],
    [['serve', '--port', 'abc']],
    [['serve', '--port', '70000']],
    [['call']],
    [['import']],
    [['connect', '--undo']],
    [['connect', 'cursor', '--no-such-flag']],
  ])(
    '%j is a usage error: code 2, a message on stderr, nothing on stdout',
    async (args: readonly string[]) => {
      const done = await spawnAssay(args);
      expect([done.code, done.stdout]).toEqual([2, '']);
      expect(done.stderr).not.toBe('');
      expect(done.stderr).not.toMatch(/at .*\.js:\d+/);
    },
  );
});

describe('an older Node', () => {
  const complains = (done: {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }): void => {
    expect(done.status).not.toBe(0);
    expect(done.stdout).toBe('');
    expect(done.stderr).toContain('22.23');
    expect(done.stderr).not.toMatch(/at .*\.js:\d+/);
  };

  it.each(['18.20.0', '20.20.2', '22.18.9', '21.99.0'])(
    '%s is told what to do before anything is loaded',
    (version) => {
      const fake = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}});Object.defineProperty(process,'version',{value:'v${version}'})`;
      const args = [
        '--import',
        `data:text/javascript,${encodeURIComponent(fake)}`,
        MAIN,
        'tools',
        '--config',
        config,
      ];
      complains(spawnSync(process.execPath, args, { encoding: 'utf8' }));
    },
  );

  it('is told so also with a real one, if this machine has one', () => {
    expect.hasAssertions();
    expect(process.versions.node).not.toMatch(/^(1\d|2[01])\./);
    for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
      const node = join(folder, 'node');
      const found = spawnSync(node, ['--version'], { encoding: 'utf8' });
      const major = Number(/^v(\d+)/.exec(found.stdout)?.[1] ?? 99);
      if (major < 22) complains(spawnSync(node, [MAIN, '--version'], { encoding: 'utf8' }));
    }
  });
});

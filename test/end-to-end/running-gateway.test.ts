import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { documentedApi, LOOPBACK, PETS } from '../support/documented-api.ts';
import { startGateway } from '../support/gateway.ts';
import { startMade } from '../fixtures/http-made.ts';
import { namesAt, parseJson } from '../support/json.ts';
import { fixture, openEventLog, tempDir, writeConfig, writeText } from '../support/paths.ts';

const COMMANDS: readonly (readonly string[])[] = [
  ['tools'],
  ['tools', 'plain', '--json'],
  ['tools', 'nowhere'],
  ['lint', 'plain', '--json', '--rule', 'missing-hints=error'],
  ['call', 'plain_add', '{"a":1,"b":2}', '--json'],
  ['call', 'plain.fails'],
  ['call', 'plain_refuses', '--json'],
  ['call', 'plain_none'],
  ['call', 'dead.tool'],
];

function prepare() {
  const home = tempDir();
  const eventLogs = { plain: openEventLog(), other: openEventLog() };
  const config = writeConfig({
    plain: fixture('plain', [], { env: eventLogs.plain.env }),
    other: fixture('plain', [], { env: eventLogs.other.env }),
    dead: { command: 'no-such-command-anywhere' },
  });
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runAssay([...args, '--config', config, '--home', home], { env });
  const starts = (): readonly number[] =>
    Object.values(eventLogs).map((eventLog) => eventLog.read('start').length);
  return { home, config, run, starts };
}

describe('commands with a running gateway', () => {
  it('print the same as without it, and start no server', async () => {
    const { home, config, run, starts } = prepare();
    // The first run starts all servers, so that later ones know their tools.
    await run(['tools', '--refresh']);
    const alone = [];
    for (const command of COMMANDS) alone.push(await run(command));
    const gateway = await startGateway({ home, config });
    await gateway.settled();
    const before = starts();
    const through = [];
    for (const command of COMMANDS) through.push(await run(command));
    const withoutNote = (text: string): string =>
      text
        .split('\n')
        .filter((line) => !line.startsWith('note: no gateway is running'))
        .join('\n');
    for (const [index, command] of COMMANDS.entries()) {
      const [one, other] = [alone[index], through[index]];
      expect([command, other?.code, other?.stdout, other?.stderr]).toEqual([
        command,
        one?.code,
        one?.stdout,
        withoutNote(one?.stderr ?? ''),
      ]);
    }
    expect(starts()).toEqual(before);
  });

  it.each([
    [['review'], 0],
    [['review', 'plain_add'], 0],
    [['review', '--instructions', 'plain'], 0],
    [['hints', 'plain_add'], 0],
    [['hints', 'plain_add', '--set', 'readOnly=true'], 0],
    [['edit', 'plain_add', '--title', 'Add'], 0],
    [['tools', '--refresh'], 0],
    [['status'], 0],
    [['doctor'], 1],
    [['review', '--roots', 'plain'], 0],
    [['export'], 0],
    [['policy', 'test', 'plain_add'], 0],
    [['policy', 'rules'], 0],
    [['policy', 'labels'], 0],
    [['settings', 'set', 'limits.drainMs', '5000'], 0],
    [['token', 'preferences', 'local'], 0],
    [['token', 'list'], 0, 'record'],
    [['approvals'], 0, 'record'],
    [['activity'], 0, 'record'],
  ])('start no server: %s', async (args, expected, kind?: string) => {
    const { home, config, run, starts } = prepare();
    const gateway = await startGateway({ home, config });
    await gateway.settled();
    const before = starts();
    const { code, stderr } = kind === 'record' ? await runAssay([...args, '--home', home]) : await run(args);
    expect([code, stderr]).toEqual([expected, expect.not.stringContaining('note: the running gateway')]);
    expect(starts()).toEqual(before);
  });

  it('start servers if that is what they are asked for: doctor --start', async () => {
    const { home, config, run, starts } = prepare();
    const gateway = await startGateway({ home, config });
    await gateway.settled();
    const before = starts();
    await run(['doctor', '--start']);
    expect(starts()).not.toEqual(before);
  });

  it('about toolsets and notes start no server', async () => {
    const { home, config, run, starts } = prepare();
    const gateway = await startGateway({ home, config });
    await gateway.settled();
    const before = starts();
    // Those without --config are sent to a gateway with any config.
    const commands: readonly (readonly [code: number, kind: 'config' | 'home', ...args: string[]])[] = [
      [0, 'config', 'toolset', 'create', 'mine', 'plain.add', 'other.*', '--equip'],
      [2, 'config', 'toolset', 'add', 'mine', 'plain.nope'],
      [0, 'config', 'toolset', 'add', 'mine', 'plain.echo'],
      [0, 'config', 'toolset', 'list'],
      [0, 'config', 'toolset', 'show', 'mine'],
      [0, 'config', 'toolset', 'review', 'mine'],
      [0, 'config', 'toolset', 'accept', 'mine'],
      [0, 'home', 'notes', 'add', 'mine', 'plain.add', 'hint', 'Twice.'],
      [0, 'home', 'notes'],
      [0, 'home', 'notes', 'review', '--accept-all'],
      [0, 'home', 'toolset', 'remove', 'mine', 'plain.echo'],
      [0, 'home', 'toolset', 'rename', 'mine', 'ours'],
      [0, 'home', 'toolset', 'unequip'],
      [0, 'home', 'toolset', 'delete', 'ours', '--yes'],
    ];
    for (const [expected, kind, ...args] of commands) {
      const { code, stderr } =
        kind === 'config' ? await run(args) : await runAssay([...args, '--home', home]);
      expect([args, code, stderr]).toEqual([
        args,
        expected,
        expect.not.stringContaining('note: the running gateway'),
      ]);
      expect([args, starts()]).toEqual([args, before]);
    }
  });

  it('never repeat a call that the server has received', async () => {
    const made = await startMade({
      era: 'legacy',
      own: ({ incoming, response }) => {
        if (incoming.method !== 'tools/call') return false;
        response.writeHead(500).end();
        return true;
      },
    });
    const home = tempDir();
    const config = writeConfig({ made: { type: 'http', url: made.url } });
    const gateway = await startGateway({ home, config });
    await gateway.settled();
    const { code, stderr } = await runAssay(['call', 'made_echo', '{}', '--config', config, '--home', home]);
    await made.close();
    expect([code, stderr]).toEqual([4, expect.stringContaining('500')]);
    expect(made.countOf('tools/call')).toBe(1);
  });

  it('ignore a gateway with another config or version, and say so', async () => {
    const { home, config, run } = prepare();
    const other = writeConfig({ elsewhere: fixture('plain') });
    await startGateway({ home, config: other });
    const { stdout, stderr } = await run(['tools', 'plain']);
    expect(stdout).toContain('plain_add');
    expect(stderr).toContain(`it serves ${other}, not ${config}`);
    const old = { url: 'http://127.0.0.1:1', pid: process.pid, token: 'x', configPath: config };
    writeFileSync(join(home, 'serve.json'), JSON.stringify(old));
    const again = await run(['tools', 'plain']);
    expect(again.stdout).toBe(stdout);
    expect(again.stderr).toContain('it is of version unknown');
  });
});

describe('commands without a running gateway', () => {
  it('start only the servers that they need', async () => {
    const { run, starts } = prepare();
    expect((await run(['call', 'plain_add', '{"a":1,"b":2}'])).stdout).toBe('3\n');
    expect(starts()).toEqual([1, 0]);
    expect((await run(['tools', 'plain'])).stdout).toContain('plain_add');
    expect(starts()).toEqual([1, 0]);
    expect((await run(['lint', 'plain'])).stdout).toContain('plain');
    expect(starts()).toEqual([2, 0]);
    expect((await run(['toolset', 'create', 'mine', 'plain.add'])).code).toBe(0);
    expect(starts()).toEqual([2, 0]);
    expect((await run(['toolset', 'add', 'mine', 'plain.nope'])).code).toBe(2);
    expect(starts()).toEqual([3, 0]);
    expect((await run(['tools'])).stderr).toContain('the tools of 1 server are as last listed');
    expect(starts()).toEqual([3, 1]);
    expect((await run(['tools', '--refresh'])).code).toBe(0);
    expect(starts()).toEqual([4, 2]);
  });
});

describe('commands on sources with a running gateway', () => {
  it('are answered by it, so that they start nothing', async () => {
    const home = tempDir();
    const code = `import { defineTool } from 'assay-mcp';\nexport default defineTool({ name: 'one', run: () => 1 });\n`;
    const [there, more] = [writeText(code, 'there.mjs'), writeText(code.replace('one', 'two'), 'more.mjs')];
    const config = writeConfig({}, { functions: [there] });
    const api = await documentedApi(PETS);
    const gateway = await startGateway({ home, config, env: LOOPBACK });
    await gateway.settled();
    // A command in a process of its own cannot use this store; the gateway has another.
    const env = { ASSAY_DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const run = async (...args: readonly string[]): Promise<string> => {
      const done = await runAssay([...args, '--config', config, '--home', home], { env });
      expect([args, done.code, done.stderr]).toEqual([args, 0, expect.not.stringContaining('note: ')]);
      return done.stdout;
    };
    expect(await run('function', 'add', more)).toContain('more.mjs: 1 tool.');
    expect(await run('function', 'list')).toMatch(/there\.mjs +config file/);
    expect(await run('rest', 'add', 'ping', 'http://127.0.0.1:1/x', '--method', 'GET')).toContain(
      'read-only',
    );
    expect(namesAt(parseJson(await run('rest', 'list', '--json')), 'tools')).toEqual(['ping']);
    expect(await run('openapi', api.url, '--name', 'zoo')).toContain('zoo: 3 tools made');
    const names = namesAt(parseJson(await run('tools', '--json')), 'tools');
    expect(names.toSorted()).toEqual(['one', 'ping', 'two', 'zoo_add_pet', 'zoo_drop_pet', 'zoo_list_pets']);
    expect(await run('rest', 'remove', 'ping')).toBe('Removed ping.\n');
    expect(await run('function', 'remove', more)).toContain('more.mjs');
    expect(await run('openapi', 'zoo', '--remove')).toBe('Removed zoo.\n');
  });
});

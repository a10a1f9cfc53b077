import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, parseJson } from '../support/json.ts';
import { modernSend } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';

const OLD = `{
  // mine, by hand
  "mcpServers": {
    "old": { "command": "no-such-command-anywhere", "disabled": true }, // later
  },
}
`;

const PLAIN = fixture('plain') as { readonly command: string; readonly args: readonly string[] };
const COMMAND: readonly string[] = [PLAIN.command, ...PLAIN.args];

function prepare() {
  const home = tempDir();
  const config = join(home, 'mcp.json');
  writeFileSync(config, OLD);
  return {
    home,
    config,
    run: (...args: readonly string[]) => runAssay(args, { env: { ASSAY_HOME: home } }),
    text: () => readFileSync(config, 'utf8'),
  };
}

describe('assay add and remove', () => {
  it('write an entry, test it, and remove it again, leaving the rest of the file unchanged', async () => {
    const { run, text } = prepare();
    const added = await run('add', 'plain', '--env', 'A=b', '--env', 'C=d', '--', ...COMMAND);
    expect([added.code, added.stderr]).toEqual([0, '']);
    expect(added.stdout).toMatch(/^Added "plain" in .*mcp\.json\.\nUp: \d+ tools\./s);
    expect(text()).toContain('// mine, by hand');
    expect(text()).toContain('// later');
    expect(text()).toContain('"A": "b"');
    expect((await run('call', 'plain_label')).stdout).toBe('plain\n');
    await run('toolset', 'create', 'mine', 'plain.add', 'plain.echo');
    const removed = await run('remove', 'plain', '--json');
    expect(at(parseJson(removed.stdout), 'toolsets')).toEqual([
      { toolset: 'mine', tools: ['plain.add', 'plain.echo'] },
    ]);
    expect(text()).toBe(OLD);
    expect((await run('remove', 'plain')).code).toBe(2);
  });

  it('refuse a name in use and invalid arguments without changing the file; --overwrite replaces an entry', async () => {
    const { run, text } = prepare();
    for (const args of [
      ['old', '--', 'other'],
      ['new', '--env', 'nothing', '--', 'other'],
      ['new', '--header', 'A: b', '--', 'other'],
      ['new', 'https://example.invalid/mcp', 'more'],
    ]) {
      const { code, stdout, stderr } = await run('add', ...args);
      expect([args, code, stdout]).toEqual([args, 2, '']);
      expect(stderr).toMatch(/^assay: /);
    }
    expect(text()).toBe(OLD);
    const replaced = await run('add', 'old', '--overwrite', '--no-start', '--', 'other');
    expect(replaced.stdout).toMatch(/^Replaced "old"/);
    expect(text()).toContain('"command": "other"');
  });

  it('report why a server fails and what to do', async () => {
    const { run } = prepare();
    const { code, stderr } = await run('add', 'dead', '--', 'no-such-command-anywhere', 'x');
    expect(code).toBe(4);
    expect(stderr).toContain('command "no-such-command-anywhere" not found');
    expect(stderr).toContain('next: Install the command');
  });
});

describe('assay status', () => {
  it('shows servers, clients and pending reviews of the running gateway, including a server just added', async () => {
    const { run, home, config } = prepare();
    const idle = await run('status');
    expect([idle.code, idle.stdout.split('\n')[0]]).toEqual([
      0,
      'No gateway is running. A client that attaches starts one, and so does `assay serve`.',
    ]);
    const gateway = await startGateway({ home, config });
    await connectClient({ url: gateway.url }, 'legacy');
    const added = await run('add', 'plain', '--', ...COMMAND);
    expect(added.stdout).toContain('Up: ');
    const { stdout } = await run('status', '--json');
    const status = parseJson(stdout);
    expect(at(status, 'running', 'url')).toBe(new URL(gateway.url).origin);
    expect(
      listAt(status, 'running', 'clients').map((client) => [at(client, 'name'), at(client, 'endpoint')]),
    ).toEqual([['official', 'all']]);
    expect(listAt(status, 'servers').map((server) => [at(server, 'name'), at(server, 'state')])).toEqual([
      ['plain', 'up'],
    ]);
    expect(at(status, 'pending')).toEqual({ tools: 0, instructions: 0, notes: 0 });
    const shown = await run('status');
    expect(shown.stdout).toContain(`endpoint  ${new URL(gateway.url).origin}/mcp`);
    expect(shown.stdout).toMatch(/official 2 +\/mcp\/all +local/);
    // A modern client has no session; it is listed for a while after each request.
    for (const method of ['tools/list', 'tools/list']) await modernSend(gateway.url, method);
    const later = parseJson((await run('status', '--json')).stdout);
    expect(listAt(later, 'running', 'clients').slice(1)).toEqual([
      {
        name: 'test',
        version: '1',
        era: 'modern',
        endpoint: 'all',
        subject: 'local',
        idleMs: expect.any(Number),
      },
    ]);
  });
});

describe('assay logs', () => {
  it('shows the log of serve, in full or for one server with its stderr, even after serve has exited', async () => {
    const { run, home, config } = prepare();
    expect((await run('logs')).stderr).toContain('No lines.');
    await run('add', 'plain', '--no-start', '--', ...COMMAND);
    await run(
      'add',
      'loud',
      '--no-start',
      '--',
      process.execPath,
      '-e',
      'console.error("no key given"); process.exit(3)',
    );
    const assay = await startAssay({ config, home });
    await assay.settled();
    await assay.stop();
    const all = (await run('logs')).stdout;
    expect(all).toContain('plain: server is up');
    const { stdout } = await run('logs', 'loud', '--json');
    const lines = stdout.trimEnd().split('\n').map(parseJson);
    expect(new Set(lines.map((line) => at(line, 'server')))).toEqual(new Set(['loud']));
    expect(lines.map((line) => at(line, 'text'))).toContain('no key given');
    expect((await run('logs', '-n', '1')).stdout.trimEnd().split('\n')).toHaveLength(1);
    expect((await run('logs', '-n', 'x')).code).toBe(2);
  });
});

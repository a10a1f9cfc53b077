import { describe, expect, it } from 'vitest';
import { at, listAt, namesAt, parseJson } from '../support/json.ts';
import { newUser, type User } from '../support/client-configs.ts';
import { fixture } from '../support/paths.ts';
import { openPipe } from '../support/stdio.ts';

const CURSOR = ['.cursor', 'mcp.json'];

/** The names of the tools that a client sees if it starts Assay as its file says. */
async function seenBy(user: User, ...file: readonly string[]): Promise<readonly string[]> {
  const args = listAt(user.json(...file), 'mcpServers', 'assay', 'args').map(String);
  const pipe = openPipe(args, { HOME: user.home });
  await pipe.initialize();
  const listed = await pipe.ask('tools/list');
  await pipe.stop();
  return namesAt(at(listed, 'result'), 'tools');
}

describe('the first hour', () => {
  it('after import and connect, a client sees the tools of its own servers', async () => {
    const user = newUser();
    const servers = { plain: fixture('plain'), broken: { command: 'no-such-command' } };
    user.write(JSON.stringify({ mcpServers: servers }), ...CURSOR);
    const done = await user.assay('import', 'cursor');
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/^Saved the toolset "cursor": all tools of \d servers?, \d+ tools now\. /m);
    expect(done.stdout).toContain('It is equipped: clients of Assay see these tools.');
    expect(done.stderr).toMatch(/^ {2}plain {3}\d+ tools$/m);
    expect(done.stderr).toMatch(/^ {2}broken {2}cannot be started: command "no-such-command" not found/m);
    expect(done.stderr).toContain('next: assay connect cursor\n');
    const connected = await user.assay('connect', 'cursor');
    expect(connected.stdout).toMatch(
      /^Cursor will see \d+ tools: the toolset "cursor", which is equipped, and enter-configuration-mode\. They cost [\d,]+ tokens in each conversation\. Not counted, as their tools are not known yet: broken\.$/m,
    );
    expect(connected.stderr).toContain('tip: Cursor shows the tools of plain, broken twice: ');
    const seen = await seenBy(user, ...CURSOR);
    expect(seen).toContain('plain_echo');
    expect(seen).not.toContain('build-toolset');

    // A second client does not take the first one's tools away.
    user.write(JSON.stringify({ mcpServers: { other: fixture('plain') } }), '.claude.json');
    const report = parseJson((await user.assay('import', 'claude-code', '--json')).stdout);
    expect(at(report, 'toolset')).toMatchObject({ name: 'claude-code', equipped: 'cursor' });
    expect(listAt(report, 'started')).toMatchObject([{ name: 'other', state: 'up' }]);
    const second = parseJson((await user.assay('connect', 'claude-code', '--json')).stdout);
    expect(at(second, 'seen')).toMatchObject({ view: 'toolset', toolset: 'claude-code', unread: [] });
    expect(await seenBy(user, '.claude.json')).toContain('other_echo');

    const found = await user.assay('connect', 'cursor', '--search');
    expect(found.stdout).toMatch(
      /^Cursor will see search_tools, describe_tool, call_tool, which reach \d+ tools of all servers\./m,
    );
    expect(await seenBy(user, ...CURSOR)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
  });

  it('without a config file, `assay` and `assay serve` name the clients that have servers', async () => {
    const user = newUser();
    const servers = { one: { command: 'one' }, two: { command: 'two' }, assay: { command: 'assay' } };
    user.write(JSON.stringify({ mcpServers: servers }), ...CURSOR);
    user.write('{}', '.claude.json');
    const begun = await user.assay();
    expect([begun.code, begun.stderr]).toEqual([0, '']);
    expect(begun.stdout.split('\n').slice(0, 3)).toEqual([
      'Assay has no config file yet, so it knows no servers.',
      '',
      '  Cursor has 2 servers:  assay import cursor',
    ]);
    const served = await user.assay('serve');
    expect([served.code, served.stdout]).toEqual([3, '']);
    expect(served.stderr).toContain('  Cursor has 2 servers:  assay import cursor\n');
    user.write('{"mcpServers": {}}', '.assay', 'mcp.json');
    expect((await user.assay()).stderr).toContain('Usage: assay [options] [command]');
  });

  it('setup imports, equips and connects, and asks nothing without a terminal', async () => {
    const user = newUser();
    const before = JSON.stringify({ mcpServers: { plain: fixture('plain') } });
    const path = user.write(before, ...CURSOR);
    const asked = await user.assay('setup');
    expect([asked.code, asked.stdout]).toEqual([2, '']);
    expect(asked.stderr).toContain('there is no terminal to ask questions on');
    expect((await user.assay('setup', '--client', 'vscode', '--yes')).code).toBe(3);
    const done = await user.assay('setup', '--yes');
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/^Saved the toolset "cursor": all tools of \d servers?, \d+ tools now\. /m);
    expect(done.stdout).toMatch(/^Cursor will see \d+ tools: the toolset "cursor", which is equipped/m);
    expect(done.stdout).toContain(`Cursor now starts Assay as "assay": ${path}`);
    expect(done.stdout).toMatch(/^\d+ tools cost [\d,]+ tokens in each conversation\.$/m);
    expect(done.stdout).toContain('all: the clients list all of these tools.');
    expect(done.stdout).toContain(`Took plain out of ${path}; \`assay connect cursor --undo\` restores`);
    expect(Object.keys(at(user.json(...CURSOR), 'mcpServers') ?? {})).toEqual(['assay']);
    await user.assay('connect', 'cursor', '--undo');
    expect(user.read(...CURSOR)).toBe(before);
  });

  it('setup --tools decides what the client lists, and the figures of list, show and status follow', async () => {
    const user = newUser();
    user.write(JSON.stringify({ mcpServers: { plain: fixture('plain'), odd: fixture('odd') } }), ...CURSOR);
    const wrong = await user.assay('setup', '--yes', '--tools', 'some');
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    const chosen = await user.assay('setup', '--yes', '--tools', 'choose=plain');
    expect(chosen.stdout).toMatch(
      /^Cursor now lists the tools of plain: [\d,]+ tokens instead of [\d,]+ tokens\.$/m,
    );
    const shown = parseJson((await user.assay('toolset', 'show', 'cursor', '--json')).stdout);
    expect(listAt(shown, 'tools')).toMatchObject([{ namespacedName: 'plain.*' }]);
    const tokens = at(shown, 'tokens') as number;
    expect(tokens).toBeGreaterThan(0);
    const listed = parseJson((await user.assay('toolset', 'list', '--json')).stdout);
    expect(listAt(listed, 'toolsets')).toMatchObject([{ name: 'cursor', tokens }]);
    const status = parseJson((await user.assay('status', '--json')).stdout);
    expect(at(status, 'tokens', 'equipped')).toBe(tokens);
    expect(at(status, 'tokens', 'all')).toBeGreaterThan(tokens);

    const searched = await user.assay('connect', 'cursor', '--search', '--json');
    expect(at(parseJson(searched.stdout), 'seen', 'tokens')).toBeGreaterThan(0);
    user.write(JSON.stringify({ mcpServers: { plain: fixture('plain') } }), ...CURSOR);
    const search = await user.assay('setup', '--yes', '--tools', 'search');
    expect(search.stdout).toMatch(
      /^Cursor now searches: \d+ tokens instead of [\d,]+ tokens\. It also reaches odd\.$/m,
    );
    expect(await seenBy(user, ...CURSOR)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
  });

  it('setup --trust trusts hints, for servers that Assay would ask about', async () => {
    const user = newUser({ ASSAY_APPROVALS: 'gateway' });
    user.write(JSON.stringify({ mcpServers: { plain: fixture('plain'), odd: fixture('odd') } }), ...CURSOR);
    const untrusted = async (): Promise<readonly string[]> => {
      const { servers } = parseJson((await user.assay('trust', '--json')).stdout) as {
        readonly servers: readonly { readonly name: string; readonly trust: { readonly value: boolean } }[];
      };
      return servers.filter(({ trust }) => !trust.value).map(({ name }) => name);
    };
    expect((await user.assay('setup', '--yes')).code).toBe(0);
    expect(await untrusted()).toEqual(['plain', 'odd']);
    user.write(JSON.stringify({ mcpServers: { plain: fixture('plain') } }), ...CURSOR);
    const wrong = await user.assay('setup', '--yes', '--trust', 'plain,other');
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('there is no server "other"; there are plain, odd'),
    ]);
    user.write(JSON.stringify({ mcpServers: { plain: fixture('plain') } }), ...CURSOR);
    const done = await user.assay('setup', '--yes', '--trust', 'plain');
    expect(done.stdout).toContain('Trusted the hints of plain. To undo: assay trust SERVER --undo');
    expect(await untrusted()).toEqual(['odd']);
  });

  it('--no-equip copies servers and does nothing else', async () => {
    const user = newUser();
    user.write(JSON.stringify({ mcpServers: { plain: fixture('plain') } }), ...CURSOR);
    const done = await user.assay('import', 'cursor', '--no-equip');
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(parseJson((await user.assay('toolset', 'list', '--json')).stdout)).toMatchObject({ toolsets: [] });

    const plain = await user.assay('connect', 'cursor');
    expect(plain.stdout).toContain('Cursor will see all tools of all servers: 0.');
    expect(plain.stdout).toContain('No toolset is equipped, so its entry has --all.');
    expect(listAt(user.json(...CURSOR), 'mcpServers', 'assay', 'args').at(-1)).toBe('--all');
    const equipped = await user.assay('connect', 'cursor', '--equipped');
    expect(equipped.stdout).toMatch(
      /^Cursor will see the 9 configuration tools only, because no toolset is equipped\. They cost [\d,]+ tokens/m,
    );
    expect(equipped.stderr).toContain('next: assay connect cursor --all\n');
    const all = await user.assay('connect', 'cursor', '--http', '--all');
    expect(all.stdout).toContain('all tools of all servers: 0. Not counted, as their tools are not known');
    expect(at(user.json(...CURSOR), 'mcpServers', 'assay')).toEqual({ url: 'http://127.0.0.1:4444/mcp/all' });
    const unknown = await user.assay('connect', 'cursor', '--toolset', 'mine');
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
  });
});

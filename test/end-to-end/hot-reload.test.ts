import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { isAlive, sleep, until, untilLogged } from '../support/endings.ts';
import { at, listAt, namesAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { fixture, openEventLog, tempDir } from '../support/paths.ts';

/** Longer than a change of the file takes to be read. */
const A_WHILE_MS = 700;
const ONE = fixture('crasher');
const TWO = fixture('plain', ['--label=two']);

describe('an edit of the config file', () => {
  let config: string;
  let assay: Gateway;
  let session: LegacySession;
  const textFor = (servers: JsonObject): string => JSON.stringify({ mcpServers: servers }, undefined, 2);
  const names = async (): Promise<readonly Json[]> =>
    listAt(await assay.health(), 'servers').map((one) => at(one, 'name') ?? null);
  const become = (wanted: readonly string[]): Promise<true> =>
    until(`the servers are ${wanted.join()}`, async () =>
      JSON.stringify(await names()) === JSON.stringify(wanted) ? true : undefined,
    );

  beforeEach(async () => {
    config = join(tempDir(), 'mcp.json');
    writeFileSync(config, textFor({ one: ONE, two: TWO }));
    assay = await startGateway({ config });
    await assay.settled();
    session = await openSession(assay.url);
  });

  const SAVES: readonly (readonly [string, (text: string) => void | Promise<void>])[] = [
    ['written in place', (text) => writeFileSync(config, text)],
    [
      'put in its place',
      (text) => {
        writeFileSync(`${config}~`, text);
        renameSync(`${config}~`, config);
      },
    ],
    [
      'removed and written anew',
      async (text) => {
        renameSync(config, `${config}.bak`);
        await sleep(50);
        writeFileSync(config, text);
      },
    ],
    [
      'cut to nothing and written in parts',
      async (text) => {
        writeFileSync(config, '');
        await sleep(30);
        writeFileSync(config, text.slice(0, 20));
        await sleep(30);
        writeFileSync(config, text);
      },
    ],
  ];
  it.each(SAVES)(
    'that is %s takes effect, and again, and affects only the changed servers',
    async (_how, save) => {
      const pid = await session.call('one_pid');
      const stream = await session.listen();
      await save(textFor({ one: ONE, two: TWO, three: fixture('plain', ['--label=three']) }));
      await become(['one', 'two', 'three']);
      await stream.next('list_changed', (one) => at(one, 'method') === 'notifications/tools/list_changed');
      expect(await session.call('three_label')).toBe('three');
      await save(textFor({ one: ONE, three: fixture('plain', ['--label=drei']) }));
      await become(['one', 'three']);
      await until('the changed server runs', async () =>
        (await session.call('three_label').catch(() => '')) === 'drei' ? true : undefined,
      );
      expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).not.toContain('two_label');
      expect(await session.call('one_pid')).toBe(pid);
    },
  );

  it('through a link takes effect, whether the link or its target changes', async () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'a'));
    mkdirSync(join(folder, 'b'));
    writeFileSync(join(folder, 'a', 'mcp.json'), textFor({ one: ONE }));
    writeFileSync(join(folder, 'b', 'mcp.json'), textFor({ two: TWO }));
    symlinkSync('a', join(folder, '..data'));
    symlinkSync(join('..data', 'mcp.json'), join(folder, 'mcp.json'));
    assay = await startGateway({ config: join(folder, 'mcp.json') });
    await become(['one']);
    writeFileSync(join(folder, 'a', 'mcp.json'), textFor({ one: ONE, two: TWO }));
    await become(['one', 'two']);
    symlinkSync('b', join(folder, '..new'));
    renameSync(join(folder, '..new'), join(folder, '..data'));
    await become(['two']);
  });

  it('of limits and names only restarts nothing', async () => {
    const pid = await session.call('one_pid');
    writeFileSync(config, textFor({ one: { ...ONE, prefix: false, timeoutMs: 5_000 }, two: TWO }));
    await until('the names are new', async () =>
      namesAt(await session.ask('tools/list'), 'result', 'tools').includes('pid') ? true : undefined,
    );
    expect(await session.call('pid')).toBe(pid);
  });

  it('of the allowed tools takes effect at once, and restarts nothing', async () => {
    const pid = await session.call('one_pid');
    const tools = { allow: ['p*', 'echo'], deny: ['echo', 'nosuch'] };
    writeFileSync(config, textFor({ one: { ...ONE, tools }, two: TWO }));
    const ours = async (): Promise<readonly string[]> =>
      namesAt(await session.ask('tools/list'), 'result', 'tools').filter((name) => name.startsWith('one_'));
    await until('only the allowed tools are listed', async () => {
      const names = await ours();
      return names.includes('one_pid') && names.every((name) => name.startsWith('one_p')) ? true : undefined;
    });
    expect(await session.call('one_pid')).toBe(pid);
    await expect(session.call('one_echo')).rejects.toThrow(/Unknown tool/);
    writeFileSync(config, textFor({ one: ONE, two: TWO }));
    await until('the list is whole', async () => ((await ours()).includes('one_echo') ? true : undefined));
  });

  it('of comments, key order or white space only affects nothing', async () => {
    const pid = await session.call('one_pid');
    const { args, command } = ONE as { args: Json; command: Json };
    writeFileSync(config, `// mine\n${textFor({ one: { command, args }, two: TWO })}\n`);
    await sleep(A_WHILE_MS);
    expect(await session.call('one_pid')).toBe(pid);
    expect(assay.stderr()).not.toContain('the file has changed');
  });

  it.each([
    ['no JSON any more', () => writeFileSync(config, '{ "mcpServers": { "one": ')],
    ['gone', () => unlinkSync(config)],
    [
      'a folder',
      () => {
        rmSync(config);
        mkdirSync(config);
      },
    ],
  ])('that leaves it %s keeps the last valid state and says so, until it is fixed', async (_what, spoil) => {
    const pid = await session.call('one_pid');
    const before = readFileSync(config, 'utf8');
    spoil();
    const fault = await until('the fault is shown', async () => at(await assay.health(), 'configFault'));
    expect(String(fault)).toContain(config);
    expect(at(await assay.health(), 'status')).toBe('degraded');
    await untilLogged(assay, 'The previous configuration stays in effect.');
    expect(await session.call('one_pid')).toBe(pid);
    rmSync(config, { recursive: true, force: true });
    writeFileSync(config, before);
    await until('the fault is gone', async () =>
      at(await assay.health(), 'configFault') === undefined ? true : undefined,
    );
    expect(await session.call('one_pid')).toBe(pid);
  });

  it('with one invalid entry rejects only that one, and reports it', async () => {
    writeFileSync(config, textFor({ one: ONE, two: { url: 'no address' } }));
    await until('it is refused', async () =>
      at(serverIn(await assay.health(), 'two'), 'state') === 'refused' ? true : undefined,
    );
    expect(String(at(serverIn(await assay.health(), 'two'), 'cause'))).toContain('mcpServers.two.url');
    await untilLogged(assay, 'mcpServers.two.url');
  });

  it('ends the process of a removed server, and its pending calls with the reason', async () => {
    const hanging = session.ask('tools/call', { name: 'one_hang' });
    await sleep(100);
    writeFileSync(config, textFor({ two: TWO }));
    expect(String(at(await hanging, 'error', 'message'))).toContain('it was removed from the config');
  });

  it('never starts a server before its predecessor has ended, edit after edit', async () => {
    const eventLog = openEventLog();
    // Ends neither with its stdin nor at SIGTERM: that takes Assay 4 s.
    const slow = (label: string): JsonObject =>
      fixture('plain', ['--stubborn', `--label=${label}`], { env: eventLog.env });
    writeFileSync(config, textFor({ one: slow('1') }));
    await until('the first has started', () => (eventLog.read('start').length > 0 ? true : undefined));
    await become(['one']);
    for (const label of ['2', '3']) {
      writeFileSync(config, textFor({ one: slow(label) }));
      await sleep(A_WHILE_MS);
    }
    await until('the last has started', () => (eventLog.read('start').length > 1 ? true : undefined), 15_000);
    const [first, second] = eventLog.read('start');
    expect(isAlive(first?.pid ?? 0)).toBe(false);
    expect(second?.detail).toContain('--label=3');
  });
});

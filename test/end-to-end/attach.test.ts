import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startAssay } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { isAlive, kill, until, untilLogged } from '../support/endings.ts';
import { at, namesAt } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, openEventLog, tempDir, writeConfig } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';
import { equip, meet, MENU, overStdio, type Model, type Start } from '../support/toolsets.ts';

/** As a client starts it, whose home is that of the running serve. */
function attach(home: string, config: string): LinePeer {
  return openStdio({ home, config, attach: true });
}

const CHANGED = 'notifications/tools/list_changed';

describe('assay stdio --attach', () => {
  it('uses the running serve: three clients, one process per server', async () => {
    const home = tempDir();
    const eventLog = openEventLog();
    const config = writeConfig({
      plain: fixture('plain', [], { env: eventLog.env }),
      changer: fixture('changer'),
    });
    const assay = await startAssay({ config, home });
    await assay.settled();
    const pipes = [attach(home, config), attach(home, config), attach(home, config)];
    for (const pipe of pipes) {
      await pipe.initialize();
      expect(namesAt(await pipe.ask('tools/list'), 'result', 'tools')).toContain('plain_echo');
      expect(await pipe.call('plain_echo', { big: 1 })).toBe('{"big":1}');
    }
    expect(await Promise.all(pipes.map((pipe) => pipe.call('plain_counter')))).toEqual(
      expect.arrayContaining(['1', '2', '3']),
    );
    expect(eventLog.read('start')).toHaveLength(1);
    const [first, second] = pipes;
    // Lists that came after the handshake were a change too.
    const changes = (): number => (second?.lines() ?? []).filter((line) => line.includes(CHANGED)).length;
    const before = changes();
    await first?.call('changer_grow');
    await until('the change', () => (changes() > before ? true : undefined));
    expect(await second?.call('changer_extra_0')).toBe('extra_0');
    await Promise.all(pipes.map((pipe) => pipe.stop()));
    expect(at(await assay.health(), 'status')).toBe('ok');
  });

  it('follows a restarted serve at another address', async () => {
    const home = tempDir();
    const config = writeConfig({ plain: fixture('plain') });
    const before = await startAssay({ config, home });
    await before.settled();
    const pipe = attach(home, config);
    await pipe.initialize();
    expect(await pipe.call('plain_label')).toBe('plain');
    await before.stop();
    expect(existsSync(join(home, 'serve.json'))).toBe(false);
    const after = await startAssay({ config, home });
    await after.settled();
    await until(
      'it works again',
      async () => ((await pipe.call('plain_label').catch(() => '')) === 'plain' ? true : undefined),
      15_000,
    );
    expect(after.port).not.toBe(before.port);
  });

  it('shows the view of its other options, and has a mode of its own', async () => {
    const home = tempDir();
    const config = writeConfig({ s: fixture('named', ['one', 'two']) });
    const gateway = await startGateway({ config, home });
    const served = await meet({ url: `http://127.0.0.1:${gateway.port}/mcp` }, 'legacy');
    await equip(served, 'named', ['s.one']);
    await served.call('enter-configuration-mode');
    await equip(served, 'equipped', ['s.two']);
    const shown = (view: Start['view'] = {}): Promise<Omit<Model, 'home'>> =>
      meet({ stdio: { config, home, attach: true, ...view } }, 'legacy');
    const models = await Promise.all([shown({ toolset: 'named' }), shown({ all: true }), shown()]);
    const lists = (): Promise<readonly (readonly string[])[]> =>
      Promise.all(models.map((model) => model.tools()));
    const expected = [['s_one'], ['s_one', 's_two'], ['enter-configuration-mode', 's_two']];
    await expect.poll(lists, { timeout: scaledMs(5_000) }).toEqual(expected);
    const [named, , current] = models;
    expect((await named.call('s_one')).text).toBe('named:one');
    await expect(named.call('s_two')).rejects.toThrow('The tool "s_two" is not in the toolset "named".');
    await served.call('enter-configuration-mode');
    expect(await served.tools()).toEqual(MENU);
    expect(await lists()).toEqual(expected);
    await current.call('enter-configuration-mode');
    expect(await current.tools()).toEqual(MENU);
  });

  it('shows the named toolset, also without a running serve', async () => {
    const home = tempDir();
    const servers = { s: fixture('named', ['one', 'two']) };
    const before = await overStdio({ servers, home }, 'legacy');
    await before.call('build-toolset', { name: 'named', tools: [{ namespacedName: 's.one' }] });
    await before.client.close();
    const model = await overStdio({ servers, home, view: { attach: true, toolset: 'named' } }, 'legacy');
    expect(await model.tools()).toEqual(['s_one']);
    await expect(model.call('s_two')).rejects.toThrow('The tool "s_two" is not in the toolset "named".');
  });

  it('starts the servers itself if no gateway runs and none may be started, and says so', async () => {
    const home = tempDir();
    const config = writeConfig({ plain: fixture('plain') });
    const dead = await startAssay({ config, home });
    kill(dead.pid, 'SIGKILL');
    await until('it has ended', () => (isAlive(dead.pid) ? undefined : true));
    const pipe = attach(home, config);
    await pipe.initialize();
    expect(await pipe.call('plain_label')).toBe('plain');
    await untilLogged(pipe, 'no gateway of this home is running, so the servers are started here');
  });

  it('a second serve of the same home and config is refused; one of another config is another gateway', async () => {
    const home = tempDir();
    const config = writeConfig({ plain: fixture('plain') });
    const first = await startGateway({ config, home });
    await expect(startGateway({ config, home })).rejects.toThrow(
      `Assay already serves this home at http://127.0.0.1:${first.port} (pid ${process.pid}).`,
    );
    const otherConfig = writeConfig({ other: fixture('plain') });
    await startGateway({ config: otherConfig, home });
    const [pipe, elsewhere] = [attach(home, config), attach(home, otherConfig)];
    for (const [one, name] of [
      [pipe, 'plain_label'],
      [elsewhere, 'other_label'],
    ] as const) {
      await one.initialize();
      expect(await one.call(name)).toBe('plain');
    }
  });

  it('finds it through a file that only its user can read', async () => {
    const home = tempDir();
    await startAssay({ servers: { plain: fixture('plain') }, home });
    const word = join(home, 'serve.json');
    await until('the word is there', () => (existsSync(word) ? true : undefined));
    expect(statSync(word).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(readFileSync(word, 'utf8')) as object).toSorted()).toEqual([
      'configPath',
      'pid',
      'socket',
      'token',
      'url',
      'version',
    ]);
  });
});

it('a serve whose endpoints need a token accepts clients that can read its file', async () => {
  const home = tempDir();
  const config = writeConfig({ plain: fixture('plain') });
  await startAssay({ config, home, env: { ASSAY_MCP_ACCESS: 'token' } });
  const pipe = attach(home, config);
  await pipe.initialize();
  expect(await pipe.call('plain_label')).toBe('plain');
  expect(pipe.stderr()).not.toContain('no `assay serve`');
});

// The requirements of the configuration mode document, by their numbers.
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { sleep, until } from '../support/endings.ts';
import { at, namesAt } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import {
  equip,
  meet,
  MENU,
  overHttp,
  overStdio,
  shared,
  WAYS,
  type Model,
  type Start,
} from '../support/toolsets.ts';

const SERVERS = { plain: fixture('plain'), other: fixture('named', ['same', '--label=other']) };
const LEGACY = [...MENU].slice(0, -1);

async function changed(model: Model, times: number): Promise<void> {
  await until(
    () => `${times} changes of the list; there were ${model.changes()}`,
    () => (model.changes() >= times ? true : undefined),
  );
  await sleep(150);
  expect(model.changes()).toBe(times);
}

async function refusedFor(model: Pick<Model, 'call'>, name: string, args = {}): Promise<string> {
  return model.call(name, args).then(
    (told) => `answered: ${told.text}`,
    (error: unknown) => String(error),
  );
}

describe.each(WAYS)('over %s', (_, open) => {
  const opened = shared(() => open({ servers: SERVERS }));

  it('1: it starts in configuration mode without an equipped toolset, otherwise in normal mode; the mode is not stored', async () => {
    const first = await opened();
    expect(await first.tools()).toEqual(MENU);
    await equip(first, 'triage', ['plain.echo']);
    await first.call('enter-configuration-mode');
    expect(await first.tools()).toEqual(MENU);
    const second = await open({ servers: SERVERS, home: first.home });
    // The cache of the store is written a little later; then it reads the store and announces the change.
    await expect
      .poll(() => second.tools(), { timeout: scaledMs(5_000) })
      .toEqual(['enter-configuration-mode', 'plain_echo']);
    await second.client.close();
  });

  it('2: configuration mode shows the nine tools and none of servers, which cannot be called either', async () => {
    const model = await opened();
    expect(await model.tools()).toEqual(MENU);
    expect((await model.client.listResources()).resources).toEqual([]);
    expect((await model.client.listPrompts()).prompts).toEqual([]);
    // The calls of a client that ignores list changes.
    await model.call('list-available-tools');
    expect(await refusedFor(model, 'plain_echo')).toMatch(/configuration mode.*exit-configuration-mode/);
    expect(await refusedFor(model, 'no_such')).toMatch(/Unknown tool/);
  });

  it('2: normal mode shows the tools of the toolset and the switch to configuration mode, nothing else', async () => {
    const model = await opened();
    await equip(model, 'triage', ['plain.echo', 'other.same']);
    expect(await model.tools()).toEqual(['enter-configuration-mode', 'plain_echo', 'other_same']);
    expect((await model.call('plain_echo', { a: 1 })).text).toBe('{"a":1}');
    for (const name of MENU)
      expect(await model.call(name, name === 'equip-toolset' ? { name: 'triage' } : {})).toMatchObject({
        isError: true,
        data: {
          error: { code: 'MODE_DIFFERS', message: expect.stringMatching(/normal mode.*enter-/) as string },
        },
      });
    const prompts = (await model.client.listPrompts()).prompts.map(({ name }) => name);
    expect(prompts).toContain('plain_greet');
  });

  it('2: normal mode without a toolset shows only the switch to configuration mode', async () => {
    const model = await opened();
    const left = await model.call('exit-configuration-mode');
    expect(left).toMatchObject({ isError: false, data: { mode: 'normal', equipped: null } });
    expect(await model.tools()).toEqual(['enter-configuration-mode']);
    await model.call('enter-configuration-mode');
    expect(await model.tools()).toEqual(MENU);
  });

  it('3, notifications: entering lists the configuration tools and unequips nothing; leaving lists the toolset; each notifies once', async () => {
    const model = await opened();
    expect(await model.tools()).toEqual(MENU);
    await equip(model, 'triage', ['plain.echo']);
    await changed(model, 1);
    expect(await model.tools()).toHaveLength(2);
    const entered = await model.call('enter-configuration-mode');
    expect(entered).toMatchObject({ isError: false, data: { mode: 'configuration', tools: MENU } });
    for (const name of MENU) expect(entered.text).toContain(name);
    await changed(model, 2);
    expect(at((await model.call('get-active-toolset')).data, 'equipped', 'name')).toBe('triage');
    const left = await model.call('exit-configuration-mode');
    expect(at(left.data, 'equipped', 'tools')).toEqual(['plain_echo']);
    expect(left.text).toContain('"triage" is equipped');
    await changed(model, 3);
  });

  it('3: no switch toggles: leaving twice is an error and changes nothing, and so is entering twice', async () => {
    const model = await opened();
    expect(await model.tools()).toEqual(MENU);
    expect((await model.call('enter-configuration-mode')).isError).toBe(true);
    expect(await model.tools()).toEqual(MENU);
    await model.call('exit-configuration-mode');
    await changed(model, 1);
    expect((await model.call('exit-configuration-mode')).isError).toBe(true);
    expect(await model.tools()).toEqual(['enter-configuration-mode']);
    await changed(model, 1);
  });

  it('3: equip-toolset returns to normal mode on success, and not on failure', async () => {
    const model = await opened();
    const refs = [{ namespacedName: 'plain.echo' }];
    await model.call('build-toolset', { name: 'triage', tools: refs });
    expect(await model.tools()).toEqual(MENU);
    const failed = await model.call('equip-toolset', { name: 'no-such' });
    expect(failed).toMatchObject({ isError: true, data: { error: { code: 'TOOLSET_UNKNOWN' } } });
    expect(failed.text).toContain('"triage"');
    expect(await model.tools()).toEqual(MENU);
    expect((await model.call('equip-toolset', { name: 'triage' })).isError).toBe(false);
    expect(await model.tools()).toEqual(['enter-configuration-mode', 'plain_echo']);
    await changed(model, 1);
    // Once more the same one, too.
    await model.call('enter-configuration-mode');
    await model.call('equip-toolset', { name: 'triage' });
    expect(await model.tools()).toEqual(['enter-configuration-mode', 'plain_echo']);
  });

  it('3: deleting the equipped toolset requires confirm, unequips it, and switches to configuration mode', async () => {
    const model = await opened();
    await equip(model, 'triage', ['plain.echo']);
    await model.call('enter-configuration-mode');
    expect((await model.call('delete-toolset', { name: 'triage' })).text).toContain('confirm');
    expect((await model.call('delete-toolset', { name: 'triage', confirm: true })).isError).toBe(false);
    expect(await model.tools()).toEqual(MENU);
    expect((await model.call('get-active-toolset')).data).toEqual({ equipped: null });
  });
});

describe('the mode', () => {
  it('1, mode scope: is process-wide, for all its clients', async () => {
    const one = await overHttp({ servers: SERVERS }, 'legacy');
    const two = await meet({ url: one.url }, 'modern');
    await two.call('exit-configuration-mode');
    expect(await one.tools()).toEqual(['enter-configuration-mode']);
    await changed(one, 1);
  });

  it('follows a toolset equipped on the command line, within a second', async () => {
    const home = tempDir();
    const model = await overStdio({ servers: SERVERS, home }, 'legacy');
    await model.call('build-toolset', { name: 'triage', tools: [{ namespacedName: 'plain.echo' }] });
    expect(await model.tools()).toEqual(MENU);
    expect((await runAssay(['toolset', 'equip', 'triage', '--home', home])).code).toBe(0);
    await changed(model, 1);
    expect(await model.tools()).toEqual(['enter-configuration-mode', 'plain_echo']);
    expect((await runAssay(['toolset', 'delete', 'triage', '--yes', '--home', home])).code).toBe(0);
    await changed(model, 2);
    expect(await model.tools()).toEqual(MENU);
  });
});

describe('the flag enableConfigToolsMenu', () => {
  const tools = async (env: Record<string, string>, flag?: boolean): Promise<readonly string[]> => {
    const config = flag === undefined ? {} : { featureFlags: { enableConfigToolsMenu: flag } };
    return (await overStdio({ servers: {}, env, config }, 'legacy')).tools();
  };

  it('is on by default; the environment takes precedence over the config file, under either name', async () => {
    expect(await tools({})).toEqual(MENU);
    expect(await tools({}, false)).toEqual(LEGACY);
    expect(await tools({ HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU: 'true' }, false)).toEqual(MENU);
    expect(await tools({ HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU: 'false' })).toEqual(LEGACY);
    const both = { ASSAY_ENABLE_CONFIG_TOOLS_MENU: 'true', HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU: 'false' };
    expect(await tools(both, false)).toEqual(MENU);
  });

  it.each([
    ['HTTP', (start: Start) => overHttp(start, 'legacy')],
    ['stdio', (start: Start) => overStdio(start, 'modern')],
  ] as const)(
    'switched off over %s, disables modes: the configuration tools are listed next to all tools, then next to those of the toolset',
    async (_, open) => {
      const off = { ASSAY_ENABLE_CONFIG_TOOLS_MENU: 'false' };
      const model = await open({ servers: { plain: fixture('plain') }, env: off });
      const tools = await model.tools();
      expect(tools.slice(0, LEGACY.length)).toEqual(LEGACY);
      expect(tools).toContain('plain_add');
      expect(tools.filter((name) => name.includes('configuration-mode'))).toEqual([]);
      await equip(model, 'triage', ['plain.echo']);
      expect(await model.tools()).toEqual([...LEGACY, 'plain_echo']);
      expect(await refusedFor(model, 'plain_add')).toContain('not in the toolset');
      expect(await refusedFor(model, 'enter-configuration-mode')).toContain('Unknown tool');
    },
  );
});

describe('fixed wording and names', () => {
  it('the switches are also accepted under their other names', async () => {
    const env = { ASSAY_MODES_NAMES: 'toolset-menu' };
    const model = await overStdio({ servers: {}, env }, 'legacy');
    expect((await model.tools()).at(-1)).toBe('close-toolset-menu');
    await model.call('close-toolset-menu');
    expect(await model.tools()).toEqual(['open-toolset-menu']);
  });

  it('descriptions of the switches begin as the seed document requires', async () => {
    const model = await overStdio({ servers: {} }, 'legacy');
    expect(await model.describe('exit-configuration-mode')).toMatch(
      /^Exit configuration mode and return to normal operation with your equipped toolset\.\n/,
    );
    await model.call('exit-configuration-mode');
    const entering = await model.describe('enter-configuration-mode');
    expect(entering).toMatch(
      /^Switch to configuration mode to manage toolsets and tool annotations\. This will show only configuration tools and hide operational tools\.\n/,
    );
    for (const name of MENU) expect(entering).toContain(name);
  });

  it('the description of unequip-toolset says what is visible then: no tools with modes, all without them', async () => {
    const described = async (flag: string): Promise<string | undefined> => {
      const env = { ASSAY_ENABLE_CONFIG_TOOLS_MENU: flag };
      return (await overStdio({ servers: {}, env }, 'legacy')).describe('unequip-toolset');
    };
    const stays = 'Unequips the equipped toolset, which stays saved.';
    expect([await described('true'), await described('false')]).toEqual([
      `${stays} Until another one is equipped, clients see no tools of servers.`,
      `${stays} Until another one is equipped, clients see all tools of all servers.`,
    ]);
  });

  it('/mcp/configuration shows the configuration tools in any mode, /mcp/all everything, /mcp/toolsets/<name> that toolset', async () => {
    const home = tempDir();
    const model = await overHttp({ servers: SERVERS, home }, 'modern');
    await equip(model, 'triage', ['plain.echo']);
    const base = model.url;
    const menu = await meet({ url: `${base}/configuration` }, 'modern');
    expect(await menu.tools()).toEqual(LEGACY);
    expect(namesAt((await menu.call('list-saved-toolsets')).data, 'toolsets')).toEqual(['triage']);
    const fixed = await meet({ url: `${base}/toolsets/triage` }, 'legacy');
    expect(await fixed.tools()).toEqual(['plain_echo']);
    expect(await refusedFor(fixed, 'plain_add')).toContain('not in the toolset');
    // Servers that come up late are announced, too.
    await sleep(300);
    const before = fixed.changes();
    await model.call('enter-configuration-mode');
    await model.call('unequip-toolset');
    await sleep(300);
    expect(await fixed.tools()).toEqual(['plain_echo']);
    expect(fixed.changes()).toBe(before);
  });
});

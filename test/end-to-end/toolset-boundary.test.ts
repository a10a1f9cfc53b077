import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep, until } from '../support/endings.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernCall } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { equip, MENU, overHttp, overStdio, shared, WAYS, type Model } from '../support/toolsets.ts';

const TWO = {
  a: fixture('named', ['b_c', 'secret', '--label=a']),
  a_b: fixture('named', ['c', '--label=a_b']),
};

const URI = 'note://one';
const UPDATED = 'notifications/resources/updated';

async function refusal(model: Model, name: string): Promise<string> {
  return model.call(name).then(
    ({ text }) => `answered: ${text}`,
    (error: unknown) => String(error),
  );
}

/** Assay's error code of a call that fails. */
async function codeOf(model: Model, name: string): Promise<unknown> {
  return model.call(name).then(
    ({ text }) => `answered: ${text}`,
    (error: unknown) => (error as { readonly data?: { readonly code?: unknown } }).data?.code,
  );
}

describe.each(WAYS)('a toolset over %s', (_, open) => {
  const opened = shared(() => open({ servers: { ...TWO, s: fixture('turncoat') } }));

  it('is a boundary: a tool outside it cannot be called by any name', async () => {
    const model = await opened();
    await equip(model, 'one', ['a_b.c']);
    const tools = (await model.tools()).slice(1);
    expect(tools).toHaveLength(1);
    expect((await model.call(tools[0] ?? '')).text).toBe('a_b:c');
    for (const name of ['a_secret', 'secret', 'a.secret', 'a_b_c', 'a.b_c', 'b_c', 'c', 'a_b.c'])
      expect(await refusal(model, name)).not.toMatch(/^answered/);
  });

  it('withholds a tool whose definition no longer matches its refId', async () => {
    const model = await opened();
    const listed = (await model.call('list-available-tools', { tools: ['s.act'] })).data;
    const refId = String(at(listed, 'tools', 0, 'refId'));
    const tools = [{ refId }, { namespacedName: 's.turn' }];
    await model.call('build-toolset', { name: 'held', tools, autoEquip: true });
    expect(await model.tools()).toEqual(['enter-configuration-mode', 's_act', 's_turn']);
    await model.call('s_turn');
    await expect
      .poll(() => model.tools(), { timeout: scaledMs(5_000) })
      .toEqual(['enter-configuration-mode', 's_turn']);
    expect(await refusal(model, 's_act')).toMatch(/withheld.*assay toolset review held/);
    await model.call('enter-configuration-mode');
    expect((await model.call('get-active-toolset')).data).toMatchObject({ equipped: { changed: ['s.act'] } });
  });
});

describe('a toolset', () => {
  it('shows a changed tool if toolsets.changed is "show"', async () => {
    const env = { ASSAY_TOOLSETS_CHANGED: 'show' };
    const model = await overStdio({ servers: { s: fixture('turncoat') }, env }, 'legacy');
    const listed = (await model.call('list-available-tools', { tools: ['s.act'] })).data;
    const refId = String(at(listed, 'tools', 0, 'refId'));
    await model.call('build-toolset', {
      name: 'held',
      tools: [{ refId }, { namespacedName: 's.turn' }],
      autoEquip: true,
    });
    await model.call('s_turn');
    await expect.poll(() => model.describe('s_act'), { timeout: scaledMs(5_000) }).toContain('IGNORE');
  });

  it('follows a changed definition if the tool was selected by name', async () => {
    const model = await overStdio({ servers: { s: fixture('turncoat') } }, 'modern');
    await equip(model, 'named', ['s.act', 's.turn']);
    await model.call('s_turn');
    await expect.poll(() => model.describe('s_act'), { timeout: scaledMs(5_000) }).toContain('IGNORE');
  });

  it('keeps the tools of an absent server and reports them as absent', async () => {
    const first = await overHttp({ servers: TWO }, 'legacy');
    await equip(first, 'one', ['a_b.c', 'a.secret']);
    await first.client.close();
    const home = first.home;
    const second = await overStdio({ servers: { a: TWO.a }, home }, 'legacy');
    await expect
      .poll(() => second.tools(), { timeout: scaledMs(5_000) })
      .toEqual(['enter-configuration-mode', 'a_secret']);
    await second.call('enter-configuration-mode');
    const active = await second.call('get-active-toolset');
    expect(active.data).toMatchObject({ equipped: { absent: ['a_b.c'], tools: ['a_secret'] } });
    expect(active.text).toContain('Absent, as there is no such server: a_b.c.');
  });

  it('cannot be created with unknown tools, twice, empty, or with an invalid name', async () => {
    const model = await overStdio({ servers: TWO }, 'legacy');
    const refused = async (args: object): Promise<string> => {
      const result = await model.call('build-toolset', args as never);
      expect(result.isError).toBe(true);
      return result.text;
    };
    const tools = [{ namespacedName: 'a.secret' }];
    expect(await refused({ name: 'x', tools })).toContain('arguments.name');
    expect(await refused({ name: 'Not Good', tools })).toContain('arguments.name');
    expect(await refused({ name: 'all', tools })).toContain('means all tools');
    expect(await refused({ name: 'ok', tools: [] })).toContain('arguments.tools');
    expect(await refused({ name: 'ok', tools: [{}] })).toContain('arguments.tools.0');
    expect(await refused({ name: 'ok', tools: [{ namespacedName: 'a.sekret' }] })).toContain('"a.secret"');
    expect(await refused({ name: 'ok', tools, description: 'x'.repeat(201) })).toContain(
      'arguments.description',
    );
    expect(await refused({ name: 'ok', tools, more: 1 })).toContain(
      'arguments.more: there is no such member',
    );
    await model.call('build-toolset', { name: 'ok', tools });
    expect(await refused({ name: 'ok', tools })).toContain('already');
  });
});

describe('a server', () => {
  const defined = (definition: object): string =>
    JSON.stringify({ inputSchema: { type: 'object' }, ...definition });

  it("cannot enter a toolset with a tool reference that collides with another server's", async () => {
    const home = tempDir();
    const first = await overStdio({ servers: { 'a.b': fixture('named', ['c']) }, home }, 'legacy');
    await equip(first, 'one', ['a.b.c']);
    expect(await first.tools()).toEqual(['enter-configuration-mode', 'a_b_c']);
    await first.client.close();
    const servers = { 'a.b': fixture('named', ['c']), a: fixture('named', ['b.c']) };
    const second = await overStdio({ servers, home }, 'legacy');
    await expect
      .poll(() => second.tools(), { timeout: scaledMs(5_000) })
      .toEqual(['enter-configuration-mode']);
    await second.call('enter-configuration-mode');
    expect(
      (await second.call('build-toolset', { name: 'two', tools: [{ namespacedName: 'a.b.c' }] })).text,
    ).toMatch(/is ambiguous: the servers "a.b", "a" each have such a tool/);
  });

  it('makes both tools uncallable if its tool reference collides, and the error names both servers', async () => {
    const home = tempDir();
    const mine = { 'a.b': fixture('named', ['c', '--label=mine'], { prefix: false }) };
    const first = await overStdio({ servers: { ...mine, p: fixture('plain') }, home }, 'legacy');
    await equip(first, 'one', ['a.b.c', 'p.label']);
    expect([await first.tools(), (await first.call('c')).text]).toEqual([
      ['enter-configuration-mode', 'c', 'p_label'],
      'mine:c',
    ]);
    await first.client.close();
    const servers = { ...mine, a: fixture('named', ['b.c']), p: fixture('plain') };
    const second = await overStdio({ servers, home }, 'legacy');
    await expect
      .poll(() => second.tools(), { timeout: scaledMs(5_000) })
      .toEqual(['enter-configuration-mode', 'p_label']);
    for (const name of ['c', 'a_b_c']) expect(await codeOf(second, name)).toBe('REF_AMBIGUOUS');
    expect(await refusal(second, 'c')).toContain('the servers "a.b", "a" each have such a tool');
    expect((await second.call('p_label')).text).toBe('plain');
    await second.call('enter-configuration-mode');
    const active = await second.call('get-active-toolset');
    expect(active.data).toMatchObject({
      equipped: { tools: ['p_label'], absent: [], contested: ['a.b.c'], changed: [], servers: ['p'] },
    });
    expect(active.text).toContain('Not shown, as several servers have tools of these names: a.b.c.');
  });

  it('cannot break a response with special tokens of a tokenizer or a very long word', async () => {
    const texts = ['<|endoftext|> and <|endofprompt|>', 'x'.repeat(100_000)];
    const tools = texts.map((description, at) => defined({ name: `t${at}`, description }));
    const model = await overStdio({ servers: { s: fixture('defined', tools) } }, 'modern');
    const startedMs = performance.now();
    const listed = await model.call('list-available-tools');
    expect(at(listed.data, 'summary', 'totalTools')).toBe(2);
    await equip(model, 'both', ['s.t0', 's.t1']);
    await model.call('enter-configuration-mode');
    expect(
      at((await model.call('get-active-toolset')).data, 'equipped', 'context', 'tokens'),
    ).toBeGreaterThan(100);
    expect(performance.now() - startedMs).toBeLessThan(scaledMs(15_000));
  });

  it('can have a tool named like a configuration tool, which is called if it is in the toolset', async () => {
    const servers = { s: fixture('named', ['build-toolset', '--label=s'], { prefix: false }) };
    const model = await overStdio({ servers }, 'legacy');
    await equip(model, 'odd', ['s.build-toolset']);
    expect(await model.tools()).toEqual(['enter-configuration-mode', 'build-toolset']);
    expect((await model.call('build-toolset')).text).toBe('s:build-toolset');
  });
});

it('a hidden resource sends no notifications until it is visible again, and cannot be read', async () => {
  const model = await overHttp({ servers: { n: fixture('notifier', ['--era=legacy']) } }, 'modern');
  await equip(model, 'one', ['n.touch']);
  const session = await openSession(model.url);
  const heard = await session.listen();
  const touch = async (): Promise<void> => {
    await modernCall(`${model.url}/all`, 'n_touch', { uri: URI });
    await sleep(300);
  };
  const updates = (): number => heard.messages().filter((one) => at(one, 'method') === UPDATED).length;
  await session.ask('resources/subscribe', { uri: URI });
  await touch();
  expect(updates()).toBe(1);
  await model.call('enter-configuration-mode');
  expect(at(await session.ask('resources/read', { uri: URI }), 'error', 'data', 'code')).toBe(
    'RESOURCE_UNKNOWN',
  );
  await touch();
  expect(updates()).toBe(1);
  await model.call('exit-configuration-mode');
  await touch();
  expect(updates()).toBe(2);
});

it('a toolset that is deleted and recreated reappears for its clients', async () => {
  const home = tempDir();
  const menu = await overStdio({ servers: TWO, home }, 'legacy');
  const tools = [{ namespacedName: 'a.secret' }];
  await menu.call('build-toolset', { name: 'one', tools });
  const model = await overStdio({ servers: TWO, home, view: { toolset: 'one' } }, 'legacy');
  await expect.poll(() => model.tools(), { timeout: scaledMs(5_000) }).toEqual(['a_secret']);
  // Notifications from startup may still be in flight.
  await until('no change is told any more', async () => {
    const last = model.changes();
    await sleep(200);
    return model.changes() === last ? true : undefined;
  });
  const before = model.changes();
  await menu.call('delete-toolset', { name: 'one', confirm: true });
  await expect.poll(() => model.tools(), { timeout: scaledMs(5_000) }).toEqual([]);
  await menu.call('build-toolset', { name: 'one', tools });
  await expect.poll(() => model.tools(), { timeout: scaledMs(5_000) }).toEqual(['a_secret']);
  await expect.poll(() => model.changes() - before, { timeout: scaledMs(5_000) }).toBe(2);
});

describe('while the store cannot be read', () => {
  it('the cached equipped toolset is listed, but its tools cannot be called', async () => {
    const home = tempDir();
    const first = await overStdio({ servers: TWO, home }, 'legacy');
    await equip(first, 'one', ['a.secret']);
    await first.client.close();
    for (const end of ['', '-wal', '-shm']) rmSync(join(home, `assay.db${end}`), { force: true });
    mkdirSync(join(home, 'assay.db'));
    const second = await overStdio({ servers: TWO, home }, 'legacy');
    expect(await second.tools()).toEqual(['enter-configuration-mode', 'a_secret']);
    expect(await codeOf(second, 'a_secret')).toBe('STORE_UNAVAILABLE');
  });

  it('without a cached toolset, only the configuration tools are listed, and every call reports the error', async () => {
    const env = { ASSAY_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const model = await overStdio({ servers: TWO, env }, 'legacy');
    expect(await model.tools()).toEqual(MENU);
    expect(await model.call('list-saved-toolsets')).toMatchObject({
      isError: true,
      data: { error: { code: 'STORE_UNAVAILABLE' } },
    });
    expect(await codeOf(model, 'a_secret')).toBe('STORE_UNAVAILABLE');
  });
});

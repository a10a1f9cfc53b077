import { describe, expect, it } from 'vitest';
import { at } from '../support/json.ts';
import { fixture } from '../support/place.ts';
import { equip, overHttp, overStdio, WAYS, type Model } from '../support/toolsets.ts';

const TWO = {
  a: fixture('named', ['b_c', 'secret', '--label=a']),
  a_b: fixture('named', ['c', '--label=a_b']),
};

async function refusal(model: Model, name: string): Promise<string> {
  return model.call(name).then(
    ({ text }) => `answered: ${text}`,
    (error: unknown) => String(error),
  );
}

describe.each(WAYS)('a toolset over %s', (_, open) => {
  it('is a boundary: what is not in it cannot be called, by any name', async () => {
    const model = await open({ servers: TWO });
    await equip(model, 'one', ['a_b.c']);
    const tools = (await model.tools()).slice(1);
    expect(tools).toHaveLength(1);
    expect((await model.call(tools[0] ?? '')).text).toBe('a_b:c');
    for (const name of ['a_secret', 'secret', 'a.secret', 'a_b_c', 'a.b_c', 'b_c', 'c', 'a_b.c'])
      expect(await refusal(model, name)).not.toMatch(/^answered/);
  });

  it('withholds a tool whose definition is no longer the one that its refId means', async () => {
    const model = await open({ servers: { s: fixture('turncoat') } });
    const listed = (await model.call('list-available-tools', { query: 'act' })).data;
    const refId = String(at(listed, 'toolsByServer', 0, 'tools', 0, 'refId'));
    const tools = [{ refId }, { namespacedName: 's.turn' }];
    await model.call('build-toolset', { name: 'held', tools, autoEquip: true });
    expect(await model.tools()).toEqual(['enter-configuration-mode', 's_act', 's_turn']);
    await model.call('s_turn');
    await expect
      .poll(() => model.tools(), { timeout: 5_000 })
      .toEqual(['enter-configuration-mode', 's_turn']);
    expect(await refusal(model, 's_act')).toMatch(/withheld.*assay toolset review held/);
    await model.call('enter-configuration-mode');
    expect((await model.call('get-active-toolset')).data).toMatchObject({ equipped: { changed: ['s.act'] } });
  });
});

describe('a toolset', () => {
  it('shows a changed tool where the setting says so', async () => {
    const env = { ASSAY_TOOLSETS_CHANGED: 'show' };
    const model = await overStdio({ servers: { s: fixture('turncoat') }, env }, 'legacy');
    const listed = (await model.call('list-available-tools', { query: 'act' })).data;
    const refId = String(at(listed, 'toolsByServer', 0, 'tools', 0, 'refId'));
    await model.call('build-toolset', {
      name: 'held',
      tools: [{ refId }, { namespacedName: 's.turn' }],
      autoEquip: true,
    });
    await model.call('s_turn');
    await expect.poll(() => model.describe('s_act'), { timeout: 5_000 }).toContain('IGNORE');
  });

  it('follows a definition where the tool was named by its name', async () => {
    const model = await overStdio({ servers: { s: fixture('turncoat') } }, 'modern');
    await equip(model, 'named', ['s.act', 's.turn']);
    await model.call('s_turn');
    await expect.poll(() => model.describe('s_act'), { timeout: 5_000 }).toContain('IGNORE');
  });

  it('keeps the tools of an absent server and names them', async () => {
    const first = await overHttp({ servers: TWO }, 'legacy');
    await equip(first, 'one', ['a_b.c', 'a.secret']);
    await first.client.close();
    const home = first.home;
    const second = await overStdio({ servers: { a: TWO.a }, home }, 'legacy');
    expect(await second.tools()).toEqual(['enter-configuration-mode', 'a_secret']);
    await second.call('enter-configuration-mode');
    const active = await second.call('get-active-toolset');
    expect(active.data).toMatchObject({ equipped: { absent: ['a_b.c'], tools: ['a_secret'] } });
    expect(active.text).toContain('Absent, as no server has them now: a_b.c.');
  });

  it('cannot be built of what does not exist, twice, empty, or under a name that is none', async () => {
    const model = await overStdio({ servers: TWO }, 'legacy');
    const refused = async (args: object): Promise<string> => {
      const told = await model.call('build-toolset', args as never);
      expect(told.isError).toBe(true);
      return told.text;
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
    expect(await refused({ name: 'ok', tools, more: 1 })).toContain('"more"');
    await model.call('build-toolset', { name: 'ok', tools });
    expect(await refused({ name: 'ok', tools })).toContain('already');
  });
});

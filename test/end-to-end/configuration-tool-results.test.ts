// The results of configuration tools: data that matches their output schemas, and what list-available-tools shows.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { endAfterEach } from '../support/end-after-each.ts';
import { at, listAt, numberAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { fixture } from '../support/paths.ts';
import { equip, meet, MENU, overHttp, WAYS, type Model, type Told } from '../support/toolsets.ts';

endAfterEach();

const REF = { namespacedName: 'plain.echo' };

/** Arguments for an answer of each kind. */
const CASES: readonly (readonly [name: string, right: JsonObject, wrong: JsonObject])[] = [
  ['list-available-tools', {}, { limit: 0 }],
  [
    'build-toolset',
    { name: 'new-one', tools: [REF] },
    { name: 'new-one', tools: [{ namespacedName: 'no.such' }] },
  ],
  ['list-saved-toolsets', {}, { more: 1 }],
  ['equip-toolset', { name: 'first' }, { name: 'no-such' }],
  ['add-tool-annotation', { toolRef: REF, notes: [{ name: 'a', note: 'b' }] }, { toolRef: REF, notes: [] }],
  ['get-active-toolset', {}, { more: 1 }],
  ['unequip-toolset', {}, { more: 1 }],
  ['delete-toolset', { name: 'first', confirm: true }, { name: 'first' }],
];

describe.each(WAYS)('over %s', (_, open) => {
  it('every response matches the output schema, success or error, and contains the same as text', async () => {
    const model = await open({
      servers: { plain: fixture('plain') },
      env: { ASSAY_ENABLE_CONFIG_TOOLS_MENU: 'false' },
    });
    await model.call('build-toolset', { name: 'first', tools: [REF] });
    const { tools } = await model.client.listTools();
    for (const [name, right, wrong] of CASES) {
      const tool = tools.find((one) => one.name === name);
      const fits = new Ajv2020({ strict: false }).compile((tool?.outputSchema ?? { not: {} }) as object);
      const check = (told: Told, isError: boolean): void => {
        expect([name, told.isError, fits(told.data), told.text !== '']).toEqual([name, isError, true, true]);
      };
      check(await model.call(name, wrong), true);
      check(await model.call(name, right), false);
    }
  });
});

describe('list-available-tools', () => {
  let menu: Pick<Model, 'call'>;
  beforeAll(async () => {
    const servers = {
      plain: fixture('plain'),
      bad: fixture('bad-hints'),
      other: fixture('named', ['same', 'second', '--label=other']),
    };
    const model = await overHttp({ servers }, 'legacy');
    menu = await meet({ url: `${model.url}/configuration` }, 'modern');
  });

  const names = (data: Json): readonly string[] =>
    listAt(data, 'tools').map((tool) => textAt(tool, 'namespacedName'));

  it('lists the servers without arguments, with their number of tools and token costs', async () => {
    const { data, text } = await menu.call('list-available-tools');
    const servers = listAt(data, 'toolsByServer');
    expect(servers.map((server) => textAt(server, 'serverName'))).toEqual(['plain', 'bad', 'other']);
    expect(numberAt(data, 'summary', 'totalServers')).toBe(3);
    const sum = (...path: string[]): number =>
      servers.reduce<number>((total, server) => total + numberAt(server, ...path), 0);
    expect(numberAt(data, 'summary', 'totalTools')).toBe(sum('toolCount'));
    expect(numberAt(data, 'meta', 'totalPossibleContext', 'tokens')).toBe(sum('context', 'tokens'));
    expect(text).toMatch(/^- other: 2 tools, about \d+ tokens$/m);
    expect(text).not.toContain('second');
  });

  it('shows definitions by name in any form, and by refId, with tokens as a tokenizer counts them', async () => {
    const { data, text } = await menu.call('list-available-tools', { tools: ['other.second', 'other_same'] });
    expect(names(data)).toEqual(['other.second', 'other.same']);
    const direct = await overHttp(
      { servers: { other: fixture('named', ['second']) }, path: '/all' },
      'legacy',
    );
    const { name, description, inputSchema } = (await direct.client.listTools()).tools[0] ?? {};
    expect(name).toBe('other_second');
    const read = JSON.stringify({ name: 'second', description, inputSchema });
    expect(at(data, 'tools', 0, 'context', 'tokens')).toBe(countTokens(read));
    expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({ description, inputSchema });
    const refId = textAt(data, 'tools', 0, 'refId');
    for (const ref of [refId, { refId }, { namespacedName: 'other.second' }])
      expect((await menu.call('list-available-tools', { tools: [ref] })).data).toMatchObject({
        tools: [{ namespacedName: 'other.second', refId }],
      });
  });

  it('accepts words, a server, hints, and pages', async () => {
    const ask = async (args: JsonObject): Promise<readonly string[]> =>
      names((await menu.call('list-available-tools', args)).data);
    expect((await ask({ query: 'SECOND other' }))[0]).toBe('other.second');
    expect(await ask({ query: 'xylophone' })).toEqual([]);
    expect(await ask({ server: 'other' })).toEqual(['other.same', 'other.second']);
    // The fixture declares no hints, so the defaults of the specification apply.
    expect(
      await ask({ server: 'other', hints: { destructiveHint: true, readOnlyHint: false } }),
    ).toHaveLength(2);
    expect(await ask({ server: 'other', hints: { readOnlyHint: true } })).toEqual([]);
    const all = await ask({ limit: 1_000 });
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await menu.call('list-available-tools', { limit: 3, ...(cursor && { cursor }) });
      paged.push(...names(data));
      const next = at(data, 'nextCursor');
      cursor = typeof next === 'string' ? next : undefined;
    } while (cursor !== undefined);
    expect(all.length).toBeGreaterThan(6);
    expect(paged).toEqual(all);
    expect(await menu.call('list-available-tools', { cursor: 'nonsense' })).toMatchObject({
      isError: true,
      data: { error: { code: 'CURSOR_INVALID' } },
    });
  });

  it('names the known servers if one is unknown, and all unknown tools at once', async () => {
    expect((await menu.call('list-available-tools', { server: 'othr' })).text).toMatch(
      /did you mean "other"\? The servers are plain, bad, other/,
    );
    const unknown = { tools: ['other.secnd', 'plain.echo', 'xyz'] };
    for (const [tool, args] of [
      ['list-available-tools', unknown],
      ['build-toolset', { name: 'any', ...unknown }],
    ] as const) {
      const { text } = await menu.call(tool, args);
      expect(text).toContain('Unknown tool "other.secnd". Did you mean "other.second"? Unknown tool "xyz".');
    }
  });
});

it("a server's tool that is named like a configuration tool is hidden behind it", async () => {
  const servers = {
    sly: fixture('named', ['enter-configuration-mode'], { prefix: false }),
    plain: fixture('plain'),
  };
  const model = await overHttp({ servers }, 'legacy');
  await equip(model, 'both', ['sly.enter-configuration-mode', 'plain.echo']);
  expect(await model.tools()).toEqual(['enter-configuration-mode', 'plain_echo']);
  await model.call('enter-configuration-mode');
  expect(await model.tools()).toEqual(MENU);
});

// Servers with malicious definitions, next to a normal one.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { OFFICIAL } from '../support/clients.ts';
import { sleep, until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { claimsIn, short, toolIn, toolsOf } from '../support/hints.ts';
import {
  at,
  listAt,
  namesAt,
  numberAt,
  parseJson,
  textAt,
  type Json,
  type JsonObject,
} from '../support/json.ts';
import { modernAsk, modernSend } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { rawRows } from '../support/stores.ts';
import { keepToken } from '../support/tokens.ts';
import { equip, meet } from '../support/toolsets.ts';

const ODD_KEYS = 5_000;
const ODD: JsonObject = Object.fromEntries(
  Array.from({ length: ODD_KEYS }, (_, index) => [`odd-${index}`, { deep: [index] }]),
);
/** Keys that every object inherits, as its own. */
const INHERITED = parseJson(
  '{"__proto__":{"readOnlyHint":true,"destructiveHint":false},"constructor":{"readOnlyHint":true},"toString":1}',
) as JsonObject;

/** A tool of each, and its four hints as far as they can be shown. */
const HOSTILE: readonly (readonly [server: string, tool: JsonObject, declared: string])[] = [
  ['maybe', toolNamed('act', { annotations: { readOnlyHint: 'maybe', destructiveHint: false } }), '.-..'],
  ['many', toolNamed('act', { annotations: { ...ODD, readOnlyHint: false } }), '-...'],
  ['proto', toolNamed('__proto__', { annotations: { ...INHERITED, destructiveHint: true } }), '.+..'],
];
const QUIET_ONES = HOSTILE.map(([server, tool]) => [server, filedServer([tool], { quiet: true })] as const);
const INNOCENT = toolNamed('act', { annotations: { readOnlyHint: false, mood: 'fine' } });
const innocent = filedServer([INNOCENT], { quiet: true });

let assay: Gateway;
let admin: AdminClient;
beforeAll(async () => {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const servers = {
    shifter: fixture('shifter'),
    ...Object.fromEntries(QUIET_ONES.map(([name, { entry }]) => [name, entry])),
    innocent: innocent.entry,
  };
  assay = await startGateway({ servers, home });
  admin = adminClient(assay, token);
  await assay.settled();
});

/** The tools of a server, under its own names. */
async function listOf(server: string): Promise<string> {
  return (await modernSend(`http://127.0.0.1:${assay.port}/mcp/servers/${server}`, 'tools/list')).text;
}

async function listedIn(server: string, name: string): Promise<Json | undefined> {
  return listAt(parseJson(await listOf(server)), 'result', 'tools').find((tool) => at(tool, 'name') === name);
}

function shownOf(tool: Json | undefined): string {
  const hints = ['destructiveHint', 'openWorldHint'];
  return hints.map((hint) => `${hint} ${String(at(tool, 'annotations', hint))}`).join(', ');
}

async function patched(id: string, annotations: JsonObject): Promise<void> {
  expect(verdictOf(await admin.ask('PATCH', `/tools/${id}`, { body: { annotations } }))).toBe('200');
}

describe('next to hostile definitions', () => {
  it.each(OFFICIAL)('the official client $label lists and calls all tools', async ({ connect }) => {
    const client = await connect({ url: assay.url });
    const tools = await client.tools();
    expect(tools).toEqual(
      expect.arrayContaining(['innocent_act', 'maybe_act', 'many_act', 'proto___proto__', 'shifter_shift']),
    );
    for (const [name, said] of [
      ['innocent_act', 'act'],
      ['proto___proto__', '__proto__'],
      ['shifter_shift', 'shift'],
    ] as const)
      expect(await client.call(name)).toBe(said);
  });

  it('the definition of another server is unchanged, to the byte', async () => {
    const all = (await modernSend(assay.url, 'tools/list')).text;
    expect(all).toContain(JSON.stringify({ ...INNOCENT, name: 'innocent_act' }));
    expect(await listOf('innocent')).toContain(JSON.stringify(INNOCENT));
  });

  it.each(['innocent', ...HOSTILE.map(([server]) => server)])(
    'a hundred lists of %s are identical to the byte',
    async (server) => {
      const lists = new Set<string>();
      for (let time = 0; time < 100; time += 1) lists.add(await listOf(server));
      expect(lists.size).toBe(1);
    },
  );

  it('another server is refreshed, registered and found immediately', async () => {
    const startMs = performance.now();
    expect(verdictOf(await admin.post('/gateways/innocent/refresh'))).toBe('200');
    expect(performance.now() - startMs).toBeLessThan(scaledMs(2_000));
    const { entry } = filedServer([INNOCENT], { quiet: true });
    expect(verdictOf(await admin.post('/gateways', { name: 'newcomer', ...entry }))).toBe('201');
    expect(performance.now() - startMs).toBeLessThan(scaledMs(6_000));
    expect(verdictOf(await admin.delete('/gateways/newcomer'))).toBe('204');
    const act = await toolIn(admin, 'innocent', 'act');
    expect([claimsIn(at(act, 'hints')), at(act, 'drift'), at(act, 'annotations')]).toEqual([
      ['d-', '', '', ''],
      undefined,
      INNOCENT['annotations'],
    ]);
  });
});

describe.each(HOSTILE)('the tool of %s', (server, { name, annotations }, declared) => {
  it('is shown with the hints that are booleans, and all unknown ones', async () => {
    const tool = await listedIn(server, String(name));
    expect(short((hint) => at(tool, 'annotations', hint))).toBe(declared);
    const odd = Object.entries(annotations as JsonObject).filter(([, value]) => value !== 'maybe');
    expect(JSON.stringify(at(tool, 'annotations'))).toBe(JSON.stringify(Object.fromEntries(odd)));
    const shown = await toolIn(admin, server, String(name));
    expect(at(shown, 'annotations')).toEqual(Object.fromEntries(odd));
    expect(short((hint) => at(shown, 'hints', hint, 'emitted'))).toBe(declared);
    const said = Array.from(declared, (value) => (value === '.' ? '' : `d${value}`));
    expect(claimsIn(at(shown, 'hints'))).toEqual(said);
  });

  it('accepts overrides like any other, and returns them', async () => {
    const { id } = await toolIn(admin, server, String(name));
    const before = await listOf(server);
    const others = await listOf('innocent');
    await patched(String(id), { readOnlyHint: true, destructiveHint: false, openWorldHint: false });
    const read = await admin.get(`/tools/${String(id)}`);
    expect(read.status).toBe(200);
    expect(textAt(read.json(), 'originalName')).toBe(name);
    expect(short((hint) => at(read.json(), 'hints', hint, 'effective'))).toBe('+-+-');
    const tool = await listedIn(server, String(name));
    expect(short((hint) => at(tool, 'annotations', hint))).toBe('+-.-');
    expect(Object.keys(at(tool, 'annotations') as JsonObject)).toEqual(
      expect.arrayContaining(Object.keys(annotations as JsonObject)),
    );
    await patched(String(id), { readOnlyHint: null, destructiveHint: null, openWorldHint: null });
    expect(await listOf(server)).toBe(before);
    expect(await listOf('innocent')).toBe(others);
  });

  it('is disabled, enabled and given a title', async () => {
    const { id } = await toolIn(admin, server, String(name));
    const put = async (body: JsonObject): Promise<string> =>
      verdictOf(await admin.put(`/tools/${String(id)}`, body));
    expect(await put({ enabled: false, title: 'Named' })).toBe('200');
    expect(await listedIn(server, String(name))).toBeUndefined();
    expect(await put({ enabled: true })).toBe('200');
    const tool = await listedIn(server, String(name));
    expect([at(tool, 'title'), at(tool, 'annotations', 'title')]).toEqual(['Named', 'Named']);
    expect(await put({ title: null })).toBe('200');
  });

  it('accepts notes', async () => {
    const { id, name: publicName, namespacedName } = await toolIn(admin, server, String(name));
    const model = await meet({ url: `http://127.0.0.1:${assay.port}/mcp/configuration` }, 'legacy');
    await equip(model, `of-${server}`, [String(namespacedName)]);
    const note = { toolset: `of-${server}`, name: 'a-note', note: 'Read it.' };
    expect(verdictOf(await admin.post(`/tools/${String(id)}/notes`, note))).toBe('201');
    const notes = await admin.get(`/tools/${String(id)}/notes`);
    expect(listAt(notes.json(), 'notes')).toMatchObject([note]);
    const url = `http://127.0.0.1:${assay.port}/mcp/toolsets/of-${server}`;
    const [tool] = listAt(await modernAsk(url, 'tools/list'), 'result', 'tools');
    expect([at(tool, 'name'), textAt(tool, 'description')]).toEqual([
      publicName,
      expect.stringContaining('**a-note**: Read it.'),
    ]);
  });
});

describe('a tool that differs in every list', () => {
  it('keeps what raises caution, and is never shown with what lowers it', async () => {
    const { id } = await toolIn(admin, 'shifter', 'shift');
    await patched(String(id), { destructiveHint: true, openWorldHint: false });
    const seen = new Set<string>();
    const descriptions = new Set<string>();
    await until('it has changed ten times', async () => {
      const shift = await listedIn('shifter', 'shift');
      descriptions.add(textAt(shift, 'description'));
      // The existing one may stay for a while.
      if (descriptions.size > 2) seen.add(shownOf(shift));
      return descriptions.size > 10 ? true : undefined;
    });
    expect([...seen]).toEqual(['destructiveHint true, openWorldHint undefined']);
    expect([...(await toolsOf(admin, 'server=shifter&drift=dangerous')).keys()]).toEqual(['shift']);
  });

  it('is stored about once per second, however often it changes', async () => {
    const written = async (): Promise<number> => {
      const place = { home: assay.home, databaseUrl: undefined };
      return numberAt(
        (await rawRows(place, 'select last_revision from assay_record_state'))[0] as Json,
        'last_revision',
      );
    };
    const before = await written();
    await sleep(3_000);
    expect((await written()) - before).toBeLessThanOrEqual(5);
  });

  it('is refreshed although it goes on changing', async () => {
    expect(verdictOf(await admin.post('/gateways/shifter/refresh'))).toBe('200');
  });

  it('does not prevent records of others from being stored', async () => {
    const { id } = await toolIn(admin, 'innocent', 'act');
    for (const value of [true, null]) await patched(String(id), { idempotentHint: value });
    expect(namesAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools')).toContain('innocent_act');
  });
});

// REST tools in the config file: read, reloaded when it changes, and reported if invalid.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { connectClient } from '../support/clients.ts';
import { until, untilLogged } from '../support/endings.ts';
import { short, toolIn } from '../support/hints.ts';
import { at, namesAt, type Json, type JsonObject } from '../support/json.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, tempDir, writeText } from '../support/paths.ts';
import { callText, listedTool, openRestWorld, serveApi, type RestWorld } from '../support/rest-tools.ts';

interface Watched extends RestWorld {
  readonly save: (tools: JsonObject) => void;
}

async function openWatched(tools: JsonObject, servers: JsonObject = {}): Promise<Watched> {
  const config = join(tempDir(), 'mcp.json');
  const save = (now: JsonObject): void =>
    writeFileSync(config, JSON.stringify({ mcpServers: servers, tools: now }, undefined, 2));
  save(tools);
  const world = await openRestWorld({ config });
  return { ...world, save };
}

const namesIn = async ({ assay }: RestWorld): Promise<readonly string[]> =>
  namesAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools');

const untilNames = (world: RestWorld, names: readonly string[]): Promise<true> =>
  until(`the tools are ${names.join()}`, async () =>
    JSON.stringify(await namesIn(world)) === JSON.stringify(names) ? true : undefined,
  );

describe('tools of the config file', () => {
  it('are listed in file order, before created ones, even after a restart', async () => {
    const api = await serveApi();
    const entry = { url: `${api.url}/x`, method: 'GET' };
    const world = await openWatched({ zeta: entry, alpha: entry });
    expect(await namesIn(world)).toEqual(['zeta', 'alpha']);
    for (const name of ['mu', 'beta'])
      expect(verdictOf(await world.admin.post('/tools', { name, ...entry }))).toBe('201');
    expect(await namesIn(world)).toEqual(['zeta', 'alpha', 'mu', 'beta']);
    await world.assay.stop();
    const again = await openRestWorld({
      home: world.home,
      settings: { tools: { zeta: entry, alpha: entry } },
    });
    expect(await namesIn(again)).toEqual(['zeta', 'alpha', 'mu', 'beta']);
  });

  it('expand variables in URLs, headers and secrets, but not in descriptions', async () => {
    const api = await serveApi();
    const tools = {
      filled: {
        url: '${BASE}/v/{id}?x=${MISSING:-1}',
        method: 'GET',
        description: 'Costs ${PRICE}.',
        headers: { 'X-From': '${BASE}' },
        auth: { type: 'bearer', token: '${KEY}' },
      },
    };
    const world = await openRestWorld({ settings: { tools }, env: { BASE: api.url, KEY: 'k3y-of-the-api' } });
    expect(at(await listedTool(world.assay.url, 'filled'), 'description')).toBe('Costs ${PRICE}.');
    await callText(world.assay, 'filled', { id: 'a' });
    expect(api.seen.at(-1)).toMatchObject({
      target: '/v/a?x=1',
      headers: { authorization: 'Bearer k3y-of-the-api', 'x-from': api.url },
    });
  });

  it('are reloaded when the file is saved, without interrupting calls to other tools', async () => {
    let release = (): void => undefined;
    const slow = await serveApi((_, response) => (release = () => response.end('done at last')));
    const api = await serveApi();
    const kept = { url: `${slow.url}/slow`, method: 'GET' };
    const changing = { url: `${api.url}/one`, method: 'GET' };
    const world = await openWatched({ kept, changing }, { plain: fixture('plain') });
    const client = await connectClient(world.assay, 'legacy');
    await client.listTools();
    const call = client.callTool({ name: 'kept', arguments: {} });
    await until('the API is asked', () => (slow.seen.length > 0 ? true : undefined));
    world.save({ kept, changing: { ...changing, url: `${api.url}/two`, method: 'DELETE' }, more: changing });
    await until('the change is there', async () =>
      (await namesIn(world)).includes('more') ? true : undefined,
    );
    expect(await callText(world.assay, 'changing')).toBe('{"ok":true}');
    expect(api.seen.at(-1)).toMatchObject({ method: 'DELETE', target: '/two' });
    world.save({ kept });
    await until('two are gone', async () => ((await namesIn(world)).includes('more') ? undefined : true));
    release();
    expect((await call).content).toEqual([{ type: 'text', text: 'done at last' }]);
    expect(slow.seen).toHaveLength(1);
    expect(await namesIn(world)).toEqual(expect.arrayContaining(['kept', 'plain_echo']));
  });

  it('can all be removed from the file and added again', async () => {
    const entry = { url: 'http://nowhere.invalid/x', method: 'GET' };
    const world = await openWatched({ only: entry }, { plain: fixture('plain') });
    const own = async (): Promise<readonly string[]> =>
      (await namesIn(world)).filter((name) => !name.startsWith('plain_'));
    await expect.poll(own).toEqual(['only']);
    world.save({});
    await expect.poll(own).toEqual([]);
    world.save({ only: entry, other: entry });
    await expect.poll(own).toEqual(['only', 'other']);
  });

  it('keep their overrides without a review when changed in the file', async () => {
    const entry = { url: 'http://nowhere.invalid/x', method: 'DELETE' };
    const world = await openWatched({ one: entry });
    const id = String((await toolIn(world.admin, 'local', 'one'))['id']);
    await world.admin.put(`/tools/${id}`, { annotations: { openWorldHint: false }, title: 'Kept' });
    world.save({ one: { ...entry, method: 'GET' } });
    const changed = await until('it has changed', async () => {
      const tool = (await world.admin.get(`/tools/${id}`)).json();
      return at(tool, 'hints', 'readOnlyHint', 'effective') === true ? tool : undefined;
    });
    expect([at(changed, 'title'), at(changed, 'drift')]).toEqual(['Kept', undefined]);
    const shown = (tool: Json | undefined): string => short((hint) => at(tool, 'annotations', hint));
    expect(shown(await listedTool(world.assay.url, 'one'))).toBe('+-+-');
  });
});

describe('an invalid tool of the config file', () => {
  const TEXT = `{
  "tools": {
    "good": { "url": "http://nowhere.invalid/x", "method": "GET" },
    "bad method": {
      "url": "http://nowhere.invalid/x",
      "method": "SSE"
    },
    "mistyped": {
      "url": "http://nowhere.invalid/x",
      "metod": "GET"
    },
    "keyless": {
      "url": "http://nowhere.invalid/x",
      "auth": {
        "type": "bearer",
        "token": "\${NO_SUCH_VARIABLE}"
      }
    },
    "number": 5,
    "unfiltered": {
      "url": "http://nowhere.invalid/x",
      "filter": "a["
    }
  }
}
`;

  it('is reported with its line and key, and does not affect the others', async () => {
    const { assay } = await openRestWorld({ config: writeText(TEXT) });
    expect(namesAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools')).toEqual(['good']);
    const log = assay.stderr();
    for (const [line, what] of [
      [4, String.raw`tools[\"bad method\"]: a name`],
      [6, String.raw`tools[\"bad method\"].method: `],
      [10, 'tools.mistyped.metod'],
      [16, 'NO_SUCH_VARIABLE'],
      [19, 'tools.number'],
    ] as const) {
      const found = log.split('\n').find((one) => one.includes(what));
      expect([what, found]).toEqual([what, expect.stringContaining(`"line":${line},`)]);
    }
    expect(log).toMatch(/unfiltered.* cannot be used: The filter is not a JMESPath expression/);
  });

  it('is reported by doctor', async () => {
    const { stdout, code } = await runAssay([
      'doctor',
      '--json',
      '--config',
      writeText(TEXT),
      '--home',
      tempDir(),
    ]);
    expect(code).not.toBe(0);
    for (const what of ['bad method', 'mistyped', 'keyless', 'number']) expect(stdout).toContain(what);
  });

  it('is reported when saved into a watched file, and does not affect the others', async () => {
    const entry = { url: 'http://nowhere.invalid/x', method: 'GET' };
    const world = await openWatched({ one: entry });
    world.save({ one: entry, two: { ...entry, timeoutMs: 'long' }, three: entry });
    await untilNames(world, ['one', 'three']);
    await untilLogged(world.assay, 'two');
  });
});

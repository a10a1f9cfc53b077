import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst, OFFICIAL } from '../support/clients.ts';
import { at, listAt, namesAt, textAt } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import { until, untilLogged } from '../support/endings.ts';

const COUNT = 2_500;

describe('the catalog', () => {
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    assay = await startGateway({
      servers: {
        zed: fixture('plain', ['--label=zed']),
        pager: fixture('pager'),
        abe: fixture('plain', ['--label=abe']),
      },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  it('has all pages of a server: tools, resources, templates and prompts', async () => {
    const kinds = [
      ['tools/list', 'tools', 'pager_tool_', 'name'],
      ['resources/list', 'resources', 'pager://r/', 'uri'],
      ['resources/templates/list', 'resourceTemplates', 'pager://t', 'uriTemplate'],
      ['prompts/list', 'prompts', 'pager_prompt_', 'name'],
    ] as const;
    for (const [method, member, start, key] of kinds) {
      const entries = listAt(await session.ask(method), 'result', member).map((one) => textAt(one, key));
      expect(entries.filter((entry) => entry.startsWith(start))).toHaveLength(6);
    }
  });

  it('follows the order of the config, then of each server', async () => {
    const names = namesAt(await session.ask('tools/list'), 'result', 'tools');
    const servers = [...new Set(names.map((name) => name.split('_')[0]))];
    expect(servers).toEqual(['zed', 'pager', 'abe']);
    expect(names.filter((name) => name.startsWith('pager'))).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => `pager_tool_${n}`),
    );
  });

  it('is identical, byte for byte, in 100 lists', async () => {
    const ask = () => session.post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    const first = (await ask()).text;
    for (let round = 0; round < 10; round++) {
      const texts = (await Promise.all(Array.from({ length: 10 }, ask))).map((answer) => answer.text);
      expect(texts.every((text) => text === first)).toBe(true);
    }
    const modern = JSON.stringify(at(await modernAsk(assay.url, 'tools/list'), 'result', 'tools'));
    expect(first).toContain(modern.slice(1, -1));
  });

  it("keeps the servers' definitions, except for the names", async () => {
    const tool = listAt(await session.ask('tools/list'), 'result', 'tools').find(
      (one) => at(one, 'name') === 'zed_add',
    );
    expect(tool).toEqual({
      name: 'zed_add',
      description: 'Does add.',
      inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    });
  });

  it('joins the instructions of all servers, each under its name', async () => {
    const instructions = textAt(session.initialized, 'result', 'instructions');
    expect(instructions).toContain('Use zed kindly.');
    expect(instructions).toContain('Use abe kindly.');
    const modern = textAt(await modernAsk(assay.url, 'server/discover'), 'result', 'instructions');
    expect(modern).toContain('Use zed kindly.');
    const own = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/abe`);
    expect(textAt(own.initialized, 'result', 'instructions')).toContain('Use abe kindly.');
    expect(textAt(own.initialized, 'result', 'instructions')).not.toContain('zed');
  });

  it('leaves resource URIs unchanged; on a collision the first server of the config wins', async () => {
    const resources = listAt(await session.ask('resources/list'), 'result', 'resources');
    const uris = resources.map((one) => textAt(one, 'uri'));
    expect(uris.filter((uri) => uri === 'plain://shared')).toHaveLength(1);
    expect(uris).toContain('plain://zed/readme');
    expect(uris).toContain('plain://abe/readme');
    const read = async (uri: string): Promise<string> =>
      textAt(await session.ask('resources/read', { uri }), 'result', 'contents', 0, 'text');
    expect(await read('plain://shared')).toBe('zed has plain://shared');
    expect(await read('plain://abe/readme')).toBe('abe has plain://abe/readme');
    await untilLogged(assay, 'plain://shared');
  });

  it('finds the server of a resource by its templates', async () => {
    const read = await session.ask('resources/read', { uri: 'plain://abe/item/7' });
    expect(textAt(read, 'result', 'contents', 0, 'text')).toBe('abe has plain://abe/item/7');
  });

  it('answers an unknown resource with -32002 for legacy clients, -32602 for modern ones', async () => {
    const legacy = await session.ask('resources/read', { uri: 'nowhere://x' });
    expect([-32002, -32602]).toContain(at(legacy, 'error', 'code'));
    expect(at(legacy, 'error', 'data', 'code')).toBe('RESOURCE_UNKNOWN');
    const modern = await modernAsk(assay.url, 'resources/read', { params: { uri: 'nowhere://x' } });
    expect(at(modern, 'error', 'code')).toBe(-32602);
  });

  it("passes prompts and completions to their server under the server's names", async () => {
    const prompt = await session.ask('prompts/get', { name: 'abe_greet', arguments: { who: 'Ada' } });
    expect(at(prompt, 'result', 'messages', 0, 'content', 'text')).toBe('abe greets Ada');
    const byPrompt = await session.ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'abe_greet' },
      argument: { name: 'who', value: 'Al' },
    });
    expect(at(byPrompt, 'result', 'completion', 'values')).toEqual(['abe:greet:Al']);
    const byTemplate = await session.ask('completion/complete', {
      ref: { type: 'ref/resource', uri: 'plain://zed/item/{id}' },
      argument: { name: 'id', value: '4' },
    });
    expect(at(byTemplate, 'result', 'completion', 'values')).toEqual(['zed:plain://zed/item/{id}:4']);
    const none = await session.ask('prompts/get', { name: 'none' });
    expect(at(none, 'error', 'data', 'code')).toBe('PROMPT_UNKNOWN');
  });

  it('notifies a subscriber of an updated resource, or refuses the subscription from the start', async () => {
    const isOffered = at(session.initialized, 'result', 'capabilities', 'resources', 'subscribe') === true;
    const [stream, silent] = await Promise.all([session.listen(), (await openSession(assay.url)).listen()]);
    const answer = await session.ask('resources/subscribe', { uri: 'plain://abe/readme' });
    if (isOffered) {
      expect(at(answer, 'result')).toEqual({});
      const notice = await stream.next(
        'update',
        (one) => at(one, 'method') === 'notifications/resources/updated',
      );
      expect(at(notice, 'params')).toEqual({ uri: 'plain://abe/readme' });
    } else expect(at(answer, 'error', 'code')).toBe(-32601);
    expect(silent.messages()).toEqual([]);
    stream.cut();
  });

  it("declares the servers' capabilities", () => {
    expect(at(session.initialized, 'result', 'capabilities')).toMatchObject({
      tools: { listChanged: true },
      prompts: {},
      resources: {},
      completions: {},
    });
  });

  it('declares no log messages of a process that clients share, as none would reach them', () => {
    expect(at(session.initialized, 'result', 'capabilities', 'logging')).toBeUndefined();
  });

  it('sets the log level of all servers', async () => {
    expect(await session.ask('logging/setLevel', { level: 'warning' })).toMatchObject({ result: {} });
    expect(at(await session.ask('logging/setLevel', { level: 'loud' }), 'error', 'code')).toBe(-32602);
  });

  it.each(OFFICIAL)('is read completely by the official client $label', async ({ connect }) => {
    const client = await connect({ url: assay.url });
    expect(await client.tools()).toEqual(namesAt(await session.ask('tools/list'), 'result', 'tools'));
  });

  it('is read by the typed methods of both official clients', async () => {
    const client = await connectClient({ url: assay.url }, 'modern');
    const first = await connectFirst({ url: assay.url });
    for (const one of [client, first]) {
      expect((await one.listResources()).resources).toHaveLength(3 + 6);
      expect((await one.listResourceTemplates()).resourceTemplates).toHaveLength(2 + 6);
      expect((await one.listPrompts()).prompts).toHaveLength(2 + 6);
      expect((await one.readResource({ uri: 'plain://zed/readme' })).contents[0]).toMatchObject({
        text: 'zed has plain://zed/readme',
      });
    }
  });
});

describe('a catalog of more than one page', () => {
  it('comes in pages of up to 1,000, in order and without gaps', async () => {
    const assay = await startGateway({ servers: { n: fixture('named', [`--count=${COUNT}`]) } });
    await assay.settled();
    const session = await openSession(assay.url);
    // A server that takes more than 5 s to list its tools is served without them until then.
    await until('its tools are read', async () =>
      namesAt(await session.ask('tools/list'), 'result', 'tools').length > 0 ? true : undefined,
    );
    const sizes: number[] = [];
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await session.ask('tools/list', cursor === undefined ? {} : { cursor });
      const entries = namesAt(page, 'result', 'tools');
      sizes.push(entries.length);
      names.push(...entries);
      const next = at(page, 'result', 'nextCursor');
      cursor = next === undefined ? undefined : String(next);
    } while (cursor !== undefined);
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(names).toEqual(Array.from({ length: COUNT }, (_, n) => `n_tool_${String(n).padStart(5, '0')}`));
    expect(await session.call('n_tool_02499')).toBe('named:tool_02499');
    for (const bad of ['', 'nonsense', '9999999', '-1', 7]) {
      const answer = await session.ask('tools/list', { cursor: bad });
      expect([bad, at(answer, 'error', 'code')]).toEqual([bad, -32602]);
    }
    const client = await connectClient({ url: assay.url }, 'modern');
    expect((await client.listTools()).tools).toHaveLength(COUNT);
  });
});

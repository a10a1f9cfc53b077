// The life cycle of REST tools: changed, deleted, added to toolsets, annotated with notes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import { sleep, until } from '../support/endings.ts';
import type { Answer } from '../support/http.ts';
import { toolIn } from '../support/hints.ts';
import { at, listAt, namesAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { modernAsk } from '../support/modern.ts';
import { fixture, writeConfig } from '../support/paths.ts';
import {
  callText,
  listedTool,
  openRestWorld,
  serveApi,
  type RestWorld,
  type WebApi,
} from '../support/rest-tools.ts';
import { keepToken } from '../support/tokens.ts';

endAfterEach();

const KEY = 'Zx81-Qw92-Er73-Ty64';

let world: RestWorld;
let api: WebApi;
let other: WebApi;
beforeAll(async () => {
  api = await serveApi();
  other = await serveApi();
  world = await openRestWorld({
    servers: { plain: fixture('plain') },
    settings: { tools: { fixed: { url: `${api.url}/fixed`, method: 'GET' } } },
  });
});

let count = 0;

interface Made {
  readonly name: string;
  readonly id: string;
  put(body: JsonObject, headers?: Record<string, string>): Promise<Answer>;
  patch(body: JsonObject): Promise<Answer>;
  read(): Promise<Answer>;
}

async function make(entry: JsonObject = {}): Promise<Made> {
  count += 1;
  const name = `made-${count}`;
  const made = await world.admin.post('/tools', { name, url: `${api.url}/${name}`, method: 'GET', ...entry });
  if (made.status !== 201) throw new Error(made.text);
  const id = textAt(made.json(), 'id');
  const path = `/tools/${id}`;
  return {
    name,
    id,
    put: (body, headers = {}) => world.admin.put(path, body, headers),
    patch: (body) => world.admin.ask('PATCH', path, { body }),
    read: () => world.admin.get(path),
  };
}

const pointersOf = (answer: Answer): readonly string[] =>
  listAt(answer.json(), 'errors').map((one) => textAt(one, 'pointer'));

describe('a change of a REST tool', () => {
  it('applies to the next call, and keeps the id and all fields it does not mention', async () => {
    const tool = await make({ headers: { 'X-Kept': 'yes' }, timeoutMs: 5_000 });
    const changed = await tool.put({ url: `${api.url}/moved/{id}`, description: 'Moved.' });
    expect(changed.json()).toMatchObject({
      id: tool.id,
      url: `${api.url}/moved/{id}`,
      method: 'GET',
      timeoutMs: 5_000,
      headers: ['X-Kept'],
    });
    expect(await listedTool(world.assay.url, tool.name)).toMatchObject({
      description: 'Moved.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    });
    await callText(world.assay, tool.name, { id: 'a' });
    expect(api.seen.at(-1)).toMatchObject({ target: '/moved/a', headers: { 'x-kept': 'yes' } });
  });

  it('may be combined with overrides in one body, wrapped and in snake_case', async () => {
    const tool = await make();
    const changed = await tool.put({
      tool: {
        request_type: 'POST',
        annotations: { read_only_hint: false, destructive_hint: true },
        enabled: true,
      },
    });
    expect(changed.json()).toMatchObject({ method: 'POST', annotations: { destructiveHint: true } });
  });

  it('is refused entirely if any part is invalid', async () => {
    const tool = await make();
    const before = (await tool.read()).text;
    const refused: readonly (readonly [JsonObject, string, readonly string[]])[] = [
      [
        { method: 'DELETE', annotations: { readOnlyHint: true, destructiveHint: true } },
        '422 HINTS_CONTRADICT',
        ['/annotations'],
      ],
      [{ method: 'SSE', title: 'New' }, '422 BODY_INVALID', ['/method']],
      [{ method: 'PUT', request_type: 'POST' }, '422 BODY_INVALID', ['/request_type']],
      [{ filter: 'a[', enabled: false }, '422 BODY_INVALID', ['/filter']],
      [{ url: null }, '422 BODY_INVALID', ['/url']],
      [{ name: 'another' }, '422 BODY_INVALID', ['/name']],
    ];
    for (const [body, verdict, pointers] of refused) {
      const answer = await tool.put(body);
      expect([body, verdictOf(answer), pointersOf(answer)]).toEqual([body, verdict, pointers]);
    }
    expect((await tool.read()).text).toBe(before);
  });

  it('without a difference keeps the ETag and is not recorded in the audit log', async () => {
    const tool = await make({ headers: { 'X-A': 'b' } });
    const before = await tool.read();
    const auditEvents = async (): Promise<number> =>
      listAt((await world.admin.get('/activity?limit=1000')).json(), 'activity').length;
    const first = await auditEvents();
    for (const body of [
      {},
      { method: 'GET' },
      { url: `${api.url}/${tool.name}` },
      { headers: { 'X-A': 'b' } },
    ])
      expect([body, (await tool.put(body)).headers.etag]).toEqual([body, before.headers.etag]);
    expect(await auditEvents()).toBe(first);
  });

  it('with the same ETag as 19 concurrent ones succeeds only once', async () => {
    const tool = await make();
    const tag = { 'if-match': String((await tool.read()).headers.etag) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => tool.put({ url: `${api.url}/raced/${index}` }, tag)),
    );
    expect(answers.map(verdictOf).toSorted()).toEqual([
      '200',
      ...Array<string>(19).fill('412 PRECONDITION_FAILED'),
    ]);
    const done = answers.find(({ status }) => status === 200)!.json();
    expect(at((await tool.read()).json(), 'url')).toBe(at(done, 'url'));
  });

  it('to another origin is refused unless it drops the credentials', async () => {
    for (const [member, given] of [
      ['auth', { type: 'bearer', token: KEY }],
      ['headers', { 'X-Key': KEY }],
    ] as const) {
      const tool = await make({ [member]: given });
      const refused = await tool.put({ url: `${other.url}/x` });
      expect([verdictOf(refused), pointersOf(refused)]).toEqual(['422 BODY_INVALID', ['/url']]);
      expect(refused.text).not.toContain(KEY);
      expect(verdictOf(await tool.put({ url: `${api.url}/elsewhere` }))).toBe('200');
      expect(verdictOf(await tool.put({ url: `${other.url}/x`, [member]: null }))).toBe('200');
      await callText(world.assay, tool.name);
      expect(JSON.stringify(other.seen.at(-1))).not.toContain(KEY);
      expect(verdictOf(await tool.put({ url: `${api.url}/back`, [member]: given }))).toBe('200');
      await callText(world.assay, tool.name);
      expect(JSON.stringify(api.seen.at(-1))).toContain(KEY);
    }
  });

  it('is announced once to listening clients', async () => {
    const tool = await make();
    let changes = 0;
    const client = await connectClient(world.assay, 'legacy', {}, (unconnected) =>
      unconnected.setNotificationHandler('notifications/tools/list_changed', () => {
        changes += 1;
      }),
    );
    await client.listTools();
    // Notifications about the new tool may still be on their way.
    await until('no change is told any more', async () => {
      const last = changes;
      await sleep(200);
      return changes === last ? true : undefined;
    });
    const before = changes;
    await tool.put({ description: 'Another one.' });
    await until('the client is told', () => (changes > before ? true : undefined));
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === tool.name)?.description).toBe('Another one.');
    expect(changes - before).toBe(1);
  });
});

describe('the deletion of a tool', () => {
  it('removes it for all clients, and its id becomes unknown', async () => {
    const tool = await make();
    expect(verdictOf(await world.admin.delete(`/tools/${tool.id}`))).toBe('204');
    expect(await listedTool(world.assay.url, tool.name)).toBeUndefined();
    expect(await callText(world.assay, tool.name)).toMatch(/^refused: .*made-/);
    expect(verdictOf(await tool.read())).toBe('404 TOOL_UNKNOWN');
    expect(verdictOf(await world.admin.delete(`/tools/${tool.id}`))).toBe('404 TOOL_UNKNOWN');
    expect(verdictOf(await tool.put({ method: 'PUT' }))).toBe('404 TOOL_UNKNOWN');
  });

  it('removes its overrides, so a new tool with its name starts without any', async () => {
    const tool = await make({ method: 'DELETE' });
    await tool.put({
      title: 'Former',
      enabled: false,
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    expect(verdictOf(await world.admin.delete(`/tools/${tool.id}`))).toBe('204');
    const again = await world.admin.post('/tools', {
      name: tool.name,
      url: `${api.url}/again`,
      method: 'DELETE',
    });
    expect(again.json()).toMatchObject({
      enabled: true,
      title: expect.stringMatching(/^Made \d+$/) as unknown,
      annotations: { readOnlyHint: false, destructiveHint: true },
    });
    expect(at(again.json(), 'drift')).toBeUndefined();
  });

  it('is refused if the tool no longer matches the ETag in If-Match', async () => {
    const tool = await make();
    const tag = { 'if-match': String((await tool.read()).headers.etag) };
    await tool.put({ description: 'Changed meanwhile.' });
    expect(verdictOf(await world.admin.delete(`/tools/${tool.id}`, tag))).toBe('412 PRECONDITION_FAILED');
    expect(await listedTool(world.assay.url, tool.name)).toBeDefined();
  });

  it('lets running calls finish', async () => {
    let release = (): void => undefined;
    const slow = await serveApi((_, response) => (release = () => response.end('done at last')));
    const tool = await make({ url: `${slow.url}/slow` });
    const call = callText(world.assay, tool.name);
    await until('the API is asked', () => (slow.seen.length > 0 ? true : undefined));
    await world.admin.delete(`/tools/${tool.id}`);
    release();
    expect(await call).toBe('done at last');
  });

  it('is refused for a tool of a gateway or of the config file, with its origin', async () => {
    for (const [server, name, by] of [
      ['plain', 'echo', 'the gateway \\"plain\\"'],
      ['local', 'fixed', 'the config file'],
    ] as const) {
      const id = String((await toolIn(world.admin, server, name))['id']);
      for (const answer of [
        await world.admin.delete(`/tools/${id}`),
        await world.admin.put(`/tools/${id}`, { url: 'http://nowhere.invalid/' }),
      ]) {
        expect(verdictOf(answer)).toBe('409 TOOL_READ_ONLY');
        expect(answer.text).toContain(`comes from ${by}`);
      }
      const settable = { title: 'Said all the same', annotations: { openWorldHint: true }, enabled: true };
      expect(verdictOf(await world.admin.put(`/tools/${id}`, settable))).toBe('200');
    }
  });
});

describe('creating, changing and deleting REST tools', () => {
  it('requires the scope admin: read or mcp is not enough', async () => {
    const tool = await make();
    for (const scope of ['read', 'mcp'] as const) {
      const token = await keepToken(world.home, `less-${scope}`, { scopes: [scope] });
      const less = adminClient(world.assay, token);
      await until('the token is known', async () =>
        (await less.get('/tools')).status === 401 ? undefined : true,
      );
      expect(verdictOf(await less.post('/tools', { name: 'x', url: api.url }))).toBe('403 SCOPE_MISSING');
      expect(verdictOf(await less.put(`/tools/${tool.id}`, { method: 'PUT' }))).toBe('403 SCOPE_MISSING');
      expect(verdictOf(await less.delete(`/tools/${tool.id}`))).toBe('403 SCOPE_MISSING');
    }
    expect(verdictOf(await adminClient(world.assay).post('/tools', { name: 'x', url: api.url }))).toBe(
      '401 TOKEN_REQUIRED',
    );
  });
});

describe('a REST tool next to tools of servers', () => {
  it('can be in a toolset, have notes, and be called at the endpoint of its source', async () => {
    const tool = await make({ description: 'Reads it.' });
    const toolset = {
      name: 'mixed',
      tools: [{ namespacedName: `local.${tool.name}` }, { namespacedName: 'plain.echo' }],
    };
    expect(verdictOf(await world.admin.post('/toolsets', toolset))).toBe('201');
    const base = world.assay.url.replace('/mcp/all', '/mcp');
    const names = async (path: string): Promise<readonly string[]> =>
      namesAt(await modernAsk(`${base}${path}`, 'tools/list'), 'result', 'tools');
    expect(await names('/toolsets/mixed')).toEqual([tool.name, 'plain_echo']);
    const local = await names('/servers/local');
    expect(local).toContain(tool.name);
    expect(local).toContain('fixed');
    expect(local).not.toContain('plain_echo');
    expect(await callText({ url: `${base}/servers/local` }, tool.name)).toBe('{"ok":true}');
    const note = { toolset: 'mixed', name: 'n', note: 'Only on Mondays.' };
    expect(verdictOf(await world.admin.post(`/tools/${tool.id}/notes`, note))).toBe('201');
    const shown = await listedTool(`${base}/toolsets/mixed`, tool.name);
    expect(String(at(shown, 'description'))).toMatch(/^Reads it\.[^]*Only on Mondays\./);
    expect(String(at(await listedTool(world.assay.url, tool.name), 'description'))).toBe('Reads it.');
  });

  it('is found with the same filters, and its source is listed as a gateway', async () => {
    const tool = await make({ method: 'DELETE' });
    const found = (
      await world.admin.get(`/tools?server=local&destructiveHint=true&text=${tool.name}`)
    ).json();
    expect(namesAt(found, 'tools')).toEqual([tool.name]);
    const gateway = (await world.admin.get('/gateways/local')).json();
    expect(gateway).toMatchObject({ name: 'local', transport: 'local', state: 'up', reachable: true });
  });
});

describe('a registered tool whose encryption key is lost', () => {
  it('is refused with the cause, and can be deleted or defined again', async () => {
    const first = await openRestWorld();
    const ids: string[] = [];
    for (const name of ['one', 'two'])
      ids.push(
        textAt(
          (await first.admin.post('/tools', { name, url: `${api.url}/${name}`, method: 'GET' })).json(),
          'id',
        ),
      );
    await first.assay.stop();
    writeFileSync(join(first.home, 'encryption.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
    const { admin, assay } = await openRestWorld({ home: first.home });
    const gateways = listAt((await admin.get('/gateways')).json(), 'gateways');
    expect(gateways).toMatchObject([
      {
        name: 'local.one',
        state: 'refused',
        cause: expect.stringContaining('another encryption key') as unknown,
      },
      { name: 'local.two', state: 'refused' },
    ]);
    expect(verdictOf(await admin.put(`/tools/${ids[0]!}`, { method: 'PUT' }))).toBe('422 BODY_INVALID');
    expect(verdictOf(await admin.put(`/tools/${ids[0]!}`, { method: 'PUT', url: `${api.url}/one` }))).toBe(
      '200',
    );
    expect(verdictOf(await admin.delete(`/tools/${ids[1]!}`))).toBe('204');
    expect(await callText(assay, 'one')).toBe('{"ok":true}');
    expect(namesAt((await admin.get('/gateways')).json(), 'gateways')).toEqual(['local']);
  });
});

describe('a registered tool that the config file also defines', () => {
  it('yields to that one, which is unchanged when the registered tool is deleted', async () => {
    const home = (await openRestWorld()).home;
    const config = writeConfig({}, { tools: { twin: { url: `${api.url}/of-file`, method: 'GET' } } });
    const first = await openRestWorld({ home });
    await first.admin.post('/tools', { name: 'twin', url: `${api.url}/registered`, method: 'DELETE' });
    await first.assay.stop();
    const token = await keepToken(home, 'again', { scopes: ['admin'] });
    const assay = await startGateway({ home, config, env: { ASSAY_HTTP_ALLOW_LOOPBACK: 'true' } });
    await assay.settled();
    const admin = adminClient(assay, token);
    const tool = await toolIn(admin, 'local', 'twin');
    expect(at((await admin.get('/gateways')).json(), 'gateways')).toContainEqual(
      expect.objectContaining({
        name: 'local.twin',
        cause: 'the config file has another entry with this name',
      }),
    );
    const path = `/tools/${String(tool['id'])}`;
    const url = async (): Promise<Json | undefined> => at((await admin.get(path)).json(), 'url');
    expect(await url()).toBe(`${api.url}/of-file`);
    expect(verdictOf(await admin.put(path, { url: `${api.url}/other` }))).toBe('409 TOOL_READ_ONLY');
    await admin.put(path, { title: 'Of the file' });
    expect(verdictOf(await admin.delete(path))).toBe('204');
    expect([await url(), at((await admin.get(path)).json(), 'title')]).toEqual([
      `${api.url}/of-file`,
      'Of the file',
    ]);
    expect(verdictOf(await admin.delete(path))).toBe('409 TOOL_READ_ONLY');
    expect(namesAt((await admin.get('/gateways')).json(), 'gateways')).toEqual(['local']);
  });
});

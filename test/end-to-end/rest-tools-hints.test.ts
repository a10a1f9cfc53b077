// Hints inferred from the HTTP method, as official clients read them, and how they can be overridden.
import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import { connectClient, connectFirst } from '../support/clients.ts';
import { claimsIn, short, toolIn, toolsOf } from '../support/hints.ts';
import { runAssay } from '../support/commands.ts';
import { at, parseJson, textAt, type Json, type JsonObject } from '../support/json.ts';
import { listedTool, openRestWorld, serveApi, type RestWorld, type WebApi } from '../support/rest-tools.ts';

let world: RestWorld;
let api: WebApi;
beforeAll(async () => {
  api = await serveApi();
  world = await openRestWorld();
});

async function make(name: string, entry: JsonObject = {}): Promise<Json> {
  const made = await world.admin.post('/tools', { name, url: `${api.url}/${name}`, ...entry });
  if (made.status !== 201) throw new Error(made.text);
  return made.json();
}

interface Listed {
  readonly name: string;
  readonly title?: string | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** Official clients of all kinds. */
const CLIENTS: readonly (readonly [label: string, list: () => Promise<readonly Listed[]>])[] = [
  ['1.x', async () => (await (await connectFirst(world.assay)).listTools()).tools],
  ...(['legacy', 'modern', 'auto'] as const).map(
    (mode) =>
      [
        `2.x ${mode}`,
        async (): Promise<readonly Listed[]> =>
          (await (await connectClient(world.assay, mode)).listTools()).tools,
      ] as const,
  ),
];

/** readOnly, destructive, idempotent, openWorld; the last row has the specification's defaults. */
const TABLE: readonly (readonly [method: string | undefined, hints: string])[] = [
  ['GET', '+-++'],
  ['HEAD', '+-++'],
  ['OPTIONS', '+-++'],
  ['POST', '---+'],
  ['PUT', '--++'],
  ['PATCH', '---+'],
  ['DELETE', '-+++'],
  [undefined, '-+-+'],
];
const nameFor = (method: string | undefined): string => `by-${(method ?? 'nobody').toLowerCase()}`;

describe('a method', () => {
  beforeAll(async () => {
    for (const [method] of TABLE) await make(nameFor(method), method === undefined ? {} : { method });
  });

  it.each(CLIENTS)(
    'yields all four hints, and the title in both places, without _meta of Assay, for client %s',
    async (_, list) => {
      const listed = await list();
      expect(JSON.stringify(listed)).not.toMatch(/"_meta"|assay\//);
      const tools = new Map(listed.map((tool) => [tool.name, tool]));
      const shown = TABLE.map(([method]) => {
        const { title, annotations = {} } = tools.get(nameFor(method)) ?? {};
        return [method, short((hint) => annotations[hint] as Json | undefined), title, annotations['title']];
      });
      const title = (method: string | undefined): string => `By ${(method ?? 'nobody').toLowerCase()}`;
      expect(shown).toEqual(TABLE.map(([method, hints]) => [method, hints, title(method), title(method)]));
    },
  );

  it.each(TABLE)('implies hints with their reason, or no claims if missing: %s', async (method, hints) => {
    const tool = await toolIn(world.admin, 'local', nameFor(method));
    const decided = (member: string): readonly (Json | undefined)[] =>
      ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].map((hint) =>
        at(tool, 'hints', hint, member),
      );
    const signs = Array.from(hints).map((sign) => sign === '+');
    expect([decided('effective'), decided('decision'), decided('emitted')]).toEqual([signs, signs, signs]);
    expect(decided('decidedBy')).toEqual(Array(4).fill(method === undefined ? 'default' : 'inferred'));
    expect(claimsIn(tool['hints'])).toEqual(
      method === undefined ? ['', '', '', ''] : Array.from(hints).map((sign) => `i${sign}`),
    );
    expect([at(tool, 'method'), at(tool, 'methodOrigin')]).toEqual([
      method ?? 'POST',
      method === undefined ? 'default' : 'given',
    ]);
    if (method !== undefined)
      expect(at(tool, 'hints', 'readOnlyHint', 'reason')).toBe(`inferred: ${method} request`);
  });

  it('defaults to POST if missing, and then counts as destructive until overridden', async () => {
    const { id } = await toolIn(world.admin, 'local', nameFor(undefined));
    const found = await toolsOf(world.admin, 'server=local&destructiveHint=true');
    expect([...found.keys()].filter((name) => name.startsWith('by-'))).toEqual(['by-delete', 'by-nobody']);
    const overridden = await world.admin.put(`/tools/${String(id)}`, {
      annotations: { destructiveHint: false },
    });
    expect(at(overridden.json(), 'hints', 'destructiveHint', 'decidedBy')).toBe('override');
    expect(at(await listedTool(world.assay.url, 'by-nobody'), 'annotations', 'destructiveHint')).toBe(false);
    await world.admin.put(`/tools/${String(id)}`, { annotations: {} });
  });
});

describe('annotations in the request that creates a tool', () => {
  it.each<[what: string, entry: JsonObject, claims: readonly string[], shown: string]>([
    [
      'count before its method',
      { method: 'GET', annotations: { openWorldHint: false } },
      ['i+', 'i-', 'i+', 'd- i+'],
      '+-+-',
    ],
    ['count alone without one', { annotations: { readOnlyHint: true } }, ['d+', '', '', ''], '+-++'],
    [
      'may warn of a method that reads',
      { method: 'GET', annotations: { destructiveHint: true } },
      ['i+', 'd+ i-', 'i+', 'i+'],
      '-+++',
    ],
    [
      'may say of a method that destroys that it only reads',
      { method: 'DELETE', annotations: { readOnlyHint: true } },
      ['d+ i-', 'i+', 'i+', 'i+'],
      '+-++',
    ],
    [
      'may clear a method that destroys',
      { method: 'DELETE', annotations: { destructiveHint: false } },
      ['i-', 'd- i+', 'i+', 'i+'],
      '--++',
    ],
  ])('%s', async (what, entry, claims, shown) => {
    const name = what.replaceAll(' ', '-');
    const tool = await make(name, entry);
    expect(claimsIn(at(tool, 'hints'))).toEqual(claims);
    const listed = await listedTool(world.assay.url, name);
    expect(short((hint) => at(listed, 'annotations', hint))).toBe(shown);
  });

  it('are refused with HINTS_CONTRADICT if they contradict each other, and nothing is created', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: true };
    const answer = await world.admin.post('/tools', { name: 'torn', url: api.url, annotations });
    expect(verdictOf(answer)).toBe('422 HINTS_CONTRADICT');
    expect(at(answer.json(), 'errors', 0, 'pointer')).toBe('/annotations');
    expect(await listedTool(world.assay.url, 'torn')).toBeUndefined();
  });

  it('record their author', async () => {
    const made = await make('told', { method: 'GET', annotations: { openWorldHint: false } });
    const { reason, decidedBy } = at(made, 'hints', 'openWorldHint') as JsonObject;
    expect([decidedBy, reason]).toEqual([
      'declared',
      expect.stringMatching(/^"[^"]+" set it when creating the tool$/),
    ]);
  });

  const ALL = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };
  const claimsOf = (tool: Json): readonly string[] => claimsIn(at(tool, 'hints'));

  it('yield to later overrides', async () => {
    const id = textAt(await make('said', { method: 'GET', annotations: { idempotentHint: false } }), 'id');
    const overridden = await world.admin.put(`/tools/${id}`, { annotations: { idempotentHint: true } });
    expect(claimsOf(overridden.json())[2]).toBe('o+ d- i+');
  });

  it('are all inferred again after a PUT without them, overridden or not', async () => {
    for (const [name, override] of [
      ['all', undefined],
      ['all-overridden', { idempotentHint: true }],
    ] as const) {
      const id = textAt(await make(name, { method: 'GET', annotations: ALL }), 'id');
      if (override !== undefined)
        await world.admin.ask('PATCH', `/tools/${id}`, { body: { annotations: override } });
      const back = await world.admin.put(`/tools/${id}`, { annotations: {} });
      expect(claimsOf(back.json())).toEqual(['i+', 'i-', 'i+', 'i+']);
      expect([at(back.json(), 'drift'), short((hint) => at(back.json(), 'annotations', hint))]).toEqual([
        undefined,
        '+-++',
      ]);
    }
  });

  it('are inferred again one by one after a PATCH with null, and so are those that a PUT does not name', async () => {
    const id = textAt(await make('single', { method: 'GET', annotations: ALL }), 'id');
    const body = { annotations: { readOnlyHint: null, destructiveHint: null } };
    const patched = (await world.admin.ask('PATCH', `/tools/${id}`, { body })).json();
    expect(claimsOf(patched)).toEqual(['i+', 'i-', 'd- i+', 'd- i+']);
    const put = (await world.admin.put(`/tools/${id}`, { annotations: { openWorldHint: true } })).json();
    expect(claimsOf(put)).toEqual(['i+', 'i-', 'i+', 'o+ d- i+']);
  });

  it('leave no title behind that is set to null', async () => {
    const made = await make('titled', { title: 'Given', annotations: { title: 'Given' } });
    const id = textAt(made, 'id');
    const body = { title: null };
    expect(at((await world.admin.ask('PATCH', `/tools/${id}`, { body })).json(), 'title')).toBe('Titled');
    expect(at((await world.admin.get(`/tools/${id}`)).json(), 'annotations', 'title')).toBe('Titled');
  });

  it('are taken back by `assay hints` too', async () => {
    await make('by-command', { method: 'GET', annotations: ALL });
    const args = ['hints', 'by-command', '--set', 'openWorldHint=inherit', '--json'];
    const { stdout } = await runAssay(args, { env: { ASSAY_HOME: world.home } });
    expect(at(parseJson(stdout), 'hints', 'openWorldHint', 'decidedBy')).toBe('inferred');
  });
});

describe('a change of the method', () => {
  it('changes the hints at once, without a review', async () => {
    const id = textAt(await make('turned', { method: 'GET' }), 'id');
    const client = await connectClient(world.assay, 'legacy');
    await client.listTools();
    const turned = await world.admin.ask('PATCH', `/tools/${id}`, { body: { method: 'DELETE' } });
    expect([verdictOf(turned), at(turned.json(), 'id'), at(turned.json(), 'drift')]).toEqual([
      '200',
      id,
      undefined,
    ]);
    expect(short((hint) => at(turned.json(), 'annotations', hint))).toBe('-+++');
    const { tools } = await client.listTools();
    const shown = tools.find(({ name }) => name === 'turned')?.annotations;
    expect(short((hint) => shown?.[hint])).toBe('-+++');
  });

  it('to null restores the default method and its hints', async () => {
    const id = textAt(await make('taken-back', { method: 'GET' }), 'id');
    const back = await world.admin.put(`/tools/${id}`, { method: null });
    expect([at(back.json(), 'method'), at(back.json(), 'methodOrigin')]).toEqual(['POST', 'default']);
    expect(short((hint) => at(back.json(), 'annotations', hint))).toBe('-+-+');
  });

  it('or the URL keeps manual overrides, and does not count as drift', async () => {
    const id = textAt(await make('kept', { method: 'POST' }), 'id');
    await world.admin.put(`/tools/${id}`, { annotations: { openWorldHint: false }, title: 'Kept' });
    for (const body of [{ url: `${api.url}/elsewhere/{id}` }, { method: 'PUT' }]) {
      const turned = (await world.admin.put(`/tools/${id}`, body)).json();
      expect([at(turned, 'title'), at(turned, 'drift')]).toEqual(['Kept', undefined]);
      expect(at(turned, 'hints', 'openWorldHint', 'effective')).toBe(false);
    }
    await world.admin.post('/gateways/local/refresh');
    const kept = (await world.admin.get(`/tools/${id}`)).json();
    expect(short((hint) => at(kept, 'annotations', hint))).toBe('--+-');
    expect(at(kept, 'drift')).toBeUndefined();
  });
});

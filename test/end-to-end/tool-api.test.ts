// An operator's overrides through the REST API, and their effects.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { claimsIn, short, toolIn } from '../support/hints.ts';
import type { Answer } from '../support/http.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { modernAsk } from '../support/modern.ts';
import { tempDir } from '../support/paths.ts';
import { openAt } from '../support/stores.ts';
import { readableAuditEvents } from '../support/store-values.ts';
import { keepToken } from '../support/tokens.ts';

endAfterEach();

type Declared = 'nothing' | 'reads' | 'writes' | 'destroys' | 'both';

/** The declarations of each kind of tool. */
const KINDS: Readonly<Record<Declared, JsonObject>> = {
  nothing: {},
  reads: { annotations: { readOnlyHint: true } },
  writes: { annotations: { readOnlyHint: false, destructiveHint: false, title: 'Writer', mood: 'calm' } },
  destroys: { annotations: { destructiveHint: true } },
  both: { annotations: { readOnlyHint: true, destructiveHint: true } },
};
const OF_EACH = 40;
const kinds = Object.keys(KINDS) as Declared[];
const tools = kinds.flatMap((kind) =>
  Array.from({ length: OF_EACH }, (_, index) => toolNamed(`${kind}_${index}`, KINDS[kind])),
);
const FILTERED: readonly JsonObject[] = [
  toolNamed('read_file', { annotations: { readOnlyHint: true, openWorldHint: false } }),
  toolNamed('delete_file', { annotations: { readOnlyHint: true, openWorldHint: false } }),
  toolNamed('send', { title: 'Send mail', annotations: { ...KINDS.writes, openWorldHint: true } }),
  toolNamed('odd', { annotations: { readOnlyHint: 'maybe' } }),
  toolNamed('silent', { description: 'Opens the ÄTHER.' }),
];
const filtered = filedServer(FILTERED, { quiet: true });

let assay: Gateway;
let admin: AdminClient;
let store: Store;
beforeAll(async () => {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const api = filedServer(tools, { quiet: true }).entry;
  assay = await startGateway({ servers: { api, filtered: filtered.entry }, home });
  admin = adminClient(assay, token);
  await assay.settled();
  store = await openAt({ home, databaseUrl: undefined });
});

const taken = new Map<Declared, number>();

interface Taken {
  readonly id: string;
  readonly name: string;
  read(): Promise<Answer>;
  put(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** As clients see it. */
  listed(): Promise<Json | undefined>;
  auditEvents(): Promise<readonly { action: string; subject: string; before: unknown; after: unknown }[]>;
}

/** Returns a tool without overrides that no other test uses. */
async function takeTool(kind: Declared): Promise<Taken> {
  const index = taken.get(kind) ?? 0;
  taken.set(kind, index + 1);
  const name = `${kind}_${index}`;
  const id = textAt(await toolIn(admin, 'api', name), 'id');
  return {
    id,
    name: `api_${name}`,
    read: () => admin.get(`/tools/${id}`),
    put: (body, headers = {}) => admin.put(`/tools/${id}`, body, headers),
    patch: (body, headers = {}) => admin.ask('PATCH', `/tools/${id}`, { body, headers }),
    listed: () => listed(`api_${name}`),
    auditEvents: async () => {
      const found = await readableAuditEvents(store, { limit: 100, after: 0, targetId: id });
      return found.map(({ action, subject, before, after }) => ({ action, subject, before, after }));
    },
  };
}

async function listed(name: string): Promise<Json | undefined> {
  const all = listAt(await modernAsk(assay.url, 'tools/list'), 'result', 'tools');
  return all.find((tool) => at(tool, 'name') === name);
}

const shown = (tool: Json | undefined): string => short((hint) => at(tool, 'annotations', hint));
const problemsOf = (answer: Answer): readonly string[] =>
  listAt(answer.json(), 'errors').map((one) => `${String(at(one, 'pointer'))} ${textAt(one, 'code')}`);

type Step = readonly [method: 'put' | 'patch', body: JsonObject];
const annotations = (values: JsonObject): JsonObject => ({ annotations: values });

describe('an override of hints', () => {
  it.each<[name: string, kind: Declared, steps: readonly Step[], claims: string, shown: string]>([
    [
      'PUT sets the given hints, and keeps the declared ones beneath',
      'writes',
      [['put', annotations({ readOnlyHint: true, openWorldHint: false })]],
      'o+ d-|d-||o-',
      '+-.-',
    ],
    [
      'PUT removes the overrides that it does not include',
      'writes',
      [
        ['put', annotations({ readOnlyHint: true, openWorldHint: false })],
        ['put', annotations({ idempotentHint: true })],
      ],
      'd-|d-|o+|',
      '--+.',
    ],
    [
      'PUT with empty annotations removes all overrides',
      'writes',
      [
        ['put', annotations({ readOnlyHint: true })],
        ['put', annotations({})],
      ],
      'd-|d-||',
      '--..',
    ],
    [
      'PUT without annotations leaves the overrides unchanged',
      'writes',
      [
        ['put', annotations({ readOnlyHint: true })],
        ['put', { enabled: true, reason: 'why not' }],
      ],
      'o+ d-|d-||',
      '+-..',
    ],
    [
      'PATCH sets the given hints and leaves the rest unchanged',
      'writes',
      [
        ['put', annotations({ readOnlyHint: true })],
        ['patch', annotations({ openWorldHint: false })],
        ['patch', annotations({})],
      ],
      'o+ d-|d-||o-',
      '+-.-',
    ],
    [
      'null restores the declared value of one hint, by PATCH and by PUT',
      'writes',
      [
        ['put', annotations({ readOnlyHint: true, openWorldHint: false, idempotentHint: true })],
        ['patch', annotations({ readOnlyHint: null })],
        ['put', annotations({ openWorldHint: null, idempotentHint: true })],
      ],
      'd-|d-|o+|',
      '--+.',
    ],
    [
      'false differs from an absent hint',
      'nothing',
      [['put', annotations({ readOnlyHint: false })]],
      'o-|||',
      '-...',
    ],
    [
      'snake_case and a wrapper have the same meaning',
      'nothing',
      [['patch', { tool: { annotations: { read_only_hint: true, open_world_hint: false } } }]],
      'o+|||o-',
      '+..-',
    ],
  ])('%s', async (_, kind, steps, claims, expected) => {
    const tool = await takeTool(kind);
    for (const [method, body] of steps) expect(verdictOf(await tool[method](body))).toBe('200');
    const now = (await tool.read()).json();
    expect(claimsIn(at(now, 'hints')).join('|')).toBe(claims);
    expect([shown(now), shown(await tool.listed())]).toEqual([expected, expected]);
  });

  it('is shown together with unknown declared members', async () => {
    const tool = await takeTool('writes');
    await tool.put(annotations({ openWorldHint: true }));
    expect(at(await tool.listed(), 'annotations')).toEqual({
      ...(KINDS.writes['annotations'] as JsonObject),
      openWorldHint: true,
    });
  });

  it('records its author, time and reason', async () => {
    const tool = await takeTool('nothing');
    await tool.put({ ...annotations({ readOnlyHint: true }), reason: 'It only lists.' });
    const hint = at((await tool.read()).json(), 'hints', 'readOnlyHint');
    expect([at(hint, 'decidedBy'), at(hint, 'claims', 0)]).toEqual([
      'override',
      {
        value: true,
        kind: 'override',
        source: 'operator',
        origin: 'boss',
        reason: 'It only lists.',
        at: expect.any(String),
        digest: textAt((await tool.read()).json(), 'digest'),
        mayLower: true,
      },
    ]);
  });
});

describe('a contradiction between hints', () => {
  it.each<[name: string, kind: Declared, steps: readonly Step[], verdict: string]>([
    [
      'is refused if one request sets both',
      'nothing',
      [['put', annotations({ readOnlyHint: true, destructiveHint: true })]],
      '422',
    ],
    [
      'is refused if destructive overrides declared read-only',
      'reads',
      [['put', annotations({ destructiveHint: true })]],
      '422',
    ],
    [
      'is refused if read-only overrides declared destructive',
      'destroys',
      [['put', annotations({ readOnlyHint: true })]],
      '422',
    ],
    ['is refused by PATCH too', 'destroys', [['patch', annotations({ readOnlyHint: true })]], '422'],
    [
      'is refused if PATCH contradicts an earlier override',
      'nothing',
      [
        ['put', annotations({ destructiveHint: true })],
        ['patch', annotations({ readOnlyHint: true })],
      ],
      '422',
    ],
    [
      'does not arise if PUT replaces the earlier override',
      'nothing',
      [
        ['put', annotations({ destructiveHint: true })],
        ['put', annotations({ readOnlyHint: true })],
      ],
      '200',
    ],
    [
      'is refused if null restores a declared value that contradicts an override',
      'reads',
      [
        ['put', annotations({ readOnlyHint: false, destructiveHint: true })],
        ['patch', annotations({ readOnlyHint: null })],
      ],
      '422',
    ],
    [
      'does not arise from the default of destructive',
      'nothing',
      [['put', annotations({ readOnlyHint: true })]],
      '200',
    ],
    [
      'does not arise from the default of read-only',
      'nothing',
      [['put', annotations({ destructiveHint: true })]],
      '200',
    ],
    [
      'does not arise if the declared hint is overridden too',
      'destroys',
      [['put', annotations({ readOnlyHint: true, destructiveHint: false })]],
      '200',
    ],
    [
      'declared by the server is resolved by overriding one hint',
      'both',
      [['put', annotations({ destructiveHint: false })]],
      '200',
    ],
    [
      'declared by the server does not prevent changes of title and enabled',
      'both',
      [['put', { title: 'Both', enabled: true }]],
      '200',
    ],
  ])('%s', async (_, kind, steps, expected) => {
    const tool = await takeTool(kind);
    for (const [method, body] of steps.slice(0, -1)) expect(verdictOf(await tool[method](body))).toBe('200');
    const before = await tool.read();
    const auditEvents = await tool.auditEvents();
    const [method, body] = steps.at(-1)!;
    const answer = await tool[method](body);
    expect(verdictOf(answer)).toBe(expected === '422' ? '422 HINTS_CONTRADICT' : expected);
    if (expected === '200') return;
    expect(problemsOf(answer)).toEqual(['/annotations HINTS_CONTRADICT']);
    expect((await tool.read()).text).toBe(before.text);
    expect(await tool.auditEvents()).toEqual(auditEvents);
  });

  it('is reported at its position in the body as sent', async () => {
    const tool = await takeTool('reads');
    const answer = await tool.put({ tool: { annotations: { destructive_hint: true } } });
    expect(problemsOf(answer)).toEqual(['/tool/annotations HINTS_CONTRADICT']);
  });
});

describe('a body', () => {
  it.each<[name: string, body: unknown, problems: readonly string[]]>([
    ['an unknown field', { annotation: {} }, ['/annotation unknown']],
    ['an unknown hint', annotations({ readOnly: true }), ['/annotations/readOnly unknown']],
    ['an unknown field inside a wrapper', { tool: { x: 1 } }, ['/tool/x unknown']],
    ['a field next to a wrapper', { tool: { enabled: true }, enabled: true }, ['/enabled unknown']],
    [
      'two spellings of a hint',
      annotations({ readOnlyHint: true, read_only_hint: false }),
      ['/annotations/read_only_hint twice'],
    ],
    ['a string as a hint', annotations({ readOnlyHint: 'true' }), ['/annotations/readOnlyHint invalid']],
    ['null as annotations', { annotations: null }, ['/annotations invalid']],
    ['an empty title', { title: '' }, ['/title invalid']],
    ['null as enabled', { enabled: null }, ['/enabled invalid']],
    ['two different titles', { title: 'a', annotations: { title: 'b' } }, ['/annotations/title invalid']],
    ['a name that clients would reject', { name: 'x y' }, ['/name invalid']],
    ['__proto__', '{"__proto__":{"enabled":false}}', ['/__proto__ unknown']],
    ['__proto__ as a hint', '{"annotations":{"__proto__":true}}', ['/annotations/__proto__ unknown']],
  ])('with %s is refused with its position, and changes nothing', async (_, body, problems) => {
    const tool = await takeTool('nothing');
    const before = (await tool.read()).text;
    for (const method of ['put', 'patch'] as const) {
      const answer = await tool[method](body);
      expect([verdictOf(answer), problemsOf(answer)]).toEqual(['422 BODY_INVALID', problems]);
    }
    expect((await tool.read()).text).toBe(before);
    expect(await tool.auditEvents()).toEqual([]);
    taken.set('nothing', taken.get('nothing')! - 1);
  });

  it('for an unknown tool is refused', async () => {
    for (const id of ['tool_00000000000000000000', '__proto__', 'a%2Fb', 'constructor'])
      expect(verdictOf(await admin.put(`/tools/${id}`, { enabled: true }))).toBe('404 TOOL_UNKNOWN');
  });
});

describe('a change', () => {
  it('is recorded with the values before and after, and its author', async () => {
    const tool = await takeTool('nothing');
    await tool.put(annotations({ readOnlyHint: true }));
    await tool.patch({ enabled: false, title: 'Lister' });
    expect(await tool.auditEvents()).toEqual([
      {
        action: 'tool.update',
        subject: 'boss',
        before: { annotations: {}, enabled: true },
        after: { annotations: { readOnlyHint: true }, enabled: true },
      },
      {
        action: 'tool.update',
        subject: 'boss',
        before: { annotations: { readOnlyHint: true }, enabled: true },
        after: { annotations: { readOnlyHint: true }, title: 'Lister', enabled: false },
      },
    ]);
    await tool.patch({ enabled: true });
  });

  it('can remove overrides even if the server contradicts itself', async () => {
    const tool = await takeTool('both');
    expect(verdictOf(await tool.patch(annotations({ idempotentHint: true })))).toBe('200');
    expect(verdictOf(await tool.patch(annotations({ idempotentHint: null })))).toBe('200');
    expect(verdictOf(await tool.put(annotations({ openWorldHint: false })))).toBe('200');
    expect(verdictOf(await tool.put(annotations({})))).toBe('200');
    expect(verdictOf(await tool.patch(annotations({ readOnlyHint: true })))).toBe('422 HINTS_CONTRADICT');
  });

  it('without a difference keeps the ETag and records nothing', async () => {
    const tool = await takeTool('writes');
    const body = { annotations: { readOnlyHint: true, title: 'T' }, enabled: true, reason: 'so' };
    const tag = (await tool.put(body)).headers.etag;
    const auditEvents = await tool.auditEvents();
    expect(auditEvents).toHaveLength(1);
    for (const same of [
      body,
      { tool: body },
      { annotations: { readOnlyHint: true, title: 'T' } },
      { title: 'T', annotations: { read_only_hint: true } },
      { enabled: true },
      { reason: 'another one, for nothing' },
      {},
    ])
      for (const method of ['put', 'patch'] as const)
        expect([(await tool[method](same)).headers.etag, same]).toEqual([tag, same]);
    expect(await tool.auditEvents()).toEqual(auditEvents);
  });

  it('succeeds for only one of twenty concurrent requests with the same ETag', async () => {
    for (const method of ['put', 'patch'] as const) {
      const tool = await takeTool('nothing');
      const tag = { 'if-match': String((await tool.read()).headers.etag) };
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => tool[method]({ title: `Title ${index}` }, tag)),
      );
      const verdicts = answers.map(verdictOf).toSorted();
      expect(verdicts).toEqual(['200', ...Array<string>(19).fill('412 PRECONDITION_FAILED')]);
      const done = answers.find(({ status }) => status === 200)!;
      expect(at((await tool.read()).json(), 'title')).toBe(at(done.json(), 'title'));
      expect(await tool.auditEvents()).toHaveLength(1);
    }
  });

  it('succeeds for every concurrent request without an ETag, and no hint is lost', async () => {
    const tool = await takeTool('nothing');
    const hints = ['readOnlyHint', 'idempotentHint', 'openWorldHint'];
    const answers = await Promise.all(
      Array.from({ length: 21 }, (_, index) =>
        tool.patch(annotations({ [hints[index % 3]!]: index < 18 ? index % 2 === 0 : true })),
      ),
    );
    expect(answers.map(verdictOf)).toEqual(Array<string>(21).fill('200'));
    expect(shown((await tool.read()).json())).toMatch(/^[+-]\.[+-][+-]$/);
  });

  it('is refused with a stale, weak or foreign ETag, and accepted with a list that includes it or *', async () => {
    const tool = await takeTool('nothing');
    const first = String((await tool.read()).headers.etag);
    expect(verdictOf(await tool.put({ title: 'one' }, { 'if-match': first }))).toBe('200');
    const now = String((await tool.read()).headers.etag);
    for (const stale of [first, `W/${now}`, '"x"', ''])
      expect(verdictOf(await tool.put({ title: 'two' }, { 'if-match': stale }))).toBe(
        '412 PRECONDITION_FAILED',
      );
    expect(verdictOf(await tool.put({ title: 'two' }, { 'if-match': `"x", ${now}` }))).toBe('200');
    expect(verdictOf(await tool.put({ title: 'three' }, { 'if-match': '*' }))).toBe('200');
  });
});

describe('a title', () => {
  it('is shown in both places wherever it was set, and null restores the declared one', async () => {
    const tool = await takeTool('writes');
    const titles = async (): Promise<readonly (Json | undefined)[]> => {
      const one = await tool.listed();
      return [at(one, 'title'), at(one, 'annotations', 'title'), at((await tool.read()).json(), 'title')];
    };
    expect(await titles()).toEqual([undefined, 'Writer', 'Writer']);
    for (const body of [
      { title: 'Häns "x"' },
      { annotations: { title: 'Other' } },
      { title: 'C', annotations: { title: 'C' } },
    ]) {
      await tool.patch(body);
      const title = 'title' in body ? body.title : body.annotations.title;
      expect(await titles()).toEqual([title, title, title]);
    }
    await tool.patch({ annotations: { title: null } });
    expect(await titles()).toEqual([undefined, 'Writer', 'Writer']);
    await tool.patch({ title: 'Again' });
    await tool.patch({ title: null });
    expect(await titles()).toEqual([undefined, 'Writer', 'Writer']);
  });
});

describe('a disabled tool', () => {
  it('is neither listed nor callable until it is enabled again, and the error says why', async () => {
    const tool = await takeTool('nothing');
    const client = await connectClient({ url: assay.url }, 'legacy');
    const call = (): Promise<unknown> => client.callTool({ name: tool.name, arguments: {} });
    await expect(call()).resolves.toMatchObject({ content: [{ type: 'text' }] });
    await tool.patch({ enabled: false });
    expect(await tool.listed()).toBeUndefined();
    await expect(call()).rejects.toThrow(/disabled|operator/);
    expect(at((await tool.read()).json(), 'enabled')).toBe(false);
    const off = await admin.get('/tools?enabled=false');
    expect(listAt(off.json(), 'tools').map((one) => at(one, 'id'))).toEqual([tool.id]);
    await tool.patch({ enabled: true });
    expect(at(await tool.listed(), 'name')).toBe(tool.name);
    await expect(call()).resolves.toMatchObject({ content: [{ type: 'text' }] });
  });
});

describe('the list of tools', () => {
  const found = async (query: string): Promise<readonly string[]> => {
    const answer = await admin.get(`/tools?limit=1000&${query}`);
    if (answer.status !== 200) throw new Error(answer.text);
    const names = listAt(answer.json(), 'tools').map((tool) => textAt(tool, 'originalName'));
    expect(at(answer.json(), 'total')).toBe(names.length);
    return names;
  };
  const ALL = FILTERED.map((tool) => String(tool['name']));

  it.each<[query: string, names: readonly string[]]>([
    ['', ALL],
    ['readOnlyHint=true', ['read_file', 'delete_file']],
    ['readOnlyHint=false', ['send', 'odd', 'silent']],
    ['read_only_hint=true', ['read_file', 'delete_file']],
    // A read-only tool destroys nothing and can be repeated.
    ['destructiveHint=false', ['read_file', 'delete_file']],
    ['idempotentHint=true', ['read_file', 'delete_file']],
    ['openWorldHint=false', ['read_file', 'delete_file']],
    ['openWorldHint=true&readOnlyHint=false', ['send', 'odd', 'silent']],
    ['openWorldHint=true&readOnlyHint=true', []],
    ['lint=not-boolean', ['odd']],
    ['lint=telling-words', ['delete_file']],
    ['lint=none', ['read_file']],
    ['lint=any', ['delete_file', 'send', 'odd', 'silent']],
    ['drift=any', []],
    ['drift=none', ALL],
    ['enabled=true', ALL],
    ['enabled=false', []],
    ['text=file', ['read_file', 'delete_file']],
    ['text=FILE%20read', ['read_file']],
    ['text=mail', ['send']],
    ['text=%C3%A4ther', ['silent']],
    ['text=nothing-of-that', []],
  ])('contains the matching tools for "%s"', async (query, names) => {
    expect(await found(`server=filtered&${query}`)).toEqual(names);
  });

  it('is filtered by gateway id, and empty for an unknown one', async () => {
    const { gatewayId } = await toolIn(admin, 'filtered', 'odd');
    expect(await found(`gatewayId=${String(gatewayId)}`)).toEqual(ALL);
    expect(await found('gatewayId=gateway_0')).toEqual([]);
    expect(await found('server=none')).toEqual([]);
    expect(await found('server=__proto__')).toEqual([]);
  });

  it('is filtered by effective hints and titles, including overrides', async () => {
    const { id } = await toolIn(admin, 'filtered', 'silent');
    await admin.put(`/tools/${String(id)}`, { title: 'Loudspeaker', annotations: { openWorldHint: false } });
    expect(await found('server=filtered&openWorldHint=false')).toEqual([
      'read_file',
      'delete_file',
      'silent',
    ]);
    await admin.put(`/tools/${String(id)}`, { title: 'Loudspeaker' });
    expect(await found('server=filtered&text=loudspeaker')).toEqual(['silent']);
    await admin.put(`/tools/${String(id)}`, { title: null, annotations: {} });
  });

  it('is filtered by drift, and by dangerous drift', async () => {
    filtered.have(
      FILTERED.map((tool) => {
        if (tool['name'] === 'odd') return { ...tool, inputSchema: { type: 'object', required: ['x'] } };
        return tool['name'] === 'send' ? { ...tool, description: 'Sent.' } : tool;
      }),
    );
    expect((await admin.post('/gateways/filtered/refresh')).status).toBe(200);
    expect(await found('server=filtered&drift=any')).toEqual(['send', 'odd']);
    expect(await found('server=filtered&drift=dangerous')).toEqual(['odd']);
    expect(await found('server=filtered&drift=none')).toEqual(['read_file', 'delete_file', 'silent']);
    filtered.have(FILTERED);
    expect((await admin.post('/gateways/filtered/refresh')).status).toBe(200);
    expect(await found('server=filtered&drift=any')).toEqual([]);
  });

  it.each([
    'readOnlyHint=yes',
    'lint=all',
    'drift=true',
    'limit=0',
    'limit=1001',
    'colour=red',
    'enabled=',
    'server=a&server=b',
  ])('refuses %s and names the parameter', async (query) => {
    const answer = await admin.get(`/tools?${query}`);
    expect(verdictOf(answer)).toBe('400 QUERY_INVALID');
    expect(listAt(answer.json(), 'errors')).toMatchObject([{ parameter: query.split('=')[0] }]);
  });

  it('contains each tool once across its pages, in the overall order', async () => {
    const whole = await found('server=api');
    const paged: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const more = cursor === undefined ? '' : `&cursor=${cursor}`;
      const page = (await admin.get(`/tools?server=api&limit=33${more}`)).json();
      expect(at(page, 'total')).toBe(whole.length);
      paged.push(...listAt(page, 'tools').map((tool) => textAt(tool, 'originalName')));
      const next = at(page, 'nextCursor');
      cursor = typeof next === 'string' ? next : undefined;
      pages += 1;
    } while (cursor !== undefined);
    expect([paged, pages]).toEqual([whole, Math.ceil(whole.length / 33)]);
    expect(verdictOf(await admin.get('/tools?cursor=bm9uZQ'))).toMatch(/^4\d\d CURSOR_INVALID$/);
  });

  it('continues after a tool that no longer matches the query', async () => {
    const tool = await takeTool('nothing');
    const query = 'server=api&readOnlyHint=false&limit=1';
    const pageTo = async (name: string): Promise<string> => {
      let cursor = '';
      for (;;) {
        const page = (await admin.get(`/tools?${query}${cursor}`)).json();
        const next = at(page, 'nextCursor');
        if (typeof next !== 'string') throw new Error(`there is no ${name}`);
        cursor = `&cursor=${next}`;
        if (textAt(listAt(page, 'tools')[0], 'name') === name) return cursor;
      }
    };
    const cursor = await pageTo(tool.name);
    const behind = (await admin.get(`/tools?${query}${cursor}`)).json();
    await tool.patch(annotations({ readOnlyHint: true }));
    expect(listAt((await admin.get(`/tools?${query}${cursor}`)).json(), 'tools')).toEqual(
      listAt(behind, 'tools'),
    );
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import type { Answer } from '../support/http.ts';
import { at, listAt, namesAt, textAt, type Json } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { openAt } from '../support/stores.ts';
import { valueOf } from '../support/store-values.ts';
import { keepToken } from '../support/tokens.ts';

let assay: Gateway;
let admin: AdminClient;
beforeAll(async () => {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  assay = await startGateway({ servers: { plain: fixture('plain') }, home });
  admin = adminClient(assay, token);
  await assay.settled();
});

const etagOf = ({ headers }: Answer): string => headers.etag ?? '';
const make = async (name: string, more: object = {}): Promise<Answer> => {
  const made = await admin.post('/toolsets', { name, tools: ['plain.echo'], ...more });
  expect(verdictOf(made)).toBe('201');
  return made;
};
const errorsOf = (answer: Answer): Json | undefined => at(answer.json(), 'errors');

describe('a toolset', () => {
  it('is saved, shown, listed and deleted', async () => {
    const made = await make('first', {
      description: 'One',
      tools: ['plain.echo', { namespaced_name: 'plain.label' }],
    });
    const one = {
      name: 'first',
      description: 'One',
      isEquipped: false,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastModified: expect.any(String),
      tools: [{ namespacedName: 'plain.echo' }, { namespacedName: 'plain.label' }],
      toolNotes: [],
    };
    expect([made.headers.location, made.json()]).toEqual(['/toolsets/first', one]);
    const got = await admin.get('/toolsets/first');
    expect([got.json(), etagOf(got)]).toEqual([made.json(), etagOf(made)]);
    expect(listAt((await admin.get('/toolsets')).json(), 'toolsets')).toContainEqual(one);
    const echo = listAt((await admin.get('/tools')).json(), 'tools').find(
      (tool) => at(tool, 'originalName') === 'echo',
    );
    const path = `/tools/${textAt(echo ?? null, 'id')}`;
    await admin.put(path, { enabled: false });
    const unserved = await admin.get('/toolsets/first/unserved');
    expect(unserved.json()).toEqual({ unserved: [{ tool: 'plain.echo', reason: 'disabled' }] });
    const refused = await admin.post('/toolsets', { name: 'second', tools: ['plain.echo'] });
    expect([verdictOf(refused), at(errorsOf(refused), 0, 'pointer')]).toEqual([
      '409 TOOL_DISABLED',
      '/tools/0',
    ]);
    await admin.put(path, { enabled: true });
    expect((await admin.get('/toolsets/first/unserved')).json()).toEqual({ unserved: [] });
    expect((await admin.delete('/toolsets/first')).json()).toEqual({ deleted: 'first', sessions: 0 });
    expect(verdictOf(await admin.get('/toolsets/first/unserved'))).toBe('404 TOOLSET_UNKNOWN');
    expect(verdictOf(await admin.get('/toolsets/first'))).toBe('404 TOOLSET_UNKNOWN');
    expect(verdictOf(await admin.delete('/toolsets/first'))).toBe('404 TOOLSET_UNKNOWN');
  });

  it('that sessions have equipped is deleted only after a confirmation that names their number', async () => {
    await make('used');
    const store = await openAt({ home: assay.home, databaseUrl: undefined });
    const expiresMs = Date.now() + 3_600_000;
    for (const client of ['one', 'two']) {
      const session = { client, subject: 'ci', toolset: 'used', equippings: 1, expiresMs };
      const sessionToolsets = { kind: 'equip', session, nowMs: Date.now() } as const;
      valueOf(await store.commit({ changes: [], expectedRevisions: [], audit: [], sessionToolsets }));
    }
    for (const query of ['', '?unequip=false']) {
      const refused = await admin.delete(`/toolsets/used${query}`);
      expect(verdictOf(refused)).toBe('409 TOOLSET_EQUIPPED');
      expect(textAt(refused.json(), 'detail')).toMatch(/equipped in 2 sessions.*\?unequip=true/);
    }
    expect(verdictOf(await admin.get('/toolsets/used'))).toBe('200');
    expect((await admin.delete('/toolsets/used?unequip=true')).json()).toEqual({
      deleted: 'used',
      sessions: 2,
    });
    const left = valueOf(await store.sessionToolsets(['one', 'two'], Date.now()));
    expect(left.map(({ toolset }) => toolset)).toEqual([undefined, undefined]);
    await store.close();
  });

  it('that is unchanged is not sent again', async () => {
    const etag = etagOf(await make('known'));
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await admin.get('/toolsets/known', { 'if-none-match': tags });
      expect([again.status, again.text, etagOf(again)]).toEqual([304, '', etag]);
    }
    expect((await admin.get('/toolsets/known', { 'if-none-match': '"x"' })).status).toBe(200);
  });

  it('is changed in the given fields only, and renamed', async () => {
    await make('before', { description: 'Was' });
    const changed = await admin.put('/toolsets/before', { tools: ['plain.label'] });
    expect(changed.json()).toMatchObject({ description: 'Was', tools: [{ namespacedName: 'plain.label' }] });
    const renamed = await admin.put('/toolsets/before', { toolset: { name: 'after', description: null } });
    expect(renamed.json()).toMatchObject({ name: 'after', tools: [{ namespacedName: 'plain.label' }] });
    expect(at(renamed.json(), 'description')).toBeUndefined();
    expect(verdictOf(await admin.get('/toolsets/before'))).toBe('404 TOOLSET_UNKNOWN');
    await make('other');
    expect(verdictOf(await admin.put('/toolsets/after', { name: 'other' }))).toBe('409 TOOLSET_EXISTS');
  });

  it('may be sent back as it was read, but with no other change of read-only fields', async () => {
    const read = (await make('whole')).json();
    const put = await admin.put('/toolsets/whole', read);
    expect(verdictOf(put)).toBe('200');
    const wrong = await admin.put('/toolsets/whole', { toolset: { created_at: '2026-01-01T00:00:00Z' } });
    expect([verdictOf(wrong), errorsOf(wrong)]).toEqual([
      '422 BODY_INVALID',
      [{ pointer: '/toolset/created_at', detail: expect.stringContaining('cannot be set'), code: 'invalid' }],
    ]);
  });

  it('pins a tool by refId, and keeps it when sent back', async () => {
    await make('free');
    const client = await connectClient({ url: `http://127.0.0.1:${assay.port}/mcp/configuration` }, 'auto');
    const told = await client.callTool({
      name: 'list-available-tools',
      arguments: { tools: ['plain.echo'] },
    });
    const refId = /"refId":\s*"([0-9a-f]{32})"/.exec(JSON.stringify(told).replaceAll('\\"', '"'))?.[1] ?? '';
    const held = await make('held', { tools: [{ refId }] });
    expect(at(held.json(), 'tools', 0, 'refId')).toBe(refId);
    expect((await admin.put('/toolsets/held', held.json())).json()).toMatchObject({ tools: [{ refId }] });
  });

  it('is not saved with unknown tools, and the field is named', async () => {
    const wrong = await admin.post('/toolsets', {
      toolset: { name: 'x1', tools: ['plain.echo', 'plain.ecko'] },
    });
    expect([verdictOf(wrong), errorsOf(wrong)]).toEqual([
      '422 REF_UNKNOWN',
      [{ pointer: '/toolset/tools/1', detail: expect.stringContaining('"plain.echo"'), code: 'REF_UNKNOWN' }],
    ]);
    expect(verdictOf(await admin.get('/toolsets/x1'))).toBe('404 TOOLSET_UNKNOWN');
    await make('there');
    const put = await admin.put('/toolsets/there', { tools: [{ refId: '0'.repeat(32) }] });
    expect([verdictOf(put), at(errorsOf(put), 0, 'pointer')]).toEqual(['422 REF_UNKNOWN', '/tools/0']);
    for (const name of ['all', 'X', 'a', 'a b', 'x'.repeat(51), '../x'])
      expect(verdictOf(await admin.post('/toolsets', { name }))).toBe('422 BODY_INVALID');
    expect(verdictOf(await admin.post('/toolsets', { name: 'there' }))).toBe('409 TOOLSET_EXISTS');
  });

  it('is equipped and unequipped for the clients at /mcp', async () => {
    await make('gear');
    const client = await connectClient({ url: `http://127.0.0.1:${assay.port}/mcp` }, 'auto');
    const seen = async (): Promise<readonly string[]> =>
      (await client.listTools()).tools.map(({ name }) => name);
    const before = etagOf(await admin.get('/toolsets/gear'));
    const equipped = await admin.post('/toolsets/gear/equip');
    expect(at(equipped.json(), 'isEquipped')).toBe(true);
    expect(etagOf(equipped)).not.toBe(before);
    expect(await seen()).toContain('plain_echo');
    expect(verdictOf(await admin.post('/toolsets/unequip'))).toBe('204');
    expect(verdictOf(await admin.post('/toolsets/unequip'))).toBe('204');
    expect(at((await admin.get('/toolsets/gear')).json(), 'isEquipped')).toBe(false);
    expect(await seen()).not.toContain('plain_echo');
    expect(verdictOf(await admin.post('/toolsets/none/equip'))).toBe('404 TOOLSET_UNKNOWN');
  });

  it('gains and loses single tools, and a pinned tool is accepted only by its current refId', async () => {
    const path = '/toolsets/parts';
    await make('parts', { tools: ['plain.echo'] });
    const listed = listAt((await admin.get('/catalog')).json(), 'tools');
    const refId = textAt(
      listed.find((one) => at(one, 'namespacedName') === 'plain.echo'),
      'refId',
    );
    const pinned = { namespacedName: 'plain.echo', refId };
    const label = { namespacedName: 'plain.label' };
    expect((await admin.post(`${path}/add`, { tools: [refId, 'plain.label'] })).json()).toMatchObject({
      ...{ tools: [pinned, label], added: [label], released: [] },
    });
    expect((await admin.get(`${path}/review`)).json()).toEqual({
      ...{ toolset: 'parts', isReviewable: true, tools: [{ ...pinned, state: 'unchanged' }] },
    });
    expect((await admin.post(`${path}/accept`, { tools: [refId], pinned: true })).json()).toMatchObject({
      ...{ tools: [pinned, label], accepted: ['plain.echo'], new: [] },
    });
    expect(verdictOf(await admin.post(`${path}/accept`, { tools: ['ab'.repeat(16)], pinned: true }))).toBe(
      '422 REF_UNKNOWN',
    );
    expect((await admin.post(`${path}/add`, { tools: ['plain.echo'] })).json()).toMatchObject({
      ...{ tools: [{ namespacedName: 'plain.echo' }, label], added: [], released: ['plain.echo'] },
    });
    expect((await admin.post(`${path}/remove`, { tools: ['plain.label'] })).json()).toMatchObject({
      tools: [{ namespacedName: 'plain.echo' }],
      removed: [{ namespacedName: 'plain.label', isUnconfirmed: false, notes: 0 }],
    });
    expect(verdictOf(await admin.post(`${path}/remove`, { tools: ['plain.label'] }))).toBe(
      '404 TOOL_NOT_IN_TOOLSET',
    );
    const bundle = (await admin.get('/export?toolset=parts')).json();
    expect(listAt(bundle, 'records').map((one) => at(one, 'body', 'name'))).toEqual(['parts']);
    expect(verdictOf(await admin.get('/export?toolset=parts,nope'))).toBe('404 TOOLSET_UNKNOWN');
    await admin.delete(path);
    expect((await admin.post('/import', { bundle, apply: true })).json()).toMatchObject({
      ...{ applied: true, items: [{ kind: 'toolset', name: 'parts', action: 'create' }] },
    });
  });

  it('may have a name that looks like a path segment', async () => {
    await make('unequip');
    await make('equipped');
    expect(verdictOf(await admin.get('/toolsets/unequip'))).toBe('200');
    const wrong = await admin.ask('PATCH', '/toolsets/unequip');
    expect([verdictOf(wrong), wrong.headers.allow]).toEqual([
      '405 HTTP_METHOD_UNKNOWN',
      'GET, PUT, DELETE, POST, HEAD, OPTIONS',
    ]);
    expect(verdictOf(await admin.delete('/toolsets/unequip'))).toBe('200');
  });
});

describe('of concurrent writers with the same ETag', () => {
  it('exactly one wins, whoever they are', async () => {
    let etag = etagOf(await make('race'));
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        [1, 2, 3, 4].map((writer) =>
          admin.put('/toolsets/race', { description: `${round} by ${writer}` }, { 'if-match': etag }),
        ),
      );
      const verdicts = answers.map(verdictOf).sort();
      expect(verdicts).toEqual(['200', ...Array<string>(3).fill('412 PRECONDITION_FAILED')]);
      const won = answers.find(({ status }) => status === 200)!;
      const now = await admin.get('/toolsets/race');
      expect([now.json(), etagOf(now)]).toEqual([won.json(), etagOf(won)]);
      etag = etagOf(now);
    }
  });

  it('exactly one wins, also if some change and some delete', async () => {
    for (let round = 0; round < 10; round += 1) {
      const headers = { 'if-match': etagOf(await make(`fate-${round}`)) };
      const answers = await Promise.all([
        admin.delete(`/toolsets/fate-${round}`, headers),
        admin.put(`/toolsets/fate-${round}`, { description: 'kept' }, headers),
        admin.delete(`/toolsets/fate-${round}`, headers),
      ]);
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      expect(answers.map(verdictOf).every((one) => /^(20[04]|412 .*|404 .*)$/.test(one))).toBe(true);
    }
  });

  it('none wins with an outdated or weak ETag, which is reported', async () => {
    const etag = etagOf(await make('old'));
    await admin.put('/toolsets/old', { description: 'new' });
    const now = etagOf(await admin.get('/toolsets/old'));
    for (const tag of [etag, `W/${now}`, '""', 'nonsense']) {
      const late = await admin.put('/toolsets/old', { description: 'late' }, { 'if-match': tag });
      expect([verdictOf(late), etagOf(late)]).toEqual(['412 PRECONDITION_FAILED', now]);
      expect(verdictOf(await admin.delete('/toolsets/old', { 'if-match': tag }))).toBe(
        '412 PRECONDITION_FAILED',
      );
    }
    expect(textAt((await admin.get('/toolsets/old')).json(), 'description')).toBe('new');
    for (const tag of ['*', now, `"x", ${now}`]) {
      const put = await admin.put('/toolsets/old', { description: 'new' }, { 'if-match': tag });
      expect(verdictOf(put)).toBe(tag === '*' ? '200' : verdictOf(put));
    }
    const last = etagOf(await admin.get('/toolsets/old'));
    expect(verdictOf(await admin.delete('/toolsets/old', { 'if-match': last }))).toBe('200');
  });
});

describe('a list', () => {
  it('is paged, each item once, even if items come and go meanwhile', async () => {
    const names = Array.from({ length: 7 }, (_, at) => `page-${at}`);
    for (const name of names) await make(name);
    const seen: string[] = [];
    let cursor: Json | undefined = '';
    for (let pages = 0; cursor !== undefined; pages += 1) {
      const query: string = cursor === '' ? '' : `&cursor=${String(cursor)}`;
      const page: Json = (await admin.get(`/toolsets?limit=2${query}`)).json();
      seen.push(...namesAt(page, 'toolsets'));
      cursor = at(page, 'nextCursor');
      if (pages === 0) await admin.delete(`/toolsets/${seen[0] ?? ''}`);
      expect(pages).toBeLessThan(20);
    }
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(names.filter((name) => !seen.includes(name))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/core/audit-event.ts';
import { err, ok } from '@assay-mcp/kit/result';
import type { Toolset } from '../../../src/core/toolset.ts';
import { Toolsets, type ToolsetChange } from '../../../src/gateway/services/toolsets/toolsets.ts';
import { EQUIPPED_ID } from '../../../src/core/record.ts';
import type { RecordChange } from '../../../src/gateway/ports/records.ts';
import { memoryCache, MemoryRecords, replicaOf } from '../../../../../test/support/memory-records.ts';

const EMPTY = { tools: [], toolNotes: [] };

function opened(store = new MemoryRecords(), cache = memoryCache()) {
  const records = replicaOf(store, cache);
  const toolsets = new Toolsets({ records, nowMs: () => 7 });
  const changes: ToolsetChange[] = [];
  toolsets.onChange((change) => changes.push(change));
  return { store, cache, records, toolsets, changes };
}

function kept(toolset: Toolset): RecordChange {
  return { kind: 'toolset', id: toolset.name, body: toolset };
}

function equippings(store: MemoryRecords): number {
  const [found] = store.all('equipped') as readonly { readonly equippings: number }[];
  return found?.equippings ?? 0;
}

function namesIn(store: MemoryRecords): readonly string[] {
  return store.all('toolset').map((one) => (one as Toolset).name);
}

const described =
  (description: string) =>
  (toolset: Toolset): ReturnType<Parameters<Toolsets['change']>[1]> =>
    ok({ toolset: { ...toolset, description }, value: undefined });

describe('toolsets', () => {
  it('are known once the first change completes, and each change is announced once', async () => {
    const { toolsets, changes } = opened();
    expect(toolsets.isKnown).toBe(false);
    expect(await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op' })).toMatchObject({ ok: true });
    expect(toolsets.find('one')).toEqual({
      name: 'one',
      ...EMPTY,
      maker: { by: 'operator', subject: 'op' },
      createdMs: 7,
      changedMs: 7,
    });
    await toolsets.equip('one', 'op');
    expect(toolsets.equipped?.name).toBe('one');
    expect(changes).toEqual([
      { names: new Set(), isEquipping: true, isFirst: true },
      { names: new Set(['one']), isEquipping: false, isFirst: false },
      { names: new Set(), isEquipping: true, isFirst: false },
    ]);
  });

  it('ignore an unequip if none is equipped, without a write or an announcement', async () => {
    const { store, toolsets, changes } = opened();
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'local' });
    const before = changes.length;
    expect(await toolsets.equip(undefined, 'local')).toEqual({ ok: true, value: undefined });
    expect([changes.slice(before), equippings(store)]).toEqual([[], 0]);
    await toolsets.equip('one', 'local');
    expect(await toolsets.equip(undefined, 'local')).toEqual({ ok: true, value: undefined });
    expect([toolsets.equipped, equippings(store)]).toEqual([undefined, 2]);
  });

  it('are changed based on what another process wrote meanwhile', async () => {
    const { store, toolsets } = opened();
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op' });
    let others = 2;
    store.before = () => {
      if (others === 0) return;
      others -= 1;
      const [there] = store.all('toolset') as readonly Toolset[];
      store.keep(kept({ ...there!, description: `${there?.description ?? ''}x` }));
    };
    const done = await toolsets.change(
      'one',
      (toolset) =>
        ok({ toolset: { ...toolset, description: `${toolset.description ?? ''}!` }, value: 'done' }),
      'op',
    );
    expect([done, toolsets.find('one')?.description]).toEqual([{ ok: true, value: 'done' }, 'xx!']);
  });

  it('are not written if a change has no effect, or is refused', async () => {
    const { store, toolsets } = opened();
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op' });
    await toolsets.change('one', (toolset) => ok({ toolset, value: undefined }), 'op');
    const refusal = { code: 'TOOLSET_NOT_EQUIPPED' } as const;
    expect(await toolsets.change('one', () => err(refusal), 'op')).toEqual({ ok: false, error: refusal });
    expect(store.commits).toBe(1);
    expect(await toolsets.change('two', described('x'), 'op')).toEqual({
      ok: false,
      error: { code: 'TOOLSET_UNKNOWN', name: 'two', known: ['one'] },
    });
  });

  it('write an audit event for each effective change, with the state before and after it', async () => {
    const { store, toolsets } = opened();
    const text = '{"name":"a"}';
    const held = { namespacedName: 's.a', held: { refId: 'r', digest: 'ab', text } };
    await toolsets.create({ name: 'one', tools: [held], toolNotes: [] }, { by: 'anna' });
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'late' });
    await toolsets.change('one', described('x'), 'ben');
    await toolsets.change('one', described('x'), 'nobody');
    await toolsets.change('one', (one) => ok({ toolset: { ...one, name: 'two' }, value: 0 }), 'ben');
    const equippings = [
      ['two', 'cem'],
      ['two', 'nobody'],
      ['none', 'nobody'],
      [undefined, 'dora'],
      [undefined, 'nobody'],
    ] as const;
    for (const [name, by] of equippings) await toolsets.equip(name, by);
    const there = toolsets.find('two')!;
    await toolsets.change('two', () => ok({ toolset: { ...there }, value: 0 }), 'nobody');
    await toolsets.change(
      'two',
      (one) => ok({ toolset: { ...one, description: undefined }, value: 0 }),
      'eve',
    );
    for (const by of ['eve', 'nobody']) await toolsets.remove('two', by);
    const at = new Date(7).toISOString();
    const times = { createdAt: at, lastModified: at };
    // An update records only the tools and notes that differ.
    const changed = (name: string, description?: string): unknown => ({
      ...times,
      name,
      ...(description !== undefined && { description }),
      tools: [],
      toolNotes: [],
    });
    const whole = (name: string): unknown => ({
      ...times,
      name,
      tools: [{ namespacedName: 's.a', refId: 'r' }],
      toolNotes: [],
    });
    const auditEvent = (subject: string, action: string, name: string): AuditEvent => ({
      atMs: 7,
      subject,
      action: `toolset.${action}`,
      target: { kind: 'toolset', id: name, name },
    });
    expect(store.audit).toEqual([
      { ...auditEvent('anna', 'create', 'one'), after: whole('one') },
      { ...auditEvent('ben', 'update', 'one'), before: changed('one'), after: changed('one', 'x') },
      { ...auditEvent('ben', 'rename', 'two'), before: changed('one', 'x'), after: changed('two', 'x') },
      { ...auditEvent('cem', 'equip', 'two'), after: { equipped: 'two' } },
      { ...auditEvent('dora', 'unequip', 'two'), before: { equipped: 'two' } },
      { ...auditEvent('eve', 'update', 'two'), before: changed('two', 'x'), after: changed('two') },
      { ...auditEvent('eve', 'delete', 'two'), before: whole('two') },
    ]);
  });

  it('are saved and equipped in one commit, with both audit events', async () => {
    const { store, toolsets } = opened();
    const commits: unknown[] = [];
    store.before = () => commits.push([namesIn(store), equippings(store)]);
    expect(await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op', equip: true })).toMatchObject({
      ok: true,
    });
    expect([commits, toolsets.equipped?.name]).toEqual([[[[], 0]], 'one']);
    expect(store.audit.map(({ action }) => action)).toEqual(['toolset.create', 'toolset.equip']);
  });

  it('are not deleted if another process changed them after the reviewer saw them', async () => {
    const { store, toolsets } = opened();
    const seen = { name: 'one', ...EMPTY, createdMs: 0, changedMs: 0 };
    store.keep(kept(seen));
    store.before = () => {
      store.before = () => undefined;
      store.keep(kept({ ...seen, description: 'changed meanwhile' }));
    };
    const refusal = { code: 'PRECONDITION_FAILED', etag: '"x"' } as const;
    const objection = ({ description }: Toolset) => (description === undefined ? undefined : refusal);
    expect(await toolsets.remove('one', 'op', { objection })).toEqual({ ok: false, error: refusal });
    expect([namesIn(store), store.audit]).toEqual([['one'], []]);
  });

  it('are as committed, even if the store cannot be read afterwards', async () => {
    const { store, records, toolsets, changes } = opened();
    const blinded = async <T>(work: () => Promise<T>): Promise<T> => {
      store.before = () => (store.mayRead = () => false);
      const done = await work();
      store.before = () => undefined;
      return done;
    };
    const made = await blinded(() => toolsets.create({ name: 'one', ...EMPTY }, { by: 'op', equip: true }));
    expect([made.ok, toolsets.equipped?.name]).toEqual([true, 'one']);
    store.mayRead = () => true;
    const renaming = () =>
      toolsets.change('one', (one) => ok({ toolset: { ...one, name: 'two' }, value: 'done' }), 'op');
    expect(await blinded(renaming)).toEqual({ ok: true, value: 'done' });
    expect([toolsets.all.map(({ name }) => name), toolsets.equipped?.name]).toEqual([['two'], 'two']);
    store.mayRead = () => true;
    expect(await blinded(() => toolsets.remove('two', 'op'))).toEqual({ ok: true, value: 0 });
    expect([toolsets.all, toolsets.equipped]).toEqual([[], undefined]);
    const announced = changes.length;
    store.mayRead = () => true;
    await records.readAgain();
    expect(changes.length).toBe(announced);
  });

  it('are limited to a thousand', async () => {
    const { store, toolsets } = opened();
    for (let at = 0; at < 1_000; at += 1)
      store.keep(kept({ name: `t${at}`, ...EMPTY, createdMs: 0, changedMs: 0 }));
    expect(await toolsets.create({ name: 'one-more', ...EMPTY }, { by: 'op' })).toEqual({
      ok: false,
      error: { code: 'TOOLSETS_FULL', limit: 1_000 },
    });
    expect(await toolsets.change('t7', described('still'), 'op')).toMatchObject({ ok: true });
  });

  it('follow what other processes write', async () => {
    const { store, toolsets, changes } = opened();
    await toolsets.ready();
    store.keep(kept({ name: 'theirs', ...EMPTY, createdMs: 0, changedMs: 0 }));
    store.announce();
    await expect.poll(() => toolsets.find('theirs')?.name).toBe('theirs');
    expect(changes.at(-1)).toEqual({ names: new Set(['theirs']), isEquipping: false, isFirst: false });
  });

  it('are served from the cache until the store has been read, and cached again when the equipped one changes', async () => {
    const theirs = { name: 'theirs', ...EMPTY, createdMs: 0, changedMs: 0 };
    const equipped = {
      kind: 'equipped',
      id: EQUIPPED_ID,
      body: { toolset: 'theirs', equippings: 4 },
    } as const;
    const { toolsets, cache, changes } = opened(new MemoryRecords(), memoryCache([kept(theirs), equipped]));
    expect([toolsets.isRecalled, toolsets.isKnown, toolsets.equipped]).toEqual([true, false, theirs]);
    await toolsets.ready();
    expect([toolsets.isKnown, toolsets.equipped]).toEqual([true, undefined]);
    expect(changes).toEqual([{ names: new Set(['theirs']), isEquipping: true, isFirst: false }]);
    expect(cache.remembered()).toEqual([]);
  });
});

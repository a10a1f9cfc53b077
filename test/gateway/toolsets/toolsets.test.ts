import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/core/audit-event.ts';
import { err, ok } from '../../../src/core/result.ts';
import type { Toolset } from '../../../src/core/toolset.ts';
import { Toolsets, type ToolsetChange } from '../../../src/gateway/services/toolsets/toolsets.ts';
import { equippedMemory, MemoryToolsets } from '../../support/memory-toolsets.ts';

const EMPTY = { tools: [], toolNotes: [] };

function opened(store = new MemoryToolsets(), memory = equippedMemory()) {
  const toolsets = new Toolsets({ open: () => Promise.resolve(ok(store)), memory, nowMs: () => 7 });
  const changes: ToolsetChange[] = [];
  toolsets.onChange((change) => changes.push(change));
  return { store, memory, toolsets, changes };
}

const described =
  (description: string) =>
  (toolset: Toolset): ReturnType<Parameters<Toolsets['change']>[1]> =>
    ok({ toolset: { ...toolset, description }, value: undefined });

describe('toolsets', () => {
  it('are known when the first change is answered, and changes are told once', async () => {
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

  it('are not unequipped where none is equipped: nothing is written, and nobody is told', async () => {
    const { store, toolsets, changes } = opened();
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'local' });
    const before = changes.length;
    expect(await toolsets.equip(undefined, 'local')).toEqual({ ok: true, value: undefined });
    expect([changes.slice(before), store.equippings]).toEqual([[], 0]);
    await toolsets.equip('one', 'local');
    expect(await toolsets.equip(undefined, 'local')).toEqual({ ok: true, value: undefined });
    expect([toolsets.equipped, store.equippings]).toEqual([undefined, 2]);
  });

  it('are changed anew on what somebody else left there meanwhile', async () => {
    const { store, toolsets } = opened();
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op' });
    let others = 2;
    store.before = () => {
      const there = store.kept.get('one');
      if (there === undefined || others === 0) return;
      others -= 1;
      const toolset = { ...there.toolset, description: `${there.toolset.description ?? ''}x` };
      store.kept.set('one', { toolset, revision: there.revision + 100 });
    };
    const done = await toolsets.change(
      'one',
      (toolset) =>
        ok({ toolset: { ...toolset, description: `${toolset.description ?? ''}!` }, value: 'done' }),
      'op',
    );
    expect([done, toolsets.find('one')?.description]).toEqual([{ ok: true, value: 'done' }, 'xx!']);
  });

  it('are not written where a change changes nothing, or is refused', async () => {
    const { store, toolsets } = opened();
    await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op' });
    await toolsets.change('one', (toolset) => ok({ toolset, value: undefined }), 'op');
    const refusal = { code: 'TOOLSET_NOT_EQUIPPED' } as const;
    expect(await toolsets.change('one', () => err(refusal), 'op')).toEqual({ ok: false, error: refusal });
    expect(store.writes).toBe(1);
    expect(await toolsets.change('two', described('x'), 'op')).toEqual({
      ok: false,
      error: { code: 'TOOLSET_UNKNOWN', name: 'two', known: ['one'] },
    });
  });

  it('leave a deed of each change that is one, with what was before and what is after', async () => {
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
    await toolsets.restore([there], { by: 'nobody', replaces: true });
    await toolsets.restore([{ ...there, description: undefined }], { by: 'eve', replaces: true });
    for (const by of ['eve', 'nobody']) await toolsets.remove('two', by);
    const at = new Date(7).toISOString();
    const times = { version: '1.0.0', createdAt: at, lastModified: at };
    // Of a change, the tools and notes that differ alone are told.
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
    const deed = (subject: string, action: string, name: string): AuditEvent => ({
      atMs: 7,
      subject,
      action: `toolset.${action}`,
      target: { kind: 'toolset', id: name, name },
    });
    expect(store.deeds).toEqual([
      { ...deed('anna', 'create', 'one'), after: whole('one') },
      { ...deed('ben', 'update', 'one'), before: changed('one'), after: changed('one', 'x') },
      { ...deed('ben', 'rename', 'two'), before: changed('one', 'x'), after: changed('two', 'x') },
      { ...deed('cem', 'equip', 'two'), after: { equipped: 'two' } },
      { ...deed('dora', 'unequip', 'two'), before: { equipped: 'two' } },
      { ...deed('eve', 'update', 'two'), before: changed('two', 'x'), after: changed('two') },
      { ...deed('eve', 'delete', 'two'), before: whole('two') },
    ]);
  });

  it('are saved and equipped by one commit, with both audit entries', async () => {
    const { store, toolsets } = opened();
    const commits: unknown[] = [];
    store.before = () => commits.push([store.writes, store.equippings]);
    expect(await toolsets.create({ name: 'one', ...EMPTY }, { by: 'op', equip: true })).toMatchObject({
      ok: true,
    });
    expect([commits, toolsets.equipped?.name]).toEqual([[[0, 0]], 'one']);
    expect(store.deeds.map(({ action }) => action)).toEqual(['toolset.create', 'toolset.equip']);
  });

  it('are restored all together or not at all', async () => {
    const { store, toolsets } = opened();
    const [one, two] = ['one', 'two'].map((name) => ({ name, ...EMPTY, createdMs: 0, changedMs: 0 }));
    store.keep(two!);
    const done = await toolsets.restore([one!, two!], { by: 'op', replaces: false, equip: 'one' });
    expect(done).toEqual({ ok: false, error: { code: 'TOOLSET_EXISTS', name: 'two' } });
    expect([[...store.kept.keys()], store.deeds, store.equippings]).toEqual([['two'], [], 0]);
  });

  it('are removed only as whoever objects saw them, also where another process changes them just then', async () => {
    const { store, toolsets } = opened();
    const seen = store.keep({ name: 'one', ...EMPTY, createdMs: 0, changedMs: 0 });
    store.before = () => {
      store.before = () => undefined;
      store.keep({ ...seen.toolset, description: 'changed meanwhile' });
    };
    const refusal = { code: 'PRECONDITION_FAILED', etag: '"x"' } as const;
    const objection = ({ description }: Toolset) => (description === undefined ? undefined : refusal);
    expect(await toolsets.remove('one', 'op', objection)).toEqual({ ok: false, error: refusal });
    expect([[...store.kept.keys()], store.deeds]).toEqual([['one'], []]);
  });

  it('are as they were committed, also where the store cannot be read after that', async () => {
    const { store, toolsets, changes } = opened();
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
    expect(await blinded(() => toolsets.remove('two', 'op'))).toEqual({ ok: true, value: undefined });
    expect([toolsets.all, toolsets.equipped]).toEqual([[], undefined]);
    const told = changes.length;
    store.mayRead = () => true;
    await toolsets.readAgain();
    expect(changes.length).toBe(told);
  });

  it('are at most a thousand', async () => {
    const { store, toolsets } = opened();
    for (let at = 0; at < 1_000; at += 1)
      store.keep({ name: `t${at}`, ...EMPTY, createdMs: 0, changedMs: 0 });
    expect(await toolsets.create({ name: 'one-more', ...EMPTY }, { by: 'op' })).toEqual({
      ok: false,
      error: { code: 'TOOLSETS_FULL', limit: 1_000 },
    });
    expect(await toolsets.change('t7', described('still'), 'op')).toMatchObject({ ok: true });
  });

  it('follow what other processes write', async () => {
    const { store, toolsets, changes } = opened();
    await toolsets.ready();
    store.keep({ name: 'theirs', ...EMPTY, createdMs: 0, changedMs: 0 });
    store.announce();
    await expect.poll(() => toolsets.find('theirs')?.name).toBe('theirs');
    expect(changes.at(-1)).toEqual({ names: new Set(['theirs']), isEquipping: false, isFirst: false });
  });

  it('are recalled until the store was read, and remembered when what is equipped is another', async () => {
    const theirs = { name: 'theirs', ...EMPTY, createdMs: 0, changedMs: 0 };
    const { toolsets, memory, changes } = opened(
      new MemoryToolsets(),
      equippedMemory({ toolset: theirs, equippings: 4 }),
    );
    expect([toolsets.isRecalled, toolsets.isKnown, toolsets.equipped]).toEqual([true, false, theirs]);
    await toolsets.ready();
    expect([toolsets.isKnown, toolsets.equipped]).toEqual([true, undefined]);
    expect(changes).toEqual([{ names: new Set(), isEquipping: true, isFirst: false }]);
    expect(memory.remembered).toEqual([{ toolset: undefined, equippings: 0 }]);
  });
});

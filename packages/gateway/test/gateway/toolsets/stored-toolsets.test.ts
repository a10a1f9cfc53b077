import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import type { Toolset } from '../../../src/core/toolset.ts';
import type { RecordReplica } from '../../../src/gateway/catalog/record-replica.ts';
import { Toolsets } from '../../../src/gateway/services/toolsets/toolsets.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { endLater, until } from '../../../../../test/support/endings.ts';
import { replicaOf } from '../../../../../test/support/memory-records.ts';
import { DATABASES, openAt } from '../../../../../test/support/stores.ts';
import { type StorePlace, toolset, valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

interface Process {
  readonly toolsets: Toolsets;
  readonly records: RecordReplica;
}

/** Opens a process on this store. */
async function openProcess(place: StorePlace): Promise<Process> {
  const records = replicaOf(await openAt(place));
  endLater(() => records.close());
  valueOf(await records.ready());
  return { records, toolsets: new Toolsets({ records, nowMs: () => 7 }) };
}

const create = async (toolsets: Toolsets, ...names: readonly string[]): Promise<void> => {
  for (const name of names) valueOf(await toolsets.create({ name, tools: [], toolNotes: [] }, { by: 'op' }));
};

const change = (toolsets: Toolsets, name: string, changes: Partial<Toolset>) =>
  toolsets.change(name, (one) => ok({ toolset: { ...one, ...changes }, value: undefined }), 'op');

describe.each(DATABASES)('the toolsets of a store in %s', (_database, newPlace) => {
  /** The state in the store, which must equal the state in this process. */
  const stateOf = async (place: StorePlace, { toolsets, records }: Process): Promise<unknown> => {
    const [here, there] = [{ toolsets, records }, await openProcess(place)].map((one) => ({
      names: one.toolsets.all.map(({ name }) => name),
      equipped: one.toolsets.equipped?.name,
      equippings: one.records.get('equipped', 'equipped')?.equippings ?? 0,
    }));
    expect(here).toEqual(there);
    return there;
  };

  it('are empty at first, and none is equipped', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    expect(await stateOf(place, own)).toEqual({ names: [], equipped: undefined, equippings: 0 });
  });

  it('are sorted by the code points of their names, even if the database sorts otherwise', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    const names = ['--', '-b', '0a', 'a-c', 'a0', 'ab', 'b-', 'ba'];
    await create(own.toolsets, ...names.toReversed());
    expect(await stateOf(place, own)).toMatchObject({ names });
  });

  it('have unique names: neither a new nor a renamed one takes an existing name', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    await create(own.toolsets, 'one', 'two');
    const taken = { ok: false, error: { code: 'TOOLSET_EXISTS', name: 'two' } };
    expect(await own.toolsets.create({ name: 'two', tools: [], toolNotes: [] }, { by: 'op' })).toEqual(taken);
    expect(await change(own.toolsets, 'one', { name: 'two' })).toEqual(taken);
    expect(await stateOf(place, own)).toMatchObject({ names: ['one', 'two'] });
  });

  it('are not overwritten by a process that has not read them yet', async () => {
    const place = await newPlace();
    const [own, other] = [await openProcess(place), await openProcess(place)];
    await create(own.toolsets, 'one');
    const done = await other.toolsets.create({ name: 'one', tools: [], toolNotes: [] }, { by: 'late' });
    expect(done).toEqual({ ok: false, error: { code: 'TOOLSET_EXISTS', name: 'one' } });
    expect(other.toolsets.find('one')?.maker?.subject).toBe('op');
  });

  it('follow the state of the store, not the state that a process last read', async () => {
    const place = await newPlace();
    const [own, other] = [await openProcess(place), await openProcess(place)];
    await create(own.toolsets, 'one');
    expect(await other.toolsets.equip('one', 'op')).toEqual({ ok: true, value: undefined });
    // This process has not read yet that a toolset is equipped.
    expect(await own.toolsets.equip(undefined, 'op')).toEqual({ ok: true, value: undefined });
    valueOf(await other.toolsets.remove('one', 'op'));
    expect(await own.toolsets.equip('one', 'op')).toMatchObject({ error: { code: 'TOOLSET_UNKNOWN' } });
    expect(await stateOf(place, own)).toEqual({ names: [], equipped: undefined, equippings: 2 });
  });

  it.each(['other', '', 'ONE', 'one\u0000', '\ud800'])('are unknown under the name %j', async (name) => {
    const place = await newPlace();
    const own = await openProcess(place);
    await create(own.toolsets, 'one');
    valueOf(await own.toolsets.equip('one', 'op'));
    const unknown = { ok: false, error: { code: 'TOOLSET_UNKNOWN', name, known: ['one'] } };
    expect(await own.toolsets.equip(name, 'op')).toEqual(unknown);
    expect(await own.toolsets.remove(name, 'op')).toEqual(unknown);
    expect(await stateOf(place, own)).toEqual({ names: ['one'], equipped: 'one', equippings: 1 });
  });

  it('can be renamed, which frees the old name', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    await create(own.toolsets, 'one', 'other');
    valueOf(await change(own.toolsets, 'one', { name: 'two' }));
    expect(await stateOf(place, own)).toMatchObject({ names: ['other', 'two'] });
    await create(own.toolsets, 'one');
    expect(await stateOf(place, own)).toMatchObject({ names: ['one', 'other', 'two'] });
  });

  it('are equipped one at a time, and equipping the equipped one counts again', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    await create(own.toolsets, 'one', 'two');
    const steps = ['one', 'one', 'two', undefined, 'two'];
    for (const [at, name] of steps.entries()) {
      valueOf(await own.toolsets.equip(name, 'op'));
      expect(await stateOf(place, own)).toMatchObject({ equipped: name, equippings: at + 1 });
    }
  });

  it('stay equipped when changed or renamed, which does not count as equipping', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    await create(own.toolsets, 'one', 'two');
    valueOf(await own.toolsets.equip('one', 'op'));
    valueOf(await change(own.toolsets, 'one', { description: 'changed' }));
    expect(await stateOf(place, own)).toMatchObject({ equipped: 'one', equippings: 1 });
    valueOf(await change(own.toolsets, 'one', { name: 'three' }));
    valueOf(await change(own.toolsets, 'two', { name: 'four' }));
    expect(await stateOf(place, own)).toEqual({ names: ['four', 'three'], equipped: 'three', equippings: 1 });
  });

  it('are unequipped when deleted, and the others stay unchanged', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    await create(own.toolsets, 'one', 'two');
    valueOf(await own.toolsets.equip('one', 'op'));
    valueOf(await own.toolsets.remove('two', 'op'));
    expect(await stateOf(place, own)).toEqual({ names: ['one'], equipped: 'one', equippings: 1 });
    valueOf(await own.toolsets.remove('one', 'op'));
    expect(await stateOf(place, own)).toEqual({ names: [], equipped: undefined, equippings: 2 });
    // A new toolset with the same name is not equipped.
    await create(own.toolsets, 'one');
    expect(await stateOf(place, own)).toMatchObject({ equipped: undefined, equippings: 2 });
  });

  it('are never equipped under a name that another process is changing', async () => {
    const place = await newPlace();
    const [own, other] = [await openProcess(place), await openProcess(place)];
    for (let round = 0; round < 15; round += 1) {
      await create(own.toolsets, `set-${round}`);
      await Promise.all([
        change(own.toolsets, `set-${round}`, { name: `new-${round}` }),
        other.toolsets.equip(`set-${round}`, 'op'),
      ]);
      await own.records.readAgain();
      const named = own.records.get('equipped', 'equipped')?.toolset;
      expect(named === undefined || own.toolsets.find(named) !== undefined).toBe(true);
    }
  });

  it('are followed by another process, which is notified once of each change', async () => {
    const place = await newPlace();
    const [own, other] = [await openProcess(place), await openProcess(place)];
    await create(own.toolsets, 'one');
    await until('the new one is heard of', () => other.toolsets.find('one'));
    const notified: unknown[] = [];
    other.toolsets.onChange(({ names, isEquipping }) => notified.push([[...names].sort(), isEquipping]));
    valueOf(await change(own.toolsets, 'one', { name: 'two' }));
    await until('the new name is heard of', () => other.toolsets.find('two'));
    valueOf(await own.toolsets.equip('two', 'op'));
    await until('the equipping is heard of', () => other.toolsets.equipped);
    expect(notified).toEqual([
      [['one', 'two'], false],
      [[], true],
    ]);
  });

  it('can be read by the thousand, and a change to one of them is noticed', async () => {
    const place = await newPlace();
    const own = await openProcess(place);
    const names = Array.from({ length: 1_000 }, (_, at) => `set-${String(at).padStart(4, '0')}`);
    for (const name of names) valueOf(await own.toolsets.create(toolset(name), { by: 'op' }));
    const other = await openProcess(place);
    expect(other.toolsets.all.map(({ name }) => name)).toEqual(names);
    valueOf(await change(own.toolsets, 'set-0500', { description: 'x' }));
    await until('the change is heard of', () => other.toolsets.find('set-0500')?.description);
  });
});

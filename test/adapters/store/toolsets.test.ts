import { describe, expect, it } from 'vitest';
import type { Store, StorePart } from '../../../src/gateway/ports/store.ts';
import type { StoredToolset, ToolsetNews } from '../../../src/gateway/ports/toolsets.ts';
import type { Toolset } from '../../../src/core/toolset.ts';
import { sleep, until } from '../../support/endings.ts';
import { ageTo, DATABASES, openAt, rawRows } from '../../support/stores.ts';
import {
  equip,
  removeToolset,
  saveSetting,
  saveToolset,
  toolset,
  valueOf,
} from '../../support/store-values.ts';

describe.each(DATABASES)('the toolsets of a store in %s', (_database, newPlace) => {
  it('are none at first, and none is equipped', async () => {
    const store = await openAt(await newPlace());
    expect(await newsOf(store)).toEqual({ names: [], changed: [], equipped: undefined, equippings: 0 });
  });

  it('have a place in a store that was made before there were any, and what it held stays', async () => {
    const place = await newPlace();
    const old = await openAt(place);
    valueOf(await saveSetting(old, 'kept', 1));
    await old.close();
    await ageTo(place, 3);
    const store = await openAt(place);
    const one = await save(store, toolset('one'));
    expect((await newsOf(store)).changed).toEqual([one]);
    expect(valueOf(await store.settings())).toEqual(new Map([['kept', 1]]));
  });

  it('are given back as they were saved, whatever their texts, also after the store is opened anew', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const odd = 'a\u0000b \ud800 \udc00 🎉 "\\u0000" é\u2028';
    const saved = await save(
      store,
      toolset('odd', {
        description: odd,
        tools: [
          { namespacedName: `s.${odd}` },
          { namespacedName: 's.b', held: { refId: 'r', digest: 'ab', text: `{ "name" : ${odd} }` } },
        ],
        toolNotes: [
          {
            namespacedName: `s.${odd}`,
            notes: [{ name: 'n', note: odd, author: odd, by: 'model', writtenMs: 7, isHeld: true }],
          },
        ],
      }),
    );
    const plain = await save(store, toolset('plain'));
    expect(saved.toolset.description).toBe(odd);
    const expected = { names: ['odd', 'plain'], changed: [saved, plain], equipped: undefined, equippings: 0 };
    expect(await newsOf(store)).toEqual(expected);
    await store.close();
    expect(await newsOf(await openAt(place))).toEqual(expected);
  });

  it('are sorted by the characters of their names, also where the database sorts otherwise', async () => {
    const store = await openAt(await newPlace());
    const sorted = ['--', '-b', '0a', 'a-c', 'a0', 'ab', 'b-', 'ba'];
    for (const name of sorted.toReversed()) await save(store, toolset(name));
    const news = await newsOf(store);
    expect(news.names).toEqual(sorted);
    expect(news.changed.map((one) => one.toolset.name)).toEqual(sorted);
  });

  it('have names of their own: a new one takes none that another one has', async () => {
    const store = await openAt(await newPlace());
    const first = await save(store, toolset('one', { description: 'first' }));
    expect(await saveToolset(store, toolset('one'), undefined)).toEqual({ ok: true, value: undefined });
    expect((await newsOf(store)).changed).toEqual([first]);
  });

  it('are changed only in the revision that they are in', async () => {
    const store = await openAt(await newPlace());
    const first = await save(store, toolset('one'));
    const second = await save(store, toolset('one', { description: 'second' }), formerOf(first));
    expect(second).toEqual({
      toolset: toolset('one', { description: 'second' }),
      revision: expect.any(Number),
    });
    expect(second.revision).toBeGreaterThan(first.revision);
    const late = await saveToolset(store, toolset('one', { description: 'late' }), formerOf(first));
    expect(late).toEqual({ ok: true, value: undefined });
    const lateRename = await saveToolset(store, toolset('other'), formerOf(first));
    expect(lateRename).toEqual({ ok: true, value: undefined });
    expect(await newsOf(store)).toMatchObject({ names: ['one'], changed: [second] });
  });

  it('are not brought back by a change of one that is gone', async () => {
    const store = await openAt(await newPlace());
    const gone = await save(store, toolset('one'));
    expect(valueOf(await removeToolset(store, 'one'))).toBe(true);
    expect(valueOf(await saveToolset(store, toolset('one'), formerOf(gone)))).toBeUndefined();
    expect((await newsOf(store)).names).toEqual([]);
    const never = { name: 'never', revision: gone.revision };
    expect(valueOf(await saveToolset(store, toolset('one'), never))).toBeUndefined();
  });

  it('never get a revision again, also not another toolset or one that comes back under its name', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)] as const;
    const revisions: number[] = [];
    for (let round = 0; round < 3; round++)
      for (const store of stores) {
        const one = await save(store, toolset('one'));
        const other = await save(store, toolset('other'));
        const changed = await save(store, toolset('one'), formerOf(one));
        revisions.push(one.revision, other.revision, changed.revision);
        for (const name of ['other', 'one']) valueOf(await removeToolset(store, name));
      }
    expect(new Set(revisions).size).toBe(revisions.length);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  });

  it('can be called otherwise, and then are not there under the former name', async () => {
    const store = await openAt(await newPlace());
    const first = await save(store, toolset('one'));
    const other = await save(store, toolset('other'));
    const renamed = await save(store, toolset('two'), formerOf(first));
    expect(await newsOf(store)).toMatchObject({ names: ['other', 'two'], changed: [other, renamed] });
    await save(store, toolset('one'));
  });

  it('cannot be called as another one is, and stay as they were', async () => {
    const store = await openAt(await newPlace());
    const one = await save(store, toolset('one'));
    const two = await save(store, toolset('two'));
    expect(await saveToolset(store, toolset('two'), formerOf(one))).toEqual({ ok: true, value: undefined });
    expect(await newsOf(store)).toMatchObject({ names: ['one', 'two'], changed: [one, two] });
  });

  it('are equipped one at a time; each equipping counts, also of what is equipped already', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    for (const name of ['one', 'two']) await save(store, toolset(name));
    const steps = ['one', 'one', 'two', undefined, undefined, 'two'];
    for (const [at, name] of steps.entries()) {
      expect(await equip(store, name)).toEqual({ ok: true, value: true });
      expect(await newsOf(store)).toMatchObject({ equipped: name, equippings: at + 1 });
    }
    await store.close();
    expect(await newsOf(await openAt(place))).toMatchObject({ equipped: 'two', equippings: steps.length });
  });

  it.each(['other', '', 'ONE', 'one\u0000', '\ud800'])('are none called %j', async (name) => {
    const store = await openAt(await newPlace());
    await save(store, toolset('one'));
    valueOf(await equip(store, 'one'));
    expect(await equip(store, name)).toEqual({ ok: true, value: false });
    expect(await removeToolset(store, name)).toEqual({ ok: true, value: false });
    expect(await newsOf(store)).toMatchObject({ names: ['one'], equipped: 'one', equippings: 1 });
  });

  it('stay equipped when they are changed or called otherwise, which is no equipping', async () => {
    const store = await openAt(await newPlace());
    const one = await save(store, toolset('one'));
    const two = await save(store, toolset('two'));
    valueOf(await equip(store, 'one'));
    const changed = await save(store, toolset('one', { description: 'changed' }), formerOf(one));
    expect(await newsOf(store)).toMatchObject({ equipped: 'one', equippings: 1 });
    await save(store, toolset('three'), formerOf(changed));
    await save(store, toolset('four'), formerOf(two));
    expect(await newsOf(store)).toMatchObject({
      names: ['four', 'three'],
      equipped: 'three',
      equippings: 1,
    });
  });

  it('are equipped no more when they are removed, and the others stay as they are', async () => {
    const store = await openAt(await newPlace());
    for (const name of ['one', 'two']) await save(store, toolset(name));
    valueOf(await equip(store, 'one'));
    expect(valueOf(await removeToolset(store, 'two'))).toBe(true);
    expect(await newsOf(store)).toMatchObject({ names: ['one'], equipped: 'one', equippings: 1 });
    expect(valueOf(await removeToolset(store, 'one'))).toBe(true);
    expect(await newsOf(store)).toEqual({ names: [], changed: [], equipped: undefined, equippings: 2 });
    // One of the same name is another one, which nobody equipped.
    await save(store, toolset('one'));
    expect(await newsOf(store)).toMatchObject({ equipped: undefined, equippings: 2 });
  });

  it('are not read again by somebody who knows them', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [one, two] = [await save(store, toolset('one')), await save(store, toolset('two'))];
    const known = knownOf([one, two]);
    // What is not read can be no JSON.
    await rawRows(place, "update assay_toolsets set body_json = '-'");
    expect(await newsOf(store, known)).toMatchObject({ names: ['one', 'two'], changed: [] });
    const changed = await save(store, toolset('two', { description: 'changed' }), formerOf(two));
    const added = await save(store, toolset('three'));
    expect((await newsOf(store, known)).changed).toEqual([added, changed]);
    valueOf(await removeToolset(store, 'three'));
    expect(await newsOf(store, knownOf([one, changed, added]))).toMatchObject({
      names: ['one', 'two'],
      changed: [],
    });
  });

  it('are read by the thousand, and of thousands the one that changed', async () => {
    const store = await openAt(await newPlace());
    const names = Array.from({ length: 1_100 }, (_, at) => `set-${String(at).padStart(4, '0')}`);
    const all = await Promise.all(names.map((name) => save(store, toolset(name))));
    expect((await newsOf(store)).changed).toEqual(all);
    const changed = await save(store, toolset('set-0500', { description: 'x' }), formerOf(all[500]!));
    expect(await newsOf(store, knownOf(all))).toMatchObject({ names, changed: [changed] });
  });

  it('are read as of one moment, whatever another process does meanwhile', async () => {
    const place = await newPlace();
    const [own, other] = [await openAt(place), await openAt(place)];
    let last = await save(other, toolset('name-0'));
    valueOf(await equip(other, 'name-0'));
    const renamed = new AbortController();
    const renaming = (async () => {
      for (let at = 1; at <= 60; at++) last = await save(other, toolset(`name-${at}`), formerOf(last));
      renamed.abort();
    })();
    let reads = 0;
    for (; !renamed.signal.aborted; reads++) {
      const news = await newsOf(own);
      expect(news.names).toEqual([news.equipped]);
      expect(news.changed.map((one) => one.toolset.name)).toEqual([news.equipped]);
    }
    await renaming;
    expect(reads).toBeGreaterThan(5);
  });

  it('are told as a part when they change, here and in another process', async () => {
    const place = await newPlace();
    const [own, other] = [await openAt(place), await openAt(place)];
    const heard = [listenTo(own), listenTo(other)];
    const changes: readonly (readonly [what: string, change: () => Promise<unknown>])[] = [
      ['a new one', () => save(own, toolset('one'))],
      ['a change', async () => save(own, toolset('two'), formerOf((await newsOf(own)).changed[0]!))],
      ['an equipping', () => equip(own, 'two')],
      ['an unequipping', () => equip(own, undefined)],
      ['a removal', () => removeToolset(own, 'two')],
    ];
    for (const [what, change] of changes) {
      // What came before is not taken for what is waited for: at first all parts may be told.
      await until(`it is quiet before ${what}`, async () => {
        for (const parts of heard) parts.clear();
        await sleep(300);
        return heard.every(({ size }) => size === 0) ? true : undefined;
      });
      await change();
      for (const parts of heard)
        await until(`${what} is told`, () => (parts.has('toolsets') ? true : undefined));
      expect(heard.map((parts) => [...parts])).toEqual([['toolsets'], ['toolsets']]);
    }
  });
});

function newsOf(store: Store, known: ReadonlyMap<string, number> = new Map()): Promise<ToolsetNews> {
  return store.toolsets(known).then(valueOf);
}

/** Saves one that is expected to be saved. */
async function save(
  store: Store,
  wanted: Toolset,
  former?: Parameters<typeof saveToolset>[2],
): Promise<StoredToolset> {
  const saved = valueOf(await saveToolset(store, wanted, former));
  if (saved === undefined) throw new Error(`${wanted.name} was not saved`);
  return saved;
}

function formerOf({ toolset: { name }, revision }: StoredToolset): { name: string; revision: number } {
  return { name, revision };
}

function knownOf(all: readonly StoredToolset[]): ReadonlyMap<string, number> {
  return new Map(all.map((one) => [one.toolset.name, one.revision]));
}

/** What it hears from now on. */
function listenTo(store: Store): Set<StorePart> {
  const heard = new Set<StorePart>();
  store.onChange((parts) => parts.forEach((part) => heard.add(part)));
  return heard;
}

import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/gateway/ports/store.ts';
import type { StoredWord, WordChange, WordNews } from '../../../src/gateway/ports/words.ts';
import { until } from '../../support/endings.ts';
import { ageTo, DATABASES, openAt, startProcess } from '../../support/stores.ts';
import { accepted, deed, saveSetting, saveWords, valueOf, wordChange } from '../../support/store-values.ts';

const KINDS = ['tool', 'gateway', 'server'] as const;
const ODD = 'a\u0000b \ud800 \udc00 🎉 "\\u0000" é\u2028';
const ODD_NAMES = [ODD, '__proto__', 'constructor', '', ' ', 'A', 'a', '\ud800', '\udc00', 'x'.repeat(1_000)];

describe.each(DATABASES)('the words of a store in %s', (_database, newPlace) => {
  it('are none at first, and no definition is accepted', async () => {
    const store = await openAt(await newPlace());
    expect(await newsOf(store)).toEqual({ words: [], revision: 0 });
    expect(valueOf(await store.accepted('t'))).toBeUndefined();
    expect(valueOf(await store.deeds({ limit: 10 }))).toEqual([]);
  });

  it('have a place in a store that was made before there were any, and what it held stays', async () => {
    const place = await newPlace();
    const old = await openAt(place);
    valueOf(await saveSetting(old, 'kept', 1));
    await old.close();
    await ageTo(place, 4);
    const store = await openAt(place);
    const saved = await save(store, [wordChange('t', 1, { deed: deed('t'), accepted: accepted('t') })]);
    expect(await newsOf(store)).toEqual({ words: saved, revision: 1 });
    expect(valueOf(await store.accepted('t'))).toEqual(accepted('t'));
    expect(valueOf(await store.deeds({ limit: 10 }))).toEqual([{ ...deed('t'), id: 1 }]);
    expect(valueOf(await store.settings())).toEqual(new Map([['kept', 1]]));
  });

  it('are given back as they were saved, whatever their texts, also after the store is opened anew', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const body = JSON.parse(
      `{"__proto__": {"x": ${JSON.stringify(ODD)}}, "n": null, "e": [], "": 1.5}`,
    ) as unknown;
    const changes = KINDS.flatMap((kind) =>
      ODD_NAMES.map((id): WordChange => ({
        word: { kind, id, body },
        former: undefined,
        accepted: accepted(`${kind} ${id}`, { text: `{ "name" : ${ODD} }` }),
      })),
    );
    const saved = await save(store, changes);
    expect(saved.map(({ revision: _, ...word }) => word)).toEqual(changes.map(({ word }) => word));
    expect(JSON.stringify((await newsOf(store)).words[0]?.body)).toBe(JSON.stringify(body));
    await store.close();
    const again = await openAt(place);
    expect((await newsOf(again)).words).toEqual(saved);
    for (const change of changes)
      expect(valueOf(await again.accepted(change.accepted!.id))).toEqual(change.accepted);
  });

  it.each([[null], [false], [0], [''], [[]], [{}]])(
    'may have %j as their body, which is not nothing',
    async (body) => {
      const store = await openAt(await newPlace());
      const saved = await save(store, [wordChange('t', body)]);
      expect(saved).toEqual([{ kind: 'tool', id: 't', body, revision: 1 }]);
      expect((await newsOf(store)).words).toEqual(saved);
    },
  );

  it('are the same only where both kind and id are', async () => {
    const store = await openAt(await newPlace());
    const changes = KINDS.flatMap((kind) =>
      ['a', 'tool a'].map((id): WordChange => ({ word: { kind, id, body: [kind, id] }, former: undefined })),
    );
    const saved = await save(store, changes);
    expect((await newsOf(store)).words).toEqual(saved);
    const gone = { kind: 'gateway', id: 'a', body: undefined } as const;
    await save(store, [{ word: gone, former: saved[2]!.revision }]);
    expect((await newsOf(store)).words).toEqual([
      ...saved.filter((_, at) => at !== 2),
      { ...gone, revision: saved.length + 1 },
    ]);
  });

  it('are changed only in the revision that they are in', async () => {
    const store = await openAt(await newPlace());
    const [first] = await save(store, [wordChange('t', 'first')]);
    const [second] = await save(store, [wordChange('t', 'second', { former: first!.revision })]);
    for (const former of [undefined, 0, first!.revision, second!.revision + 1])
      expect(await saveWords(store, [wordChange('t', 'late', { former })])).toEqual({
        ok: true,
        value: undefined,
      });
    expect(await saveWords(store, [wordChange('never', 1, { former: 1 })])).toEqual({
      ok: true,
      value: undefined,
    });
    expect(await newsOf(store)).toEqual({ words: [second], revision: second!.revision });
  });

  it('are all changed, or none of them, with their deeds and what is accepted', async () => {
    const store = await openAt(await newPlace());
    const [there] = await save(store, [wordChange('there', 1, { accepted: accepted('there') })]);
    const changes = ['a', 'there', 'b'].map((id) =>
      wordChange(id, 2, { deed: deed(id), accepted: accepted(id, { digest: 'other' }) }),
    );
    expect(valueOf(await saveWords(store, changes))).toBeUndefined();
    expect(await newsOf(store)).toEqual({ words: [there], revision: 1 });
    expect(valueOf(await store.deeds({ limit: 10 }))).toEqual([]);
    expect(valueOf(await store.accepted('a'))).toBeUndefined();
    expect(valueOf(await store.accepted('there'))).toEqual(accepted('there'));
    const later = changes.map((one) => (one.word.id === 'there' ? { ...one, former: 1 } : one));
    expect((await save(store, later)).map(({ revision }) => revision)).toEqual([2, 3, 4]);
    expect(valueOf(await store.accepted('there'))).toEqual(accepted('there', { digest: 'other' }));
  });

  it('take one change at a time: of two of one word at once the second one is too late', async () => {
    const store = await openAt(await newPlace());
    expect(valueOf(await saveWords(store, [wordChange('t', 1), wordChange('t', 2)]))).toBeUndefined();
    expect(await newsOf(store)).toEqual({ words: [], revision: 0 });
    // Two words may well say what is accepted of one tool; then the last one counts.
    await save(store, [
      wordChange('a', 1, { accepted: accepted('t', { digest: 'first' }) }),
      wordChange('b', 1, { accepted: accepted('t', { digest: 'second' }) }),
    ]);
    expect(valueOf(await store.accepted('t'))?.digest).toBe('second');
  });

  it('are news since a revision in the order in which they changed, those that are gone among them', async () => {
    const store = await openAt(await newPlace());
    const [a, b, c] = await save(store, [wordChange('a', 1), wordChange('b', 1), wordChange('c', 1)]);
    const gone = await save(store, [wordChange('b', undefined, { former: b!.revision })]);
    const changed = await save(store, [wordChange('a', 2, { former: a!.revision })]);
    expect(gone).toEqual([{ kind: 'tool', id: 'b', body: undefined, revision: 4 }]);
    expect(await newsOf(store)).toEqual({ words: [c, ...gone, ...changed], revision: 5 });
    expect(await newsOf(store, 3)).toEqual({ words: [...gone, ...changed], revision: 5 });
    expect(await newsOf(store, 5)).toEqual({ words: [], revision: 5 });
    // One that is gone is not one that never was.
    expect(valueOf(await saveWords(store, [wordChange('b', 3)]))).toBeUndefined();
    const back = await save(store, [wordChange('b', 3, { former: 4 })]);
    expect(await newsOf(store, 4)).toEqual({ words: [...changed, ...back], revision: 6 });
  });

  it('lose no change that two make at a time, and are known in the order of their revisions', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)] as const;
    const seen = new Map<string, unknown>();
    let since = 0;
    const writing = Promise.all(stores.map((store, who) => addSteps(store, `${who}`, 40)));
    const ended = writing.then(() => true);
    for (let isOver = false; !isOver;) {
      isOver = await Promise.race([ended, Promise.resolve(false)]);
      const news = await newsOf(stores[0], since);
      for (const { id, body } of news.words) seen.set(id, body);
      since = news.revision;
    }
    expect((await writing).some((late) => late > 0)).toBe(true);
    const whole = await newsOf(stores[1]);
    expect(seen).toEqual(new Map(whole.words.map(({ id, body }) => [id, body])));
    expect(whole.words.find(({ id }) => id === 'shared')?.body).toHaveLength(80);
  });

  it('are told to another process, with their deeds; a read tells nothing', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const other = startProcess(place, 'idle');
    const heard = (): readonly string[] => other.lines().filter((line) => line.includes('heard'));
    await until('it listens', () => (other.lines().join().includes('ready') ? true : undefined), 30_000);
    const changes = [
      ['words', () => save(store, [wordChange('a', 1)])],
      ['deeds', () => save(store, [wordChange('b', 1, { deed: deed('b') })])],
      ['words', () => store.acceptFirst([accepted('a')])],
    ] as const;
    for (const [part, change] of changes) {
      await newsOf(store);
      await store.acceptFirst([]);
      const before = await settled(heard);
      await change();
      await until(`${part} is told`, () => (heard().slice(before).join().includes(part) ? true : undefined));
    }
    const before = await settled(heard);
    expect(valueOf(await store.acceptFirst([accepted('a')])).size).toBe(1);
    expect(await settled(heard)).toBe(before);
    other.child.stdin?.end();
    expect(await other.ended).toBe(0);
  });

  it('are read by the ten thousand, and 500 of them with deeds are changed at once', async () => {
    const store = await openAt(await newPlace());
    const ids = Array.from({ length: 10_000 }, (_, at) => `tool-${at}`);
    const body = {
      overrides: { destructiveHint: { value: false, author: 'local', reason: 'x'.repeat(50) } },
    };
    const startMs = performance.now();
    const saved = await save(
      store,
      ids.map((id) => wordChange(id, body)),
    );
    const allMs = performance.now() - startMs;
    expect((await newsOf(store)).words).toEqual(saved);
    const after = { ...body, isDisabled: true };
    const changes = saved
      .slice(0, 500)
      .map(({ id, revision }) =>
        wordChange(id, after, { former: revision, deed: deed(id, { before: body, after }) }),
      );
    const from = performance.now();
    await save(store, changes);
    // Some tens of ms; one statement a word would take seconds. A busy machine is slow in both.
    expect(performance.now() - from).toBeLessThan(Math.max(1_000, allMs));
    expect((await newsOf(store, 10_000)).words).toHaveLength(500);
    expect(valueOf(await store.deeds({ limit: 1_000 }))).toHaveLength(500);
  });
});

describe.each(DATABASES)('the accepted definitions of a store in %s', (_database, newPlace) => {
  it('are the first ones that somebody saw', async () => {
    const store = await openAt(await newPlace());
    const [a, b] = [accepted('a'), accepted('b')];
    expect(valueOf(await store.acceptFirst([a]))).toEqual(new Map([['a', a.digest]]));
    const later = [accepted('a', { digest: 'later', text: '1' }), b, accepted('b', { digest: 'twice' })];
    expect(valueOf(await store.acceptFirst(later))).toEqual(
      new Map([
        ['a', a.digest],
        ['b', b.digest],
      ]),
    );
    expect([valueOf(await store.accepted('a')), valueOf(await store.accepted('b'))]).toEqual([a, b]);
    expect(valueOf(await store.acceptFirst([]))).toEqual(new Map());
  });

  it('are the same for all who see different ones at a time', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const ids = Array.from({ length: 100 }, (_, at) => `tool-${at}`);
    const asked = Array.from({ length: 6 }, (_, at) =>
      stores[at % 2]!.acceptFirst(
        (at % 2 === 0 ? ids : ids.toReversed()).map((id) => accepted(id, { digest: `of ${at}` })),
      ),
    );
    const given = (await Promise.all(asked)).map(valueOf);
    expect(given[0]?.size).toBe(100);
    for (const one of given) expect(one).toEqual(given[0]);
    const later = valueOf(await stores[0]!.acceptFirst(ids.map((id) => accepted(id, { digest: 'later' }))));
    expect(later).toEqual(given[0]);
  });

  it('are found by any name that a tool may have', async () => {
    const store = await openAt(await newPlace());
    const definitions = ODD_NAMES.map((id) => accepted(id, { text: ODD }));
    const digests = valueOf(await store.acceptFirst(definitions));
    expect(digests).toEqual(new Map(definitions.map(({ id, digest }) => [id, digest])));
    for (const one of definitions) expect(valueOf(await store.accepted(one.id))).toEqual(one);
    expect(valueOf(await store.accepted('a\u0000'))).toBeUndefined();
  });

  it('are not written again when all are known', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    valueOf(await store.acceptFirst([accepted('a')]));
    const heard: string[] = [];
    store.onChange((parts) => heard.push(...parts));
    await settled(() => heard);
    heard.length = 0;
    valueOf(await store.acceptFirst([accepted('a', { digest: 'other' })]));
    await settled(() => heard);
    expect(heard).toEqual([]);
  });
});

function newsOf(store: Store, since = 0): Promise<WordNews> {
  return store.words(since).then(valueOf);
}

/** Saves what is expected to be saved. */
async function save(store: Store, changes: readonly WordChange[]): Promise<readonly StoredWord[]> {
  const saved = valueOf(await saveWords(store, changes));
  if (saved === undefined) throw new Error('they were not saved');
  return saved;
}

/** Adds steps to a word of its own and to one that is shared, both at once; gives how often it came too late. */
async function addSteps(store: Store, who: string, count: number): Promise<number> {
  let late = 0;
  for (let step = 0; step < count;) {
    const { words } = await newsOf(store);
    const changes = [who, 'shared'].map((id) => {
      const there = words.find((word) => word.id === id);
      const steps = (there?.body ?? []) as readonly string[];
      return wordChange(id, [...steps, `${who}-${step}`], { former: there?.revision });
    });
    if (valueOf(await saveWords(store, changes)) === undefined) late++;
    else step++;
  }
  return late;
}

/** How many there are when none came for a while. */
async function settled(list: () => readonly string[]): Promise<number> {
  return until('it is quiet', async () => {
    const before = list().length;
    await new Promise((resolve) => setTimeout(resolve, 600));
    return list().length === before ? before : undefined;
  });
}

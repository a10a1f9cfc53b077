import { describe, expect, it } from 'vitest';
import type { Store, StorePart } from '../../../src/gateway/ports/store.ts';
import { until } from '../../support/endings.ts';
import { DATABASES, openAt } from '../../support/stores.ts';
import {
  type ChangesTogether,
  deed,
  saveTogether,
  toolset,
  valueOf,
  wordChange,
} from '../../support/store-values.ts';

const NONE: ChangesTogether = { words: [], toolsets: [], equip: undefined, settings: [], deeds: [] };

/** One of each. */
const FIRST: ChangesTogether = {
  words: [wordChange('a', { said: 1 }), wordChange('\u0000', null)],
  toolsets: [
    { toolset: toolset('one'), former: undefined },
    { toolset: toolset('two'), former: undefined },
  ],
  equip: { name: 'two', equippings: 0 },
  settings: [{ key: 'limits.drainMs', value: 5, former: undefined }],
  deeds: [deed('a'), deed('b')],
};

async function all(store: Store): Promise<unknown> {
  const deeds = valueOf(await store.deeds({ limit: 100, after: 0 }));
  return { ...valueOf(await store.snapshot()), deeds: deeds.map(({ target }) => target.id) };
}

describe.each(DATABASES)('everything that operators made, in %s', (_, newPlace) => {
  it('is written together, and read as of one moment', async () => {
    const store = await openAt(await newPlace());
    expect(await all(store)).toEqual({
      words: { words: [], revision: 0 },
      toolsets: { names: [], changed: [], equipped: undefined, equippings: 0 },
      settings: new Map(),
      deeds: [],
    });
    expect(valueOf(await saveTogether(store, FIRST))).toBe(true);
    expect(await all(store)).toEqual({
      words: {
        words: [
          { kind: 'tool', id: 'a', body: { said: 1 }, revision: 1 },
          { kind: 'tool', id: '\u0000', body: null, revision: 2 },
        ],
        revision: 2,
      },
      toolsets: {
        names: ['one', 'two'],
        changed: [
          { toolset: toolset('one'), revision: 1 },
          { toolset: toolset('two'), revision: 2 },
        ],
        equipped: 'two',
        equippings: 1,
      },
      settings: new Map([['limits.drainMs', 5]]),
      deeds: ['a', 'b'],
    });
  });

  const LATE: readonly (readonly [what: string, change: Partial<ChangesTogether>])[] = [
    ['a word that is there by now', { words: [wordChange('a', 2)] }],
    ['a word that has changed', { words: [wordChange('a', 2, { former: 7 })] }],
    ['a word twice', { words: [wordChange('new', 1), wordChange('new', 2)] }],
    ['a toolset that is there by now', { toolsets: [{ toolset: toolset('one'), former: undefined }] }],
    ['a toolset that has changed', { toolsets: [{ toolset: toolset('one'), former: 7 }] }],
    ['a toolset that is gone', { toolsets: [{ toolset: toolset('gone'), former: 1 }] }],
    [
      'a toolset twice',
      {
        toolsets: [
          { toolset: toolset('new'), former: undefined },
          { toolset: toolset('new'), former: undefined },
        ],
      },
    ],
    ['another equipping', { equip: { name: 'one', equippings: 0 } }],
    ['a toolset to equip that there is not', { equip: { name: 'gone', equippings: 1 } }],
    ['a setting that is another', { settings: [{ key: 'limits.drainMs', value: 6, former: 4 }] }],
    ['a setting that is gone', { settings: [{ key: 'other', value: 6, former: 4 }] }],
  ];

  it('is not written at all where one of it came too late', async () => {
    const store = await openAt(await newPlace());
    valueOf(await saveTogether(store, FIRST));
    const before = await all(store);
    for (const [what, change] of LATE) {
      const rest: ChangesTogether = {
        words: [wordChange('fresh', 1)],
        toolsets: [{ toolset: toolset('fresh'), former: undefined }],
        equip: undefined,
        settings: [{ key: 'fresh', value: true, former: undefined }],
        deeds: [deed('fresh')],
      };
      const words = [...rest.words, ...(change.words ?? [])];
      const toolsets = [...rest.toolsets, ...(change.toolsets ?? [])];
      const settings = [...rest.settings, ...(change.settings ?? [])];
      const saved = await saveTogether(store, { ...rest, ...change, words, toolsets, settings });
      expect([what, valueOf(saved)]).toEqual([what, false]);
      expect(await all(store)).toEqual(before);
    }
  });

  it('is changed in the place of what is known of it', async () => {
    const store = await openAt(await newPlace());
    valueOf(await saveTogether(store, FIRST));
    const changed = toolset('one', { changedMs: 9 });
    const done = await saveTogether(store, {
      ...NONE,
      words: [wordChange('a', { said: 2 }, { former: 1 })],
      toolsets: [{ toolset: changed, former: 1 }],
      equip: { name: 'one', equippings: 1 },
      settings: [{ key: 'limits.drainMs', value: undefined, former: 5 }],
    });
    expect(valueOf(done)).toBe(true);
    const { words, toolsets, settings } = valueOf(await store.snapshot());
    expect(words.words.map(({ id, body }) => [id, body])).toEqual([
      ['\u0000', null],
      ['a', { said: 2 }],
    ]);
    expect([toolsets.changed[0], toolsets.equipped, settings.size]).toEqual([
      { toolset: changed, revision: 3 },
      'one',
      0,
    ]);
  });

  it('is done once by two who want the same at a time, and other processes hear of all of its parts', async () => {
    const place = await newPlace();
    const [one, two] = [await openAt(place), await openAt(place)];
    const heard = new Set<StorePart>();
    two.onChange((parts) => parts.forEach((part) => heard.add(part)));
    const tries = [one, two, one, two].map(async (store) => valueOf(await saveTogether(store, FIRST)));
    expect((await Promise.all(tries)).filter(Boolean)).toEqual([true]);
    await until('all parts are heard of', () =>
      (['words', 'toolsets', 'settings', 'deeds'] as const).every((part) => heard.has(part))
        ? true
        : undefined,
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/gateway/ports/store.ts';
import type { RecordNews, StoredRecord } from '../../../src/gateway/ports/records.ts';
import type { ToolRecord } from '../../../src/core/hints/tool-record.ts';
import type { Toolset } from '../../../src/core/toolset.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { until } from '../../../../../test/support/endings.ts';
import { DATABASES, openAt, rawRows, startProcess } from '../../../../../test/support/stores.ts';
import {
  accepted,
  auditEvent,
  equipChange,
  type RevisedChange,
  saveRecords,
  settingChange,
  toolChange,
  toolRecord,
  toolset,
  toolsetChange,
  valueOf,
} from '../../../../../test/support/store-values.ts';

endAfterEach();

const ODD = 'a\u0000b \ud800 \udc00 🎉 "\\u0000" é\u2028';
const ODD_NAMES = [ODD, '__proto__', 'constructor', '', ' ', 'A', 'a', '\ud800', '\udc00', 'x'.repeat(1_000)];
const ENTRY = { keyId: 'k', sealed: 'AAAA', createdMs: 1, author: ODD };

function driftedTool(id: string): ToolRecord {
  return { ...toolRecord(id, 'n'), drift: { digest: 'd', sinceMs: 1, changes: [], risks: [] } };
}

/** One of each kind. */
const EACH: readonly RevisedChange[] = [
  {
    record: {
      kind: 'tool',
      id: 't',
      body: {
        ...toolRecord('t', ODD),
        isDisabled: true,
        overrides: { readOnlyHint: { value: false, author: ODD, atMs: 1, digest: 'd' } },
        drift: {
          digest: 'd',
          sinceMs: 1,
          changes: [{ path: ODD, before: '1' }],
          risks: [{ code: 'hint_lowered', hint: 'readOnlyHint', value: true }, { code: 'name' }],
        },
        volatility: { connects: 2, isAccepted: false },
      },
    },
  },
  { record: { kind: 'trust', id: 's', body: { server: ODD, identity: 'one', trust: false } } },
  { record: { kind: 'gateway', id: 'g', body: { ...ENTRY, name: ODD, importedMs: 2 } } },
  { record: { kind: 'rest_tool', id: 'r', body: { ...ENTRY, name: 'r' } } },
  { record: { kind: 'function_module', id: 'm', body: { ...ENTRY, name: 'm' } } },
  {
    record: {
      kind: 'instructions',
      id: 's',
      body: {
        server: 's',
        identity: 'one',
        accepted: { digest: 'd', text: ODD },
        changed: { digest: 'e', text: '', sinceMs: 7 },
      },
    },
  },
  toolsetChange(
    toolset('odd', {
      description: ODD,
      maker: { by: 'model', subject: ODD },
      tools: [
        { namespacedName: `s.${ODD}` },
        { namespacedName: 's.b', held: { refId: 'r', digest: 'ab', text: `{ "name" : ${ODD} }` } },
      ],
      toolNotes: [
        {
          namespacedName: `s.${ODD}`,
          notes: [{ name: 'n', note: ODD, author: ODD, by: 'model', writtenMs: 7, isHeld: true }],
        },
      ],
    }),
  ),
  equipChange('odd', 3),
  settingChange('a', ODD),
  settingChange('b', false),
  settingChange('c', 0),
  settingChange('d', ''),
];

describe.each(DATABASES)('the records of a store in %s', (_database, newPlace) => {
  it('are empty at first, and no definition is accepted', async () => {
    const store = await openAt(await newPlace());
    expect(await newsOf(store)).toEqual({ records: [], unreadable: [], revision: 0 });
    expect(valueOf(await store.accepted('t'))).toBeUndefined();
    expect(valueOf(await store.auditEvents({ limit: 10 }))).toEqual([]);
  });

  it('of all kinds are returned as saved, even after reopening', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const saved = await save(store, EACH);
    const expected = { records: saved, unreadable: [], revision: EACH.length };
    expect(await newsOf(store)).toEqual(expected);
    await store.close();
    expect(await newsOf(await openAt(place))).toEqual(expected);
  });

  it('may have any id, and are identified by kind and id', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const changes = ODD_NAMES.flatMap((id): readonly RevisedChange[] => [
      { ...toolChange(id, id), accepted: accepted(id, { text: `{ "name" : ${ODD} }` }) },
      settingChange(id, `tool ${id}`),
    ]);
    const saved = await save(store, changes);
    await store.close();
    const again = await openAt(place);
    expect((await newsOf(again)).records).toEqual(saved);
    for (const change of changes.flatMap((one) => one.accepted ?? []))
      expect(valueOf(await again.accepted(change.id))).toEqual(change);
    const gone = await save(again, [settingChange('a', undefined, saved[13]?.revision)]);
    expect((await newsOf(again)).records).toEqual([...saved.filter((_, at) => at !== 13), ...gone]);
  });

  it('change only if the given revision is current', async () => {
    const store = await openAt(await newPlace());
    const [first] = await save(store, [toolChange('t', 'first')]);
    const [second] = await save(store, [toolChange('t', 'second', { former: first!.revision })]);
    for (const former of [undefined, 0, first!.revision, second!.revision + 1])
      expect(await saveRecords(store, [toolChange('t', 'late', { former })])).toEqual({
        ok: true,
        value: undefined,
      });
    expect(await saveRecords(store, [toolChange('never', 1, { former: 1 })])).toEqual({
      ok: true,
      value: undefined,
    });
    expect(await newsOf(store)).toEqual({ records: [second], unreadable: [], revision: second!.revision });
  });

  it('that a commit depends on must have the expected revision, too', async () => {
    const store = await openAt(await newPlace());
    await save(store, [toolChange('seen', 1)]);
    const commit = (revision: number | undefined): ReturnType<Store['commit']> =>
      store.commit({
        changes: [toolChange('other', 1).record],
        expectedRevisions: [{ kind: 'tool', id: 'seen', revision }],
        audit: [auditEvent('other')],
      });
    expect(await commit(undefined)).toEqual({ ok: true, value: undefined });
    expect(valueOf(await store.auditEvents({ limit: 1 }))).toEqual([]);
    expect(await commit(1)).toEqual({ ok: true, value: { revision: 2 } });
  });

  it('all change or none, together with their audit events and accepted definitions', async () => {
    const store = await openAt(await newPlace());
    const [there] = await save(store, [toolChange('there', 1, { accepted: accepted('there') })]);
    const changes = [
      ...['a', 'there', 'b'].map((id) =>
        toolChange(id, 2, { event: auditEvent(id), accepted: accepted(id, { digest: 'other' }) }),
      ),
      ...EACH,
    ];
    expect(valueOf(await saveRecords(store, changes))).toBeUndefined();
    expect(await newsOf(store)).toEqual({ records: [there], unreadable: [], revision: 1 });
    expect(valueOf(await store.auditEvents({ limit: 10 }))).toEqual([]);
    expect(valueOf(await store.accepted('a'))).toBeUndefined();
    expect(valueOf(await store.accepted('there'))).toEqual(accepted('there'));
    const later = changes.map((one) => (one.record.id === 'there' ? { ...one, former: 1 } : one));
    expect((await save(store, later)).map(({ revision }) => revision)).toEqual(
      changes.map((_, at) => at + 2),
    );
    expect(valueOf(await store.accepted('there'))).toEqual(accepted('there', { digest: 'other' }));
    expect(valueOf(await store.auditEvents({ limit: 10 }))).toHaveLength(3);
  });

  it('cannot change twice in one commit; an accepted definition can, and the later one wins', async () => {
    const store = await openAt(await newPlace());
    expect(valueOf(await saveRecords(store, [toolChange('t', 1), toolChange('t', 2)]))).toBeUndefined();
    expect(await newsOf(store)).toEqual({ records: [], unreadable: [], revision: 0 });
    // Two records may both accept a definition of one tool; the later one wins.
    await save(store, [
      toolChange('a', 1, { accepted: accepted('t', { digest: 'first' }) }),
      toolChange('b', 1, { accepted: accepted('t', { digest: 'second' }) }),
    ]);
    expect(valueOf(await store.accepted('t'))?.digest).toBe('second');
  });

  it('changed since a revision are returned in the order of their changes, including deletions', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const [a, b, c] = await save(store, [toolChange('a', 1), toolChange('b', 1), toolChange('c', 1)]);
    const gone = await save(store, [toolChange('b', undefined, { former: b!.revision })]);
    const changed = await save(store, [toolChange('a', 2, { former: a!.revision })]);
    expect(gone).toEqual([{ kind: 'tool', id: 'b', body: undefined, revision: 4 }]);
    const news = { unreadable: [], revision: 5 };
    expect(await newsOf(store)).toEqual({ ...news, records: [c, ...gone, ...changed] });
    // A known record is not read again, so it need not even be JSON.
    await rawRows(place, "update assay_records set body_json = '-' where revision <= 3");
    expect(await newsOf(store, 3)).toEqual({ ...news, records: [...gone, ...changed] });
    expect(await newsOf(store, 5)).toEqual({ ...news, records: [] });
    // A deleted record differs from one that never existed.
    expect(valueOf(await saveRecords(store, [toolChange('b', 3)]))).toBeUndefined();
    const back = await save(store, [toolChange('b', 3, { former: 4 })]);
    expect(await newsOf(store, 4)).toEqual({ unreadable: [], revision: 6, records: [...changed, ...back] });
  });

  it('written by a newer Assay or damaged are reported as such, and affect no other record', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const saved = await save(
      store,
      ['a', 'b', 'c', 'd'].map((id) => toolChange(id, 1)),
    );
    await rawRows(place, 'update assay_records set version = 2 where id_json = \'"a"\'');
    await rawRows(place, "update assay_records set kind = 'later' where id_json = '\"b\"'");
    await rawRows(place, 'update assay_records set body_json = \'{"id":1}\' where id_json = \'"c"\'');
    expect(await newsOf(store)).toEqual({
      records: [saved[3]],
      unreadable: [
        {
          kind: 'tool',
          id: 'a',
          revision: 1,
          reason: 'it has version 2, and this Assay knows version 1',
        },
        { kind: 'later', id: 'b', revision: 2, reason: 'the kind "later" is not known' },
        { kind: 'tool', id: 'c', revision: 3, reason: 'id: it must be a string' },
      ],
      revision: 4,
    });
  });

  it('are read as a snapshot, even while another store writes', async () => {
    const place = await newPlace();
    const [own, other] = [await openAt(place), await openAt(place)];
    const writing = new AbortController();
    const write = async (): Promise<void> => {
      let former: number | undefined;
      for (let at = 1; at <= 60; at++) {
        const pair = ['one', 'two'].map((id, place) =>
          toolChange(id, at, { former: former === undefined ? undefined : former + place }),
        );
        former = (await save(other, pair))[0]?.revision;
      }
      writing.abort();
    };
    const written = write();
    let reads = 0;
    for (; !writing.signal.aborted; reads++) {
      const { records } = await newsOf(own);
      const [one, two] = records.map((record) => (record.kind === 'tool' ? record.body?.title : undefined));
      expect(one).toBe(two);
    }
    await written;
    expect(reads).toBeGreaterThan(5);
  });

  it('lose no concurrent change, and are ordered by revision', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)] as const;
    const seen = new Map<string, unknown>();
    let since = 0;
    const writing = Promise.all(stores.map((store, who) => addSteps(store, `${who}`, 40)));
    const ended = writing.then(() => true);
    for (let isOver = false; !isOver;) {
      isOver = await Promise.race([ended, Promise.resolve(false)]);
      const news = await newsOf(stores[0], since);
      for (const { id, body } of news.records) seen.set(id, body);
      since = news.revision;
    }
    expect((await writing).some((late) => late > 0)).toBe(true);
    const whole = await newsOf(stores[1]);
    expect(seen).toEqual(new Map(whole.records.map(({ id, body }) => [id, body])));
    expect(stepsIn(whole, 'shared')).toHaveLength(80);
  });

  it('are announced to another process with their audit events; a read announces nothing', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const other = startProcess(place, 'idle');
    const heard = (): readonly string[] => other.lines().filter((line) => line.includes('heard'));
    await until('it listens', () => (other.lines().join().includes('ready') ? true : undefined), 30_000);
    const changes = [
      ['records', () => save(store, [toolChange('a', 1)])],
      ['audit', () => save(store, [toolChange('b', 1, { event: auditEvent('b') })])],
      ['records', () => store.acceptFirst([accepted('a')])],
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

  it('can be read 10,000 at once, and 500 changed at once with audit events', async () => {
    const store = await openAt(await newPlace());
    const ids = Array.from({ length: 10_000 }, (_, at) => `tool-${at}`);
    const startMs = performance.now();
    const saved = await save(
      store,
      ids.map((id) => toolChange(id, 'x'.repeat(50))),
    );
    const allMs = performance.now() - startMs;
    expect((await newsOf(store)).records).toEqual(saved);
    const changes = saved
      .slice(0, 500)
      .map(({ id, revision }) =>
        toolChange(id, 'y', { former: revision, event: auditEvent(id, { before: 'x', after: 'y' }) }),
      );
    const from = performance.now();
    await save(store, changes);
    // Takes some tens of ms; one statement per record would take seconds. A busy machine slows both down.
    expect(performance.now() - from).toBeLessThan(Math.max(1_000, allMs));
    expect((await newsOf(store, 10_000)).records).toHaveLength(500);
    expect(valueOf(await store.auditEvents({ limit: 1_000 }))).toHaveLength(500);
  });
});

describe.each(DATABASES)('the toolsets of models in a store in %s', (_database, newPlace) => {
  it('are bounded in size, with notes by models, and those of operators are not', async () => {
    const store = await openAt(await newPlace());
    const change = async (by: 'model' | 'operator', name: string, body?: Toolset): Promise<string> => {
      const event = auditEvent(name, { subject: 'anna', ...(by === 'model' && { peer: 'model' }) });
      const record = { kind: 'toolset', id: name, body } as const;
      const done = await store.commit({ changes: [record], expectedRevisions: [], audit: [event] });
      return done.ok ? 'saved' : done.error.code;
    };
    const sized = (by: 'model' | 'operator', name: string, MiB: number): Toolset => {
      const held = { refId: 'r', digest: 'd', text: 'x'.repeat(MiB * 1024 * 1024) };
      return toolset(name, { maker: { by, subject: 'anna' }, tools: [{ namespacedName: 's.t', held }] });
    };
    const noted = (by: 'model' | 'operator', MiB: number): Toolset => {
      const written = {
        author: 'anna',
        by,
        writtenMs: 1,
        isHeld: false,
        note: 'x'.repeat(MiB * 1024 * 1024),
      };
      return toolset('o', { toolNotes: [{ namespacedName: 's.t', notes: [{ name: 'n', ...written }] }] });
    };
    for (const name of ['a', 'b'])
      expect(await change('model', name, sized('model', name, 30))).toBe('saved');
    expect(await change('model', 'c', sized('model', 'c', 5))).toBe('TOOLSETS_TOO_LARGE');
    expect(await change('model', 'b', sized('model', 'b', 35))).toBe('TOOLSETS_TOO_LARGE');
    expect(await change('model', 'o', noted('model', 5))).toBe('TOOLSETS_TOO_LARGE');
    expect(await change('operator', 'o', sized('operator', 'o', 5))).toBe('saved');
    expect(await change('operator', 'o', noted('operator', 5))).toBe('saved');
    // An operator makes one their own.
    expect(await change('operator', 'a', sized('operator', 'a', 1))).toBe('saved');
    expect(await change('model', 'c', sized('model', 'c', 30))).toBe('saved');
    expect(await change('model', 'o', noted('model', 5))).toBe('TOOLSETS_TOO_LARGE');
    expect(await change('model', 'b')).toBe('saved');
    expect(await change('model', 'o', noted('model', 5))).toBe('saved');
  }, 60_000);
});

describe.each(DATABASES)('the accepted definitions of a store in %s', (_database, newPlace) => {
  it('are the first ones seen', async () => {
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

  it('are the same for all processes that see different ones concurrently', async () => {
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

  it('of one server are bounded in number and size, in every process, and its first ones stay', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const bounds = { entries: 5, bytes: 1_000, entriesPerMinute: 3, bytesPerMinute: 620 };
    const take = async (
      store: number,
      peer: string,
      nowMs: number,
      ids: readonly string[],
    ): Promise<string> => {
      const definitions = ids.map((id) =>
        accepted(id, { text: 'x'.repeat(id.startsWith('big') ? 550 : 48) }),
      );
      return [...valueOf(await stores[store]!.acceptFirst(definitions, { peer, bounds, nowMs })).keys()]
        .toSorted()
        .join();
    };
    expect(await take(0, 's', 0, ['a', 'b', 'big1'])).toBe('a,b');
    // The rest of the minute has room for one more, wherever the server is seen.
    expect(await take(1, 's', 59_000, ['a', 'c', 'd'])).toBe('a,c');
    expect(await take(0, 'other', 59_000, ['o'])).toBe('o');
    // Another minute later, but only two more fit in all.
    expect(await take(0, 's', 120_000, ['big1', 'big2', 'd', 'e'])).toBe('big1,d');
    expect(await take(1, 's', 240_000, ['e', 'f'])).toBe('');
    expect(await take(1, 's', 240_000, ['a', 'b', 'c', 'big1', 'd', 'e'])).toBe('a,b,big1,c,d');
    // What an operator has reviewed does not count: these are five reviewed and two new ones.
    const reviewed = ['a', 'b', 'e'].map((id) => toolChange(id, 1, { accepted: accepted(id) }));
    await save(stores[0]!, reviewed);
    expect(await take(1, 's', 360_000, ['e', 'f', 'g', 'h'])).toBe('e,f,g');
    expect(valueOf(await stores[1]!.accepted('a'))).toEqual(accepted('a'));
  });

  it('and changes of definitions are bounded in number, size and rate, in every process', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)] as const;
    const bounds = { entries: 4, bytes: 1_000, entriesPerMinute: 3, bytesPerMinute: 600 };
    const take = async (
      store: Store,
      nowMs: number,
      sizes: Readonly<Record<string, number>>,
    ): Promise<string> => {
      const rows = Object.entries(sizes).map(([id, bytes]) => ({ id, bytes }));
      const growth = { peer: 's', bounds, nowMs };
      const fit = [...valueOf(await store.fittingDrift({ growth, rows }))];
      const changes = fit.map((id) => ({ kind: 'tool', id, body: driftedTool(id) }) as const);
      const drift = { growth, rows: rows.filter(({ id }) => fit.includes(id)) };
      valueOf(await store.commit({ changes, expectedRevisions: [], audit: [], drift }));
      return fit.toSorted().join();
    };
    expect(await take(stores[0], 0, { a: 100, b: 100, large: 500 })).toBe('a,b');
    // A tool that changes again counts again: after this, there is room for 100 bytes.
    expect(await take(stores[1], 10_000, { a: 300 })).toBe('a');
    expect(await take(stores[0], 20_000, { a: 101, b: 100 })).toBe('b');
    expect(await take(stores[1], 30_000, { c: 1 })).toBe('');
    // Later, only what is stored counts.
    expect(await take(stores[1], 100_000, { a: 400, b: 100, c: 50 })).toBe('a,b,c');
    expect(await take(stores[0], 200_000, { d: 450, e: 450, f: 1 })).toBe('d');
    expect(await take(stores[0], 300_000, { e: 1 })).toBe('');
    // What fits in one process may no longer fit in the transaction; then nothing is written.
    const late = { growth: { peer: 's', bounds, nowMs: 300_000 }, rows: [{ id: 'e', bytes: 1 }] };
    const commit = { changes: [], expectedRevisions: [], audit: [], drift: late };
    expect(valueOf(await stores[1].commit(commit))).toBeUndefined();
    // A tool without changes no longer counts.
    const removal = { kind: 'tool', id: 'a', body: undefined } as const;
    valueOf(await stores[1].commit({ changes: [removal], expectedRevisions: [], audit: [] }));
    expect(await take(stores[0], 400_000, { e: 400 })).toBe('e');
  });

  it('are found under any name that a tool may have', async () => {
    const store = await openAt(await newPlace());
    const definitions = ODD_NAMES.map((id) => accepted(id, { text: ODD }));
    const digests = valueOf(await store.acceptFirst(definitions));
    expect(digests).toEqual(new Map(definitions.map(({ id, digest }) => [id, digest])));
    for (const one of definitions) expect(valueOf(await store.accepted(one.id))).toEqual(one);
    expect(valueOf(await store.accepted('a\u0000'))).toBeUndefined();
  });

  it('are not written again if all are known', async () => {
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

type News = Pick<RecordNews, 'records' | 'unreadable' | 'revision'>;

async function newsOf(store: Store, since = 0): Promise<News> {
  const { records, unreadable, revision } = valueOf(await store.records(since));
  return { records, unreadable, revision };
}

/** Saves a record that must be accepted. */
async function save(store: Store, changes: readonly RevisedChange[]): Promise<readonly StoredRecord[]> {
  const saved = valueOf(await saveRecords(store, changes));
  if (saved === undefined) throw new Error('they were not saved');
  return saved;
}

function stepsIn({ records }: News, id: string): readonly string[] {
  const found = records.find((record) => record.id === id);
  return found?.kind === 'tool' && found.body?.title ? found.body.title.split(' ') : [];
}

/** Adds steps to its own record and a shared one, in one commit; returns the number of conflicts. */
async function addSteps(store: Store, who: string, count: number): Promise<number> {
  let late = 0;
  for (let step = 0; step < count;) {
    const news = await newsOf(store);
    const changes = [who, 'shared'].map((id) =>
      toolChange(id, [...stepsIn(news, id), `${who}-${step}`].join(' '), {
        former: news.records.find((record) => record.id === id)?.revision,
      }),
    );
    if (valueOf(await saveRecords(store, changes)) === undefined) late++;
    else step++;
  }
  return late;
}

/** Waits until the list stops growing; returns its length. */
async function settled(list: () => readonly string[]): Promise<number> {
  return until('it is quiet', async () => {
    const before = list().length;
    await new Promise((resolve) => setTimeout(resolve, 600));
    return list().length === before ? before : undefined;
  });
}

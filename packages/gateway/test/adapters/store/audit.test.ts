import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/core/audit-event.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import type { AuditQuery, StoredAuditEvent } from '../../../src/gateway/ports/records.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import {
  auditEvent,
  readableAuditEvents,
  type RevisedChange,
  saveRecords,
  saveSetting,
  token,
  toolChange,
  toolset,
  toolsetChange,
  valueOf,
} from '../../../../../test/support/store-values.ts';

endAfterEach();

describe.each(DATABASES)('the audit log of a store in %s', (database, newPlace) => {
  it('returns events as written, with any text, even after reopening', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const odd = 'a\u0000b \ud800 \udc00 🎉 "\\u0000" é\u2028';
    const value = JSON.parse(`{"__proto__": ${JSON.stringify(odd)}}`) as unknown;
    const done = [
      auditEvent(odd, {
        subject: odd,
        target: { kind: 'gateway', id: odd, name: odd },
        before: value,
        after: [odd],
      }),
      auditEvent('__proto__', { subject: '', target: { kind: 'tool', id: '__proto__', name: '__proto__' } }),
      auditEvent('n', { before: null, after: false }),
      auditEvent('only after', { after: 0 }),
      auditEvent('only before', { before: '' }),
    ];
    await doAll(store, done);
    await store.close();
    const found = await eventsOf(await openAt(place), { limit: 10, after: 0 });
    expect(found).toEqual(done.map((one, at) => ({ ...one, id: at + 1 })));
    expect(JSON.stringify(found[0]?.before)).toBe(JSON.stringify(value));
  });

  it('is read in pages, newest first, or oldest first after a known event', async () => {
    const store = await openAt(await newPlace());
    await doAll(
      store,
      Array.from({ length: 7 }, (_, at) => auditEvent(`t${at}`)),
    );
    const ids = async (query: AuditQuery): Promise<readonly number[]> =>
      (await eventsOf(store, query)).map(({ id }) => id);
    expect(await ids({ limit: 3 })).toEqual([7, 6, 5]);
    expect(await ids({ limit: 3, before: 5 })).toEqual([4, 3, 2]);
    expect(await ids({ limit: 3, before: 2 })).toEqual([1]);
    expect(await ids({ limit: 3, before: 1 })).toEqual([]);
    expect(await ids({ limit: 3, after: 0 })).toEqual([1, 2, 3]);
    expect(await ids({ limit: 3, after: 5 })).toEqual([6, 7]);
    expect(await ids({ limit: 3, after: 7 })).toEqual([]);
    expect(await ids({ limit: 3, after: 2, before: 4 })).toEqual([3]);
  });

  it('can be filtered by target', async () => {
    const store = await openAt(await newPlace());
    const kinds = ['tool', 'gateway', 'toolset', 'token', 'preference', 'subject'] as const;
    const ids = ['a', 'a\u0000', '__proto__'];
    await doAll(
      store,
      kinds.flatMap((kind) => ids.map((id) => auditEvent(id, { target: { kind, id, name: 'same' } }))),
    );
    for (const kind of kinds)
      for (const id of ids) {
        const own = { kind, id, name: 'same' };
        const targets = async (query: Omit<AuditQuery, 'limit'>): Promise<readonly unknown[]> =>
          (await eventsOf(store, { ...query, limit: 20 })).map(({ target }) => target);
        expect(await targets({ targetKind: kind, targetId: id })).toEqual([own]);
        expect(await targets({ targetKind: kind, after: 0 })).toEqual(
          ids.map((one) => ({ ...own, id: one })),
        );
        expect(await targets({ targetId: id, after: 0 })).toEqual(
          kinds.map((one) => ({ ...own, kind: one })),
        );
      }
    expect(await eventsOf(store, { limit: 5, targetId: 'b' })).toEqual([]);
  });

  it('contains an event if and only if its change was made', async () => {
    const store = await openAt(await newPlace());
    const event = auditEvent('x');
    const revoking = { atMs: 5, subject: 'op', action: 'token.revoke' };
    const save = (...changes: readonly RevisedChange[]) => saveRecords(store, changes);
    const writes: readonly (readonly [what: string, isDone: boolean, () => Promise<unknown>])[] = [
      ['a record', true, () => save({ ...toolsetChange(toolset('one')), event })],
      ['a record that is there', false, () => save({ ...toolsetChange(toolset('one')), event })],
      ['a change', true, () => save({ ...toolsetChange(toolset('one'), 1), event })],
      ['a change that is late', false, () => save({ ...toolsetChange(toolset('one'), 1), event })],
      ['records', true, () => save({ ...toolChange('w', 1), event }, toolChange('v', 1))],
      ['records that are late', false, () => save({ ...toolChange('w', 1), event })],
      ['a removal', true, () => save(toolChange('w', undefined, { former: 3, event }))],
      ['a setting', true, () => saveSetting(store, 'a', 1, event)],
      ['a setting that is taken away', true, () => saveSetting(store, 'a', undefined, event)],
      ['a token', true, () => store.addToken(token('t'), event)],
      [
        'a token of the same name',
        false,
        () => store.addToken({ ...token('u'), name: token('t').name }, event),
      ],
      ['a token that is revoked', true, () => store.revokeToken(token('t').name, 5, revoking)],
      ['one that is not there', false, () => store.revokeToken('t', 5, revoking)],
      ['a write that tells nothing', false, () => saveSetting(store, 'b', 1)],
    ];
    for (const [what, isDone, write] of writes) {
      const before = await eventsOf(store, { limit: 100 });
      await write();
      const [newest, ...rest] = await eventsOf(store, { limit: 100 });
      expect([what, isDone ? rest : [newest, ...rest].filter(Boolean)]).toEqual([what, before]);
      if (what === 'a token that is revoked')
        expect(newest).toMatchObject({ ...revoking, target: { kind: 'token', id: 't', name: 'name of t' } });
      else if (isDone) expect(newest).toEqual({ ...event, id: newest?.id });
    }
  });

  it('bounds what models and clients change per minute, and what they do never removes an event of an operator', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    let changes = 0;
    const change = async (count: number, more: Partial<AuditEvent>): Promise<string> => {
      const audit = Array.from({ length: count }, (_, at) => auditEvent(`${(changes += 1)} ${at}`, more));
      const body = { name: 't', createdMs: changes, changedMs: 1, tools: [], toolNotes: [] };
      const record = { kind: 'toolset', id: 't', body } as const;
      const done = await store.commit({ changes: [record], expectedRevisions: [], audit });
      return done.ok ? 'saved' : done.error.code;
    };
    const model = { peer: 'model', subject: 'anna' } as const;
    const atMs = 1_790_000_000_123;
    await doAll(store, [auditEvent('first')]);
    expect(await change(300, { ...model, atMs })).toBe('saved');
    expect(await change(300, { ...model, atMs: atMs + 59_000 })).toBe('saved');
    const before = valueOf(await store.records(0)).records;
    expect(await change(1, { ...model, atMs: atMs + 59_000 })).toBe('CHANGES_LIMIT');
    expect(await change(1, { ...model, peer: 'client', atMs: atMs + 59_000 })).toBe('CHANGES_LIMIT');
    expect(valueOf(await store.records(0)).records).toEqual(before);
    expect(await eventsOf(store, { limit: 1_000 })).toHaveLength(601);
    // Neither other models are affected, nor the operator, who may have the same name, nor a server.
    for (const other of [{ peer: 'model', subject: 'ben' }, { subject: 'anna' }, { peer: 'server' }] as const)
      expect(await change(1, { ...other, atMs: atMs + 59_000 })).toBe('saved');
    expect(await change(1, { ...model, atMs: atMs + 130_000 })).toBe('saved');
  });

  it('keeps the newest 10,000 events of a model or server, and 16 MiB of them', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const of = async (subject: string): Promise<readonly string[]> => {
      const events: StoredAuditEvent[] = [];
      for (let after = 0; ; after = events.at(-1)!.id) {
        const some = await eventsOf(store, { limit: 5_000, after });
        if (some.length === 0) break;
        events.push(...some);
      }
      return events.flatMap((event) => (event.subject === subject ? [event.target.id] : []));
    };
    const peer = { peer: 'server', subject: 'server:s' } as const;
    const other = { peer: 'server', subject: 'server:other' } as const;
    const operator = { subject: 'server:s', action: 'tool.review' };
    const all = (count: number, from: number, more: Partial<AuditEvent>) =>
      Array.from({ length: count }, (_, at) => auditEvent(String(from + at), { ...more, atMs: from + at }));
    await doAll(store, [auditEvent('op', operator), auditEvent('other', other)]);
    for (let from = 0; from < 12_000; from += 3_000) await doAll(store, all(3_000, from, peer));
    const left = await of('server:s');
    expect(left).toEqual(['op', ...all(10_000, 2_000, {}).map(({ target }) => target.id)]);
    const after = 'x'.repeat(1024 * 1024 - 1_000);
    for (let at = 0; at < 20; at += 1) await doAll(store, all(1, 20_000 + at, { ...peer, after }));
    expect(await of('server:s')).toEqual(['op', ...all(16, 20_004, {}).map(({ target }) => target.id)]);
    expect(await of('server:other')).toEqual(['other']);
    const counted = await rawRows(
      place,
      "select count(*) as count from assay_charges where charged = 'audit'",
    );
    expect(counted).toMatchObject([{ count: expect.anything() as unknown }]);
    expect(Number((counted[0] as { readonly count: unknown }).count)).toBe(17);
  });

  it.each<Damage>([
    ['at_ms', ['9007199254740991', '-9007199254740991'], 'is not a time'],
    ['subject_json', ["'x'", "''", "'{'"], 'is not JSON'],
    ['subject_json', ["'null'", "'7'", "'[]'"], 'is not a JSON string'],
    ['target_kind', ["'x'", "''", "'__proto__'"], 'has an unknown value'],
    ['target_id_json', ["'x'"], 'is not JSON'],
    ['target_name_json', ["'{}'"], 'is not a JSON string'],
    ['before_json', ["'x'", "''"], 'is not JSON'],
    ['after_json', ["'{'"], 'is not JSON'],
    ...(database === 'SQLite' ? OF_ANY_TYPE : []),
  ])('lists the others after another program changed %s of one to %j', async (column, values, reason) => {
    const place = await newPlace();
    const store = await openAt(place);
    const events = ['a', 'b', 'c'].map((id) => auditEvent(id, { before: [id], after: { id } }));
    await doAll(store, events);
    for (const value of values) {
      await rawRows(place, `update assay_audit set ${column} = ${value} where id = 2`);
      expect(valueOf(await store.auditEvents({ limit: 10, after: 0 }))).toEqual([
        { ...events[0], id: 1 },
        { id: 2, kind: 'unreadable', reason: `its column ${column} ${reason}` },
        { ...events[2], id: 3 },
      ]);
    }
    await doAll(store, [auditEvent('later')]);
    expect(valueOf(await store.auditEvents({ limit: 1 }))).toMatchObject([{ id: 4 }]);
  });

  it('numbers events without gaps, in the order in which a reader sees them, across two stores', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const writing = Promise.all(
      stores.map(async (store, who) => {
        for (let at = 0; at < 40; at++) {
          if (who === 0) await doAll(store, [auditEvent(`a ${at}`), auditEvent(`b ${at}`)]);
          else for (const key of ['a', 'b']) valueOf(await saveSetting(store, key, at, auditEvent(key)));
        }
      }),
    );
    const ended = writing.then(() => true);
    const seen: StoredAuditEvent[] = [];
    for (let isOver = false; !isOver;) {
      isOver = await Promise.race([ended, Promise.resolve(false)]);
      seen.push(...(await eventsOf(stores[0]!, { limit: 1_000, after: seen.at(-1)?.id ?? 0 })));
    }
    await writing;
    expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: 160 }, (_, at) => at + 1));
  });
});

type Damage = [column: string, values: readonly string[], reason: string];

/** Values of another type, which only SQLite takes. */
const OF_ANY_TYPE: readonly Damage[] = [
  ['at_ms', ["'x'", "x'00'"], 'is not a time'],
  ['action', ["x'00'"], 'is not text'],
  ['target_name_json', ["x'00'"], 'is not JSON'],
  ['after_json', ["x'7b7d'"], 'is not JSON'],
];

let tools = 0;

/** Saves each event with the change of a record. */
async function doAll(store: Store, events: readonly AuditEvent[]): Promise<void> {
  const saved = await saveRecords(
    store,
    events.map((event) => toolChange(`tool ${tools++}`, 1, { event })),
  );
  expect(valueOf(saved)).toHaveLength(events.length);
}

async function eventsOf(store: Store, query: AuditQuery): Promise<readonly StoredAuditEvent[]> {
  return readableAuditEvents(store, query);
}

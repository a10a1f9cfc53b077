import { describe, expect, it } from 'vitest';
import { SESSION_TOOLSET_LIMITS, type SessionToolset } from '../../../src/gateway/ports/session-toolsets.ts';
import type { SessionToolsetChange } from '../../../src/gateway/ports/session-toolsets.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

function session(client: string, more: Partial<SessionToolset> = {}): SessionToolset {
  return { client, subject: 'ada \u0000\ud800', toolset: 'dev', equippings: 1, expiresMs: 1_000, ...more };
}

function commit(store: Store, sessionToolsets: SessionToolsetChange): ReturnType<Store['commit']> {
  return store.commit({ changes: [], expectedRevisions: [], audit: [], sessionToolsets });
}

async function equip(store: Store, row: SessionToolset, nowMs = 0): Promise<void> {
  valueOf(await commit(store, { kind: 'equip', session: row, nowMs }));
}

describe.each(DATABASES)('toolsets of sessions in %s', (_database, newPlace) => {
  it('are kept until they expire, unless the session is used or ends before', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    await equip(store, session('a'));
    await equip(store, session('b', { toolset: undefined, subject: 'ben' }));
    await equip(store, session('c', { expiresMs: 3_000 }));
    await store.close();
    const again = await openAt(place);
    const read = async (nowMs: number): Promise<readonly SessionToolset[]> =>
      valueOf(await again.sessionToolsets(['a', 'b', 'c', 'd'], nowMs)).toSorted((one, other) =>
        one.client < other.client ? -1 : 1,
      );
    expect(await read(999)).toEqual([
      session('a'),
      session('b', { toolset: undefined, subject: 'ben' }),
      session('c', { expiresMs: 3_000 }),
    ]);
    valueOf(
      await again.useSessionToolsets({
        used: new Map([
          ['a', 2_000],
          ['c', 2_500],
        ]),
        ended: [],
        nowMs: 1_000,
      }),
    );
    expect((await read(1_000)).map((one) => [one.client, one.expiresMs])).toEqual([
      ['a', 2_000],
      ['c', 3_000],
    ]);
    valueOf(await again.useSessionToolsets({ used: new Map(), ended: ['c'], nowMs: 1_000 }));
    expect((await read(0)).map(({ client }) => client)).toEqual(['a']);
    // Equipping again counts, whatever the process knew.
    await equip(again, session('a', { toolset: 'other' }));
    expect(await read(0)).toEqual([session('a', { toolset: 'other', equippings: 2 })]);
  });

  it('keep a toolset from being deleted by others, but not by operators, who learn the number', async () => {
    const store = await openAt(await newPlace());
    const parts: string[] = [];
    store.onChange((changed) => parts.push(...changed));
    await equip(store, session('a'));
    await equip(store, session('b'));
    await equip(store, session('gone', { expiresMs: 5 }), -1);
    const remove = { kind: 'remove', toolset: 'dev', nowMs: 5 } as const;
    const refused = (sessions: number) => ({
      ok: false,
      error: { code: 'TOOLSET_EQUIPPED', toolset: 'dev', sessions },
    });
    expect(await commit(store, { ...remove, by: 'a' })).toEqual(refused(1));
    expect(await commit(store, { ...remove, by: '' })).toEqual(refused(2));
    valueOf(await commit(store, { kind: 'rename', from: 'dev', to: 'new' }));
    expect(valueOf(await store.sessionToolsets(['b'], 5))).toEqual([session('b', { toolset: 'new' })]);
    expect(await commit(store, { ...remove, toolset: 'new' })).toMatchObject({
      ok: true,
      value: { sessions: 2 },
    });
    expect(valueOf(await store.sessionToolsets(['b'], 5))).toEqual([
      session('b', { toolset: undefined, equippings: 2 }),
    ]);
    expect(parts).toContain('session_toolsets');
  });

  it('are not changed by a commit that conflicts', async () => {
    const store = await openAt(await newPlace());
    await equip(store, session('a'));
    const expectedRevisions = [{ kind: 'toolset', id: 'dev', revision: 7 }] as const;
    const sessionToolsets = { kind: 'equip', session: session('a', { toolset: 'x' }), nowMs: 0 } as const;
    const conflict = await store.commit({ changes: [], expectedRevisions, audit: [], sessionToolsets });
    expect(conflict).toEqual({ ok: true, value: undefined });
    expect(valueOf(await store.sessionToolsets(['a'], 0))).toEqual([session('a')]);
  });

  it('are bounded for one subject and in total; those unused for longest are removed', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const { total, perSubject } = SESSION_TOOLSET_LIMITS;
    await equip(store, session('first', { expiresMs: 10 }));
    const numbers =
      place.databaseUrl === undefined
        ? `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${total}) select i from n`
        : `select i from generate_series(1, ${total}) as n(i)`;
    await rawRows(
      place,
      `insert into assay_session_toolsets (client, subject_json, toolset, equippings, expires_ms)
       select 'row ' || i, '"s' || (i % 100) || '"', 'dev', 1, 1000 + i from (${numbers}) as rows`,
    );
    await equip(store, session('own', { subject: 's1', expiresMs: 11 }));
    const count = async (where: string): Promise<unknown> => {
      const [row] = await rawRows(place, `select count(*) as n from assay_session_toolsets where ${where}`);
      return Number((row as { n: unknown }).n);
    };
    expect([
      await count('1 = 1'),
      await count("client in ('first', 'row 1')"),
      await count("client = 'own'"),
    ]).toEqual([total, 0, 1]);
    await rawRows(place, `update assay_session_toolsets set subject_json = '"s1"' where expires_ms <= 3000`);
    await equip(store, session('last', { subject: 's1', expiresMs: 5_000 }));
    expect([await count(`subject_json = '"s1"'`), await count("client = 'last'")]).toEqual([perSubject, 1]);
  });
});

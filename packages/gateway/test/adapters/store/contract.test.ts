import { describe, expect, it } from 'vitest';
import { BASELINE_VERSION } from '../../../src/adapters/store/baseline.ts';
import { SCHEMA_EDITION } from '../../../src/adapters/store/tables.ts';
import type { StoredSession, StorePart } from '../../../src/gateway/ports/store.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { until } from '../../../../../test/support/endings.ts';
import { contentOf, DATABASES, openAt, rawRows, startProcess } from '../../../../../test/support/stores.ts';
import {
  auditEvent,
  credential,
  saveSetting,
  saveRecords,
  session,
  token,
  toolChange,
  tryStore,
  valueOf,
} from '../../../../../test/support/store-values.ts';

endAfterEach();

/** A location as shown to people, without user and password. */
const SHOWN = /^[^@]+(?:assay\.db|assay_test_\w+)$/;

describe.each(DATABASES)('a store in %s', (_database, newPlace) => {
  it('allows only one active token per name', async () => {
    const store = await openAt(await newPlace());
    const first = token('1', { name: 'ci', scopes: ['admin'], expiresMs: 5 });
    expect(await store.addToken(first)).toEqual({ ok: true, value: undefined });
    expect(await store.addToken(token('2', { name: 'ci' }))).toEqual({
      ok: false,
      error: { code: 'TOKEN_EXISTS', name: 'ci' },
    });
    expect(valueOf(await store.tokens())).toEqual([first]);
    expect(valueOf(await store.revokeToken('ci', 7))).toEqual({ ...first, revokedMs: 7 });
    valueOf(await store.addToken(token('2', { name: 'ci' })));
    expect(valueOf(await store.tokens())).toEqual([{ ...first, revokedMs: 7 }, token('2', { name: 'ci' })]);
  });

  it('revokes a token once, by its id or else its name', async () => {
    const store = await openAt(await newPlace());
    valueOf(await store.addToken(token('a', { name: 'b' })));
    valueOf(await store.addToken(token('b', { name: 'a' })));
    expect(valueOf(await store.revokeToken('a', 1)).id).toBe('a');
    expect(valueOf(await store.revokeToken('a', 2)).id).toBe('b');
    for (const gone of ['a', 'b', 'c'])
      expect(await store.revokeToken(gone, 3)).toEqual({
        ok: false,
        error: { code: 'TOKEN_UNKNOWN', name: gone },
      });
  });

  it('accepts a link once, keeps the newest sessions, and removes ended ones', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const [store] = stores as [(typeof stores)[0]];
    const event = auditEvent('s', { action: 'session.open' });
    const add = (id: string, more: Partial<StoredSession> = {}, link?: string) => {
      const given = { session: session(id, more), link, nowMs: 100, idleSinceMs: 50, keep: 2 };
      return (link === id ? stores[1] : store)!.addSession(given, event);
    };
    const ids = async (): Promise<readonly string[]> => valueOf(await store.sessions()).map(({ id }) => id);
    expect(valueOf(await add('link', { kind: 'link', credential: 'link', usedMs: 1 }))).toBe(true);
    expect(valueOf(await store.sessions())).toEqual([
      session('link', { kind: 'link', credential: 'link', usedMs: 1 }),
    ]);
    const both = await Promise.all([
      add('a', {}, 'link'),
      stores[1]!.addSession(
        { session: session('b'), link: 'link', nowMs: 100, idleSinceMs: 50, keep: 2 },
        event,
      ),
    ]);
    expect(both.map(valueOf).sort()).toEqual([false, true]);
    valueOf(await add('old', { kind: 'link', expiresMs: 101 }));
    const late = { session: session('c'), link: 'old', nowMs: 101, idleSinceMs: 50, keep: 2 };
    expect(valueOf(await store.addSession(late, event))).toBe(false);
    expect(valueOf(await store.auditEvents({ limit: 9 }))).toHaveLength(3);

    valueOf(await store.removeSessions({ credential: 'token 1' }, event));
    for (const [at, id] of ['1', '2', '3'].entries()) valueOf(await add(id, { createdMs: at }));
    valueOf(await add('other', { credential: 'token 2', usedMs: 60 }));
    expect(await ids()).toEqual(expect.arrayContaining(['2', '3', 'other']));
    expect(await ids()).not.toContain('1');
    valueOf(await store.useSession('2', 300));
    valueOf(await store.useSession('2', 200));
    expect(valueOf(await store.sessions()).find(({ id }) => id === '2')?.usedMs).toBe(300);
    const later = { session: session('4', { usedMs: 300 }), nowMs: 150, idleSinceMs: 120, keep: 9 };
    valueOf(await store.addSession(later, event));
    expect(await ids()).toEqual(['2', '4']);
    valueOf(await store.removeSessions({ id: '2' }, event));
    expect(await ids()).toEqual(['4']);
  });

  it('returns the keys of a purpose newest first, with their bytes', async () => {
    const store = await openAt(await newPlace());
    const key = (id: string, purpose: string, createdMs: number) =>
      ({ id, purpose, bytes: Buffer.from([0, 255, createdMs]), createdMs }) as const;
    for (const one of [key('1', 'seal', 1), key('3', 'seal', 3), key('2', 'seal', 2), key('x', 'other', 9)])
      valueOf(await store.addKey(one));
    expect(valueOf(await store.keys('seal'))).toEqual([
      key('3', 'seal', 3),
      key('2', 'seal', 2),
      key('1', 'seal', 1),
    ]);
    expect(valueOf(await store.ensureKey(key('9', 'seal', 9)))).toEqual(key('3', 'seal', 3));
    expect(valueOf(await store.keys('none'))).toEqual([]);
  });

  it('gives the same key to all concurrent callers, even through two stores', async () => {
    const place = await newPlace();
    const stores = [await openAt(place), await openAt(place)];
    const asked = stores.flatMap((store, at) =>
      Array.from({ length: 10 }, (_, no) =>
        store.ensureKey({ id: `${at}-${no}`, purpose: 'p', bytes: Buffer.from('k'), createdMs: no }),
      ),
    );
    const ids = (await Promise.all(asked)).map((found) => valueOf(found).id);
    expect(new Set(ids).size).toBe(1);
    expect(valueOf(await stores[0]!.keys('p'))).toHaveLength(1);
  });

  it('keeps settings with their types, and removes one that is set to undefined', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const values = { a: 1.5, b: false, c: 0, d: '', e: 'ü\u0000\ud800' };
    for (const [key, value] of Object.entries(values)) valueOf(await saveSetting(store, key, value));
    expect(valueOf(await store.settings())).toEqual(new Map(Object.entries(values)));
    valueOf(await saveSetting(store, 'a', undefined));
    valueOf(await saveSetting(store, 'b', true));
    valueOf(await saveSetting(store, 'never', undefined));
    await store.close();
    const { a: _, ...rest } = values;
    expect(valueOf(await (await openAt(place)).settings())).toEqual(
      new Map(Object.entries({ ...rest, b: true })),
    );
  });

  it('executes requests in order, and a read sees the writes before it', async () => {
    const store = await openAt(await newPlace());
    const writes = Array.from({ length: 50 }, (_, at) => saveSetting(store, 'last', at));
    const read = store.settings();
    await Promise.all(writes);
    expect(valueOf(await read).get('last')).toBe(49);
  });

  it('notifies listeners of its own changes and those of others until they unsubscribe', async () => {
    const place = await newPlace();
    const [own, other] = [await openAt(place), await openAt(place)];
    const notified = new Set<StorePart>();
    const endListening = own.onChange((parts) => parts.forEach((part) => notified.add(part)));
    const expectNotified = async (part: StorePart, write: () => Promise<unknown>): Promise<void> => {
      // Ignore earlier notifications: after opening, all parts may be announced.
      await own.settings();
      await until(`${part} is quiet`, async () => {
        notified.delete(part);
        await new Promise((resolve) => setTimeout(resolve, 300));
        return notified.has(part) ? undefined : true;
      });
      await write();
      await until(`${part} is told`, () => (notified.has(part) ? true : undefined));
    };
    await expectNotified('records', () => saveSetting(own, 'a', 1));
    await expectNotified('records', () => saveSetting(other, 'a', 2));
    await expectNotified('tokens', () => other.addToken(token('t')));
    await expectNotified('keys', () =>
      other.addKey({ id: 'k', purpose: 'p', bytes: Buffer.alloc(1), createdMs: 1 }),
    );
    await expectNotified('labels', () => other.clearLabels('nobody', auditEvent('t')));
    await expectNotified('audit', () => saveRecords(other, [toolChange('t', 1, { event: auditEvent('t') })]));
    endListening();
    notified.clear();
    await saveSetting(other, 'a', 3);
    await saveSetting(own, 'a', 4);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([...notified]).toEqual([]);
  });

  it('finishes pending requests before it closes, and refuses later ones', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const writes = Array.from({ length: 20 }, (_, at) => saveSetting(store, String(at), at));
    await store.close();
    await store.close();
    for (const written of await Promise.all(writes)) expect(written.ok).toBe(true);
    expect(await store.settings()).toEqual({
      ok: false,
      error: { code: 'STORE_UNAVAILABLE', reason: 'it is closed' },
    });
    expect(valueOf(await (await openAt(place)).settings()).size).toBe(20);
  });

  it('does not keep the process alive', async () => {
    const place = await newPlace();
    const other = startProcess(place, 'open');
    expect(await other.ended).toBe(0);
    expect(other.lines()).toHaveLength(1);
    expect(valueOf(await (await openAt(place)).settings())).toEqual(new Map([['opened', true]]));
  });

  it('keeps credentials by server, identity, issuer and subject, newest first', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const saved = [
      credential({}),
      credential({ identity: 'two', savedMs: 2 }),
      credential({ issuer: 'https://other.example', savedMs: 3, expiresMs: undefined }),
      credential({ subject: 'alice', savedMs: 4 }),
    ];
    for (const one of saved) expect(valueOf(await store.saveCredential(one))).toBe(true);
    const given = valueOf(await store.credentials());
    expect(given.map(({ revision: _, ...one }) => one)).toEqual(saved.toReversed());
    expect(valueOf(await store.removeCredential(credential({})))).toBe(true);
    expect(valueOf(await store.removeCredential(credential({})))).toBe(false);
    expect(valueOf(await store.credentials())).toHaveLength(3);
    await store.close();
    expect(valueOf(await (await openAt(place)).credentials())).toHaveLength(3);
  });

  it('replaces credentials only if the given revision is current', async () => {
    const store = await openAt(await newPlace());
    valueOf(await store.saveCredential(credential({})));
    const [first] = valueOf(await store.credentials());
    const next = credential({ sealed: Buffer.from('next') });
    expect(valueOf(await store.saveCredential(next, first!.revision))).toBe(true);
    expect(valueOf(await store.saveCredential(credential({}), first!.revision))).toBe(false);
    const [second] = valueOf(await store.credentials());
    expect(second).toMatchObject(next);
    expect(second!.revision).not.toBe(first!.revision);
    valueOf(await store.removeCredential(next));
    expect(valueOf(await store.saveCredential(next, second!.revision))).toBe(false);
  });

  it('leases credentials to one holder, until the lease expires, is returned, or they change', async () => {
    const store = await openAt(await newPlace());
    valueOf(await store.saveCredential(credential({})));
    const [{ revision } = { revision: 0 }] = valueOf(await store.credentials());
    const lease = async (holder: string, forMs: number): Promise<string> =>
      valueOf(await store.leaseCredential(credential({}), { holder, revision, forMs })).kind;
    expect(await lease('a', 60_000)).toBe('leased');
    expect(await lease('b', 60_000)).toBe('held');
    expect(await lease('a', 0)).toBe('leased');
    expect(await lease('b', 1)).toBe('leased');
    await until('the lease expires', async () =>
      (await lease('a', 60_000)) === 'leased' ? true : undefined,
    );
    expect(await lease('b', 60_000)).toBe('held');
    valueOf(await store.saveCredential(credential({}), revision));
    expect(await lease('b', 60_000)).toBe('changed');
    const gone = { holder: 'a', revision, forMs: 1 };
    const other = credential({ subject: 'nobody' });
    expect(valueOf(await store.leaseCredential(other, gone))).toEqual({ kind: 'changed' });
  });

  it('replaces the encryption of credentials, which keep their revision, unless they changed or are leased', async () => {
    const store = await openAt(await newPlace());
    valueOf(await store.saveCredential(credential({})));
    const [first] = valueOf(await store.credentials());
    const { revision } = first!;
    const resealed = { ...credential({ keyId: 'next', sealed: Buffer.from('next') }), revision };
    const lease = { holder: 'a', revision, forMs: 60_000 };
    valueOf(await store.leaseCredential(resealed, lease));
    expect(valueOf(await store.resealCredential(resealed))).toBe(false);
    valueOf(await store.leaseCredential(resealed, { ...lease, forMs: 0 }));
    expect(valueOf(await store.resealCredential({ ...resealed, revision: revision + 1 }))).toBe(false);
    expect(valueOf(await store.credentials())).toEqual([first]);
    expect(valueOf(await store.resealCredential(resealed))).toBe(true);
    expect(valueOf(await store.credentials())).toEqual([
      { ...first, keyId: 'next', sealed: Buffer.from('next') },
    ]);
    // Whoever knew the revision before can still save newer content.
    expect(valueOf(await store.saveCredential(credential({}), revision))).toBe(true);
  });

  it('can be created by several processes concurrently', async () => {
    const place = await newPlace();
    const others = [startProcess(place, 'open'), startProcess(place, 'open')];
    const stores = await Promise.all([tryStore(place), tryStore(place), tryStore(place)]);
    expect(stores.map(({ ok }) => ok)).toEqual([true, true, true]);
    await Promise.all(stores.map((store) => valueOf(store).close()));
    expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
    expect(await rawRows(place, 'select version, edition from assay_migrations')).toEqual([
      { version: BASELINE_VERSION, edition: SCHEMA_EDITION },
    ]);
  });

  it.each([
    ['version', BASELINE_VERSION],
    ['edition', SCHEMA_EDITION],
  ])('refuses the schema of a newer %s, and leaves it unchanged', async (what, known) => {
    const place = await newPlace();
    const store = await openAt(place);
    valueOf(await saveSetting(store, 'a', 1));
    await store.close();
    await rawRows(place, `update assay_migrations set ${what} = ${known + 1}`);
    const before = await contentOf(place);
    expect(await tryStore(place)).toEqual({
      ok: false,
      error: {
        code: 'SCHEMA_TOO_NEW',
        place: expect.stringMatching(SHOWN),
        found: known + 1,
        known,
      },
    });
    expect(await contentOf(place)).toEqual(before);
  });
});

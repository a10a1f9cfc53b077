import { describe, expect, it } from 'vitest';
import type { NewApproval } from '../../../src/gateway/ports/approvals.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt } from '../../../../../test/support/stores.ts';
import { approval, APPROVAL_LIMITS, valueOf } from '../../../../../test/support/store-values.ts';

endAfterEach();

const NOW_MS = 1_000_000;
const LIMITS = { ...APPROVAL_LIMITS, nowMs: NOW_MS };
const at = (id: string, more: Partial<NewApproval> = {}): NewApproval =>
  approval(id, { createdMs: NOW_MS, expiresMs: NOW_MS + 100, ...more });
const ANSWER = { scope: 'once', by: 'boss', atMs: NOW_MS } as const;

describe.each(DATABASES)('approvals in %s', (_database, newPlace) => {
  const open = async (): Promise<Store> => openAt(await newPlace());
  const request = async (store: Store, wanted: NewApproval): Promise<string> => {
    const done = await store.requestApproval(wanted, LIMITS);
    return done.ok ? done.value.id : done.error.code;
  };

  it('are reused for repeated requests of the same call only, until they expire', async () => {
    const store = await open();
    const first = at('a');
    expect(valueOf(await store.requestApproval(first, LIMITS))).toEqual(first);
    expect(await request(store, at('b', { binding: first.binding }))).toBe('a');
    for (const [member, value] of Object.entries({
      subject: 'x',
      toolKey: 'x',
      digest: 'x',
      argumentsHash: 'x',
    })) {
      const fresh = await open();
      await request(fresh, first);
      expect(await request(fresh, at('b', { binding: { ...first.binding, [member]: value } }))).toBe('b');
    }
    expect(valueOf(await store.approvals({ limit: 9 }))).toEqual([first]);
    const later = { ...LIMITS, nowMs: NOW_MS + 100 };
    const late = at('c', { binding: first.binding, expiresMs: later.nowMs + 100 });
    expect(valueOf(await store.requestApproval(late, later))).toEqual(late);
  });

  it('count as pending until they are answered or expire, since the oldest of them', async () => {
    const store = await open();
    expect(valueOf(await store.pendingApprovals(NOW_MS))).toEqual({ count: 0, sinceMs: undefined });
    await request(store, at('a', { createdMs: NOW_MS - 50 }));
    await request(store, at('b'));
    await request(store, at('c', { createdMs: NOW_MS - 90, expiresMs: NOW_MS - 1 }));
    expect(valueOf(await store.pendingApprovals(NOW_MS))).toEqual({ count: 2, sinceMs: NOW_MS - 50 });
    valueOf(await store.changeApproval({ id: 'a', from: ['pending'], to: 'denied', nowMs: NOW_MS }));
    expect(valueOf(await store.pendingApprovals(NOW_MS))).toEqual({ count: 1, sinceMs: NOW_MS });
  });

  it('are limited to a number of pending ones per subject, and old ones are removed', async () => {
    const store = await open();
    for (const id of ['a', 'b', 'c']) expect(await request(store, at(id))).toBe(id);
    expect(await request(store, at('d'))).toBe('APPROVALS_FULL');
    const other = at('e');
    expect(await request(store, { ...other, binding: { ...other.binding, subject: 'eve' } })).toBe('e');
    const later = { ...LIMITS, nowMs: NOW_MS + 2_000 };
    valueOf(
      await store.requestApproval(at('f', { createdMs: later.nowMs, expiresMs: later.nowMs + 1 }), later),
    );
    expect(valueOf(await store.approvals({ limit: 9 })).map(({ id }) => id)).toEqual(['f']);
  });

  it('are limited in number; used ones are kept until they expire, so that a replay finds them', async () => {
    const store = await open();
    for (let number = 0; number < 12; number += 1) {
      const state = number === 0 ? 'approved' : 'used';
      const expiresMs = number === 0 ? undefined : NOW_MS + 100;
      valueOf(
        await store.addApproval(at(`u${number}`, { state, expiresMs, answer: ANSWER }), {
          ...LIMITS,
          total: 99,
        }),
      );
    }
    expect(await request(store, at('a'))).toBe('APPROVALS_FULL');
    expect(valueOf(await store.approvals({ limit: 99 }))).toHaveLength(12);
    const later = { ...LIMITS, nowMs: NOW_MS + 100 };
    const next = at('b', { createdMs: later.nowMs, expiresMs: later.nowMs + 1 });
    valueOf(await store.requestApproval(next, later));
    const left = valueOf(await store.approvals({ limit: 99 })).map(({ id }) => id);
    expect(left.toSorted()).toEqual(['b', 'u0']);
  });

  it('are limited per subject, which leaves room for those of others', async () => {
    const store = await open();
    const few = { ...LIMITS, perSubject: 2 };
    const add = async (id: string, subject: string, limits = few): Promise<string> => {
      const one = at(id, { state: 'used', answer: ANSWER });
      const done = await store.addApproval({ ...one, binding: { ...one.binding, subject } }, limits);
      return done.ok ? 'added' : done.error.code;
    };
    for (const id of ['a', 'b']) expect(await add(id, 'eve')).toBe('added');
    expect(await add('c', 'eve')).toBe('APPROVALS_FULL');
    expect(await add('d', 'ann')).toBe('added');
    expect(await add('e', 'eve', { ...few, nowMs: NOW_MS + 100 })).toBe('added');
  });

  it('that wait are limited in size, of all subjects together, until they expire', async () => {
    const store = await open();
    const of = (subject: string, length: number): NewApproval => {
      const one = at(subject);
      const request = { ...one.request, arguments: 'x'.repeat(length) };
      return { ...one, request, binding: { ...one.binding, subject } };
    };
    for (const subject of ['ann', 'ben', 'eve'])
      expect(await request(store, of(subject, 22 * 1024 * 1024))).toBe(subject);
    expect(await request(store, of('joe', 1))).toBe('APPROVALS_FULL');
    const later = { ...LIMITS, nowMs: NOW_MS + 100 };
    expect(valueOf(await store.requestApproval({ ...of('joe', 1), expiresMs: undefined }, later)).id).toBe(
      'joe',
    );
  }, 60_000);

  it('can be used only once, even by concurrent calls', async () => {
    const store = await open();
    await request(store, at('a'));
    const answered = { id: 'a', from: ['pending'], to: 'approved', answer: ANSWER, nowMs: NOW_MS } as const;
    expect(valueOf(await store.changeApproval(answered))).toMatchObject({
      state: 'approved',
      answer: ANSWER,
    });
    expect(valueOf(await store.changeApproval(answered))).toBeUndefined();
    const used = await Promise.all(
      [1, 2, 3].map(() => store.changeApproval({ id: 'a', from: ['approved'], to: 'used', nowMs: NOW_MS })),
    );
    expect(used.filter((one) => valueOf(one) !== undefined)).toHaveLength(1);
  });

  it('cannot be answered after they expire', async () => {
    const store = await open();
    await request(store, at('a'));
    const change = { id: 'a', from: ['pending'], to: 'approved', nowMs: NOW_MS + 100 } as const;
    expect(valueOf(await store.changeApproval(change))).toBeUndefined();
  });

  it('are added once per id', async () => {
    const store = await open();
    expect(valueOf(await store.addApproval(at('n', { state: 'used' }), LIMITS))).toBe(true);
    expect(valueOf(await store.addApproval(at('n', { state: 'used' }), LIMITS))).toBe(false);
  });

  it.each([
    ['session', 's1', NOW_MS + 50, ['s1']],
    ['server', 's1', NOW_MS + 50, ['s1']],
    ['always', 's1', undefined, ['s1', 's2']],
    ['once', 's1', NOW_MS + 50, []],
  ] as const)(
    'with scope %s cover exactly the intended sessions',
    async (scope, session, expiresMs, sessions) => {
      const store = await open();
      const { binding } = at('g');
      const granted = at('g', { binding: { ...binding, session }, state: 'approved', expiresMs });
      valueOf(await store.addApproval({ ...granted, answer: { ...ANSWER, scope } }, LIMITS));
      const isGranted = async (more: Partial<typeof binding>, nowMs = NOW_MS): Promise<boolean> =>
        valueOf(await store.findGrant({ ...binding, ...more }, nowMs)) !== undefined;
      for (const one of ['s1', 's2'])
        expect(await isGranted({ session: one })).toBe(sessions.includes(one as never));
      expect(await isGranted({ session, argumentsHash: 'others' })).toBe(scope !== 'once');
      for (const more of [{ digest: 'x' }, { toolKey: 'x' }, { subject: 'x' }])
        expect(await isGranted({ session, ...more })).toBe(false);
      expect(await isGranted({ session, serverKey: 'x' })).toBe(scope === 'session' || scope === 'always');
      expect(await isGranted({ session }, NOW_MS + 60)).toBe(scope === 'always');
      await store.changeApproval({ id: 'g', from: ['approved'], to: 'revoked', nowMs: NOW_MS });
      expect(await isGranted({ session })).toBe(false);
    },
  );

  it('with scope server cover all calls to that server in the session, until it changes', async () => {
    const store = await open();
    const { binding } = at('g');
    const granted = at('g', { binding: { ...binding, session: 's1' }, state: 'approved' });
    valueOf(await store.addApproval({ ...granted, answer: { ...ANSWER, scope: 'server' } }, LIMITS));
    const other = { ...binding, session: 's1', toolKey: 'x', digest: 'x', argumentsHash: 'x' };
    const isGranted = async (more: Partial<typeof binding> = {}, nowMs = NOW_MS): Promise<boolean> =>
      valueOf(await store.findServerGrant({ ...other, ...more }, nowMs)) !== undefined;
    expect(await isGranted()).toBe(true);
    for (const more of [{ session: 's2' }, { subject: 'x' }, { serverKey: 'x' }, { serverKey: '' }])
      expect(await isGranted(more)).toBe(false);
    expect(await isGranted({}, NOW_MS + 100)).toBe(false);
    await store.changeApproval({ id: 'g', from: ['approved'], to: 'revoked', nowMs: NOW_MS });
    expect(await isGranted()).toBe(false);
  });

  it.each(['once', 'session', 'always'] as const)(
    'with scope %s cover no other tool of the server',
    async (scope) => {
      const store = await open();
      const granted = at('g', { state: 'approved', answer: { ...ANSWER, scope } });
      valueOf(await store.addApproval(granted, LIMITS));
      expect(valueOf(await store.findServerGrant(granted.binding, NOW_MS))).toBeUndefined();
    },
  );
});

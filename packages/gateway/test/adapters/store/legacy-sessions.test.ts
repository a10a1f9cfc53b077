import { describe, expect, it } from 'vitest';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { until } from '../../../../../test/support/endings.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';
import {
  ANSWER_LIMITS,
  type ChangedSession,
  LEGACY_SESSION_LIMITS,
  type SessionChange,
  type StoredAnswer,
  type StoredLegacySession,
} from '../../../src/gateway/ports/legacy-sessions.ts';
import type { Store, StorePart } from '../../../src/gateway/ports/store.ts';

endAfterEach();

const SUBJECT = 'ada \u0000\ud800';

function session(id: string, more: Partial<ChangedSession> = {}): ChangedSession {
  return { id, subject: SUBJECT, nowMs: 1_000, expiresMs: 5_000, ...more };
}

async function change(store: Store, id: string, changed: SessionChange): Promise<StoredLegacySession> {
  return valueOf(await store.changeLegacySession(session(id), changed));
}

describe.each(DATABASES)('legacy sessions in %s', (database, newPlace) => {
  it('have a row with all that was changed, in the order of the changes, until it expires', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    expect(valueOf(await store.legacySession('a', 0))).toBeUndefined();
    expect(valueOf(await store.legacySessionsSince(undefined))).toEqual({
      rows: [],
      revision: 0,
      isWhole: true,
    });
    await change(store, 'a', { kind: 'log_level', level: 'error' });
    await change(store, 'a', { kind: 'mode', mode: 'normal' });
    for (const uri of ['x://1', 'x://2', 'x://1']) await change(store, 'a', { kind: 'subscribe', uri });
    await change(store, 'a', { kind: 'unsubscribe', uri: 'x://2' });
    await change(store, 'a', { kind: 'mode', mode: undefined });
    await change(store, 'b', { kind: 'log_level', level: 'debug' });
    await store.close();
    const again = await openAt(place);
    const expected = {
      ...{ id: 'a', subject: SUBJECT, revision: 7, isEnded: false, usedMs: 1_000 },
      state: { logLevel: 'error', subscriptions: ['x://1'] },
    };
    expect(valueOf(await again.legacySession('a', 4_999))).toEqual(expected);
    expect(valueOf(await again.legacySession('a', 5_000))).toBeUndefined();
    const news = valueOf(await again.legacySessionsSince(0));
    expect([news.rows.map(({ id }) => id), news.revision]).toEqual([['a', 'b'], 8]);
    expect(valueOf(await again.legacySessionsSince(7)).rows.map(({ id }) => id)).toEqual(['b']);
  });

  it('that have ended stay so, whatever other replicas still change', async () => {
    const store = await openAt(await newPlace());
    await change(store, 'a', { kind: 'subscribe', uri: 'x://1' });
    await change(store, 'a', { kind: 'end' });
    const late = await store.changeLegacySession(session('a'), { kind: 'log_level', level: 'error' });
    expect(late).toEqual({ ok: false, error: { code: 'SESSION_UNKNOWN' } });
    valueOf(await store.useLegacySessions([session('a', { nowMs: 2_000, expiresMs: 9_000 })]));
    await change(store, 'a', { kind: 'end' });
    expect(valueOf(await store.legacySession('a', 0))).toMatchObject({
      isEnded: true,
      state: {},
      usedMs: 1_000,
    });
  });

  it('are extended by their use, which announces no change', async () => {
    const store = await openAt(await newPlace());
    await change(store, 'a', { kind: 'log_level', level: 'error' });
    const used = ['a', 'b'].map((id) => session(id, { nowMs: 3_000, expiresMs: 8_000 }));
    valueOf(await store.useLegacySessions(used));
    valueOf(await store.useLegacySessions([session('a', { nowMs: 2_000, expiresMs: 7_000 })]));
    expect(valueOf(await store.legacySession('a', 7_999))).toMatchObject({ usedMs: 3_000, revision: 1 });
    expect(valueOf(await store.legacySession('b', 7_999))).toMatchObject({ usedMs: 3_000, state: {} });
    expect(valueOf(await store.legacySessionsSince(1)).rows).toEqual([]);
  });

  it('have one process at a server, which another replica does not take over silently', async () => {
    const store = await openAt(await newPlace());
    const start = async (replica: string, server = 's'): Promise<unknown> =>
      (await change(store, 'a', { kind: 'start_process', server, replica })).state.processes;
    expect(await start('one')).toEqual({ s: 'one' });
    expect(await start('one')).toEqual({ s: 'one' });
    expect(await start('two')).toEqual({ s: '' });
    expect(await start('two')).toEqual({ s: 'two' });
    expect(await start('one', '__proto__')).toEqual(JSON.parse('{"s":"two","__proto__":"one"}'));
    expect(await start('two', '__proto__')).toEqual(JSON.parse('{"s":"two","__proto__":""}'));
  });

  it('are limited in number and bytes, for one subject and in all', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const uri = 'x'.repeat(8_000);
    for (let count = 0; count < 8; count += 1)
      await change(store, 'a', { kind: 'subscribe', uri: `${uri}${count}` });
    const full = await store.changeLegacySession(session('a'), { kind: 'subscribe', uri: `${uri}9` });
    expect(full.ok ? 'ok' : full.error.code).toBe('SESSION_STATE_LIMIT');
    await rawRows(
      place,
      `insert into assay_legacy_sessions select 'n' || n, subject_json, 1, 0, 1, 4000 + n, '{}', 1000
        from assay_legacy_sessions, (with recursive s(n) as (select 1 union all select n + 1 from s where n < ${LEGACY_SESSION_LIMITS.perSubject}) select n from s) t
        where id = 'a'`,
    );
    const crowded = await store.changeLegacySession(session('b'), { kind: 'subscribe', uri: 'x' });
    expect(crowded.ok ? 'ok' : crowded.error.code).toBe('SESSION_STATE_LIMIT');
    await change(store, 'b', { kind: 'end' });
    const [row] = await rawRows(place, 'select count(*) as n from assay_legacy_sessions');
    expect(Number((row as { n: unknown }).n)).toBe(LEGACY_SESSION_LIMITS.perSubject);
    expect(valueOf(await store.legacySession('b', 0))?.isEnded).toBe(true);
  });

  it('that are used together replace those of the same caller that were unused for longest', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    await change(store, 'first', { kind: 'log_level', level: 'error' });
    await rawRows(
      place,
      `insert into assay_legacy_sessions select 'n' || n, subject_json, 1, 0, 1, 4000 + n, '{}', 2
        from assay_legacy_sessions, (with recursive s(n) as (select 1 union all select n + 1 from s where n < ${LEGACY_SESSION_LIMITS.perSubject - 1}) select n from s) t
        where id = 'first'`,
    );
    // They expire before all others, and yet are kept, as they were just used.
    const used = Array.from({ length: 200 }, (_, at) => session(`u${at}`, { expiresMs: 3_000 }));
    const other = session('other', { subject: 'eve', expiresMs: 3_000 });
    valueOf(await store.useLegacySessions([...used, other]));
    const rows = await rawRows(place, 'select id from assay_legacy_sessions order by expires_ms');
    const ids = rows.map((row) => (row as { id: string }).id);
    expect(ids.length).toBe(LEGACY_SESSION_LIMITS.perSubject + 1);
    expect(ids.filter((id) => id.startsWith('u')).length).toBe(200);
    expect([ids.includes('n200'), ids.includes('n201'), ids.includes('other')]).toEqual([false, true, true]);
  });

  it('are announced to other processes, and answers with the replica that they are for', async () => {
    const place = await newPlace();
    const [store, other] = [await openAt(place), await openAt(place)];
    const heard: (readonly [StorePart, string | undefined])[] = [];
    other.onChange((parts, key) => heard.push(...parts.map((part) => [part, key] as const)));
    const answer: StoredAnswer = {
      ...{ id: '1', replica: 'abc', subject: SUBJECT, sealed: Buffer.from([0, 1, 255]) },
    };
    await until('both are announced', async () => {
      await change(store, 'a', { kind: 'log_level', level: 'error' });
      valueOf(await store.addSessionAnswer({ ...answer, id: crypto.randomUUID() }));
      valueOf(await store.takeSessionAnswers('abc'));
      const key = database === 'PostgreSQL' ? 'abc' : undefined;
      const isHeard = (part: StorePart, wanted?: string): boolean =>
        heard.some((one) => one[0] === part && one[1] === wanted);
      return isHeard('legacy_sessions') && isHeard('session_answers', key) ? true : undefined;
    });
    for (let time = 0; time < 2; time += 1) expect(valueOf(await store.addSessionAnswer(answer))).toBe(true);
    expect(valueOf(await other.takeSessionAnswers('abd'))).toEqual([]);
    expect(valueOf(await other.takeSessionAnswers('abc'))).toEqual([answer]);
    expect(valueOf(await other.takeSessionAnswers('abc'))).toEqual([]);
  });

  it('have few answers on their way, and none for long', async () => {
    const place = await newPlace();
    const store = await openAt(place);
    const add = async (subject: string): Promise<boolean> =>
      valueOf(
        await store.addSessionAnswer({
          ...{ id: crypto.randomUUID(), replica: 'r', subject, sealed: Buffer.from('x') },
        }),
      );
    const letPass = (): Promise<unknown> =>
      rawRows(place, `update assay_session_answers set expires_ms = expires_ms - ${ANSWER_LIMITS.keptMs}`);
    for (let count = 0; count < ANSWER_LIMITS.perSubject; count += 1) expect(await add('a')).toBe(true);
    expect([await add('a'), await add('b')]).toEqual([false, true]);
    await letPass();
    expect(await add('a')).toBe(true);
    expect(valueOf(await store.takeSessionAnswers('other'))).toEqual([]);
    expect(await rawRows(place, 'select id from assay_session_answers')).toHaveLength(1);
    await letPass();
    expect(valueOf(await store.takeSessionAnswers('other'))).toEqual([]);
    expect(await rawRows(place, 'select id from assay_session_answers')).toEqual([]);
  });
});

// Another program changes one cell: the rows beside it are read as before.
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/gateway/ports/store.ts';
import type { StoredLabel } from '../../../src/gateway/ports/labels.ts';
import { endAfterEach } from '../../../../../test/support/end-after-each.ts';
import { DATABASES, openAt, rawRows } from '../../../../../test/support/stores.ts';
import {
  accepted,
  approval,
  APPROVAL_LIMITS,
  credential,
  saveRecords,
  session,
  settingChange,
  type StorePlace,
  toolChange,
  token,
  valueOf,
} from '../../../../../test/support/store-values.ts';

endAfterEach();

describe.each(DATABASES)('one damaged cell in %s', (database, newPlace) => {
  const isSqlite = database === 'SQLite';
  /** A store, and a function that changes one of its cells. */
  const open = async (): Promise<readonly [Store, (statement: string) => Promise<unknown>, StorePlace]> => {
    const place = await newPlace();
    return [await openAt(place), (statement) => rawRows(place, `update ${statement}`), place];
  };
  /** Values of another type, which only SQLite takes. */
  const ofAnyType = (...changes: readonly string[]): readonly string[] => (isSqlite ? changes : []);

  it.each([
    "scopes_json = 'x'",
    "scopes_json = '[1]'",
    "scopes_json = 'null'",
    'expires_ms = 9007199254740991',
    'created_ms = 9007199254740991',
    ...ofAnyType("name = x'00'", "expires_ms = 'x'", 'expires_ms = 9007199254740993'),
  ])('makes one token invalid, which can be revoked: %s', async (change) => {
    const [store, damage] = await open();
    const [a, b, c] = ['a', 'b', 'c'].map((id) => token(id));
    for (const one of [a, b, c]) valueOf(await store.addToken(one!));
    await damage(`assay_tokens set ${change} where id = 'b'`);
    const found = valueOf(await store.tokens());
    expect(found.filter(({ id }) => id !== 'b')).toEqual([a, c]);
    expect(found.find(({ id }) => id === 'b')).toMatchObject({ scopes: [], isUnreadable: true });
    expect(valueOf(await store.revokeToken('b', 5))).toMatchObject({ id: 'b', revokedMs: 5 });
  });

  it.each(["subject_json = 'x'", "scopes_json = ''", "kind = 'x'", 'expires_ms = 9007199254740991'])(
    'ends one session of a browser: %s',
    async (change) => {
      const [store, damage] = await open();
      const event = { atMs: 1, subject: 'a', action: 'session.open' } as const;
      const target = { kind: 'session', id: 's', name: 's' } as const;
      for (const id of ['a', 'b'])
        valueOf(
          await store.addSession(
            { session: session(id), nowMs: 1, idleSinceMs: 0, keep: 9 },
            { ...event, target },
          ),
        );
      await damage(`assay_sessions set ${change} where id = 'a'`);
      expect(valueOf(await store.sessions())).toEqual([session('b')]);
    },
  );

  it.each(['saved_ms = 9007199254740991', 'expires_ms = -9007199254740991', ...ofAnyType('sealed = 7')])(
    'ends one sign-in at a server: %s',
    async (change) => {
      const [store, damage] = await open();
      for (const server of ['linear', 'other']) valueOf(await store.saveCredential(credential({ server })));
      await damage(`assay_credentials set ${change} where server = 'linear'`);
      expect(valueOf(await store.credentials()).map(({ server }) => server)).toEqual(['other']);
    },
  );

  it.each(['created_ms = 9007199254740991', ...ofAnyType('bytes = 7')])(
    'ends the use of one key: %s',
    async (change) => {
      const [store, damage] = await open();
      const keys = ['a', 'b'].map((id) => ({ id, purpose: 'p', bytes: Buffer.from(id), createdMs: 1 }));
      for (const key of keys) valueOf(await store.addKey(key));
      await damage(`assay_keys set ${change} where id = 'b'`);
      expect(valueOf(await store.keys('p'))).toEqual([keys[0]]);
      expect(valueOf(await store.ensureKey({ ...keys[0]!, id: 'c' }))).toEqual(keys[0]);
    },
  );

  it.each([
    ["source_json = 'x'", { source: '', seenMs: 8.64e15 }],
    ['since_ms = 9007199254740991', { sinceMs: 0, seenMs: 8.64e15 }],
    ['seen_ms = 9007199254740991', { seenMs: 8.64e15 }],
    ["subject_json = 'x'", undefined],
  ] as const)('of a session label leaves the others: %s', async (change, changed) => {
    const [store, damage] = await open();
    const label = (subject: string): StoredLabel => ({
      ...{ subject, label: 'saw-private', source: 's.t', sinceMs: 1, seenMs: 2 },
    });
    const changes = { added: [label('a'), label('b')], seen: new Map(), expiredMs: 0 };
    valueOf(await store.saveLabels(changes));
    await damage(`assay_labels set ${change} where subject_json = '"a"'`);
    const { labels } = valueOf(await store.labels());
    expect(labels.filter(({ subject }) => subject === 'b')).toEqual([label('b')]);
    expect(labels.filter(({ subject }) => subject !== 'b')).toEqual(
      changed === undefined ? [] : [{ ...label('a'), ...changed }],
    );
  });

  it("leaves the toolset that a session has equipped: subject_json = 'x'", async () => {
    const [store, damage] = await open();
    const equipped = { subject: 's', toolset: 't', equippings: 1, expiresMs: 1_000 };
    for (const client of ['a', 'b']) {
      const sessionToolsets = { kind: 'equip', session: { client, ...equipped }, nowMs: 1 } as const;
      valueOf(await store.commit({ changes: [], expectedRevisions: [], audit: [], sessionToolsets }));
    }
    await damage("assay_session_toolsets set subject_json = 'x' where client = 'a'");
    const found = valueOf(await store.sessionToolsets(['a', 'b'], 1));
    expect(found.toSorted((one, other) => one.client.localeCompare(other.client))).toEqual([
      { client: 'a', ...equipped, subject: '' },
      { client: 'b', ...equipped },
    ]);
  });

  it.each([
    ["body_json = 'x'", 'a', 'its column body_json is not JSON'],
    ["body_json = ''", 'a', 'its column body_json is not JSON'],
    ["id_json = 'x'", '', 'its column id_json is not JSON'],
    ["id_json = '7'", '', 'its column id_json is not a JSON string'],
  ])('of a record is reported, and the others are read: %s', async (change, id, reason) => {
    const [store, damage, place] = await open();
    const saved = valueOf(
      await saveRecords(store, [settingChange('a', 1), toolChange('t', 1), settingChange('b', 2)]),
    );
    await damage(`assay_records set ${change} where id_json = '"a"'`);
    for (const reader of [store, await openAt(place)]) {
      expect(valueOf(await reader.records(0))).toMatchObject({
        records: saved!.slice(1),
        unreadable: [{ kind: 'setting', id, revision: 1, reason }],
      });
      expect(valueOf(await reader.settings())).toEqual(new Map([['b', 2]]));
    }
  });

  it.each(["text_json = 'x'", "text_json = '7'"])(
    'of an accepted definition makes it differ from every other: %s',
    async (change) => {
      const [store, damage] = await open();
      valueOf(await store.acceptFirst([accepted('t'), accepted('u')]));
      await damage(`assay_accepted set ${change} where id_json = '"t"'`);
      expect(valueOf(await store.accepted('t'))).toEqual({ ...accepted('t'), text: '' });
      expect(valueOf(await store.accepted('u'))).toEqual(accepted('u'));
    },
  );

  it.each([
    "request_json = 'x'",
    "request_json = '{}'",
    "state = 'x'",
    "scope = 'x'",
    "answered_by_json = 'x'",
    'answered_ms = 9007199254740991',
    'created_ms = 9007199254740991',
    ...ofAnyType("expires_ms = 'x'", "session = x'00'"),
  ])('of an approval means that it permits nothing, and the others are listed: %s', async (change) => {
    const [store, damage] = await open();
    const [a, b, c] = ['a', 'b', 'c'].map((id) => approval(id, { createdMs: 1 }));
    for (const one of [a, b, c]) valueOf(await store.requestApproval(one!, APPROVAL_LIMITS));
    const { nowMs } = APPROVAL_LIMITS;
    const answer = { scope: 'always', by: 'boss', atMs: nowMs } as const;
    const approved = { id: 'b', from: ['pending'], to: 'approved', answer, nowMs } as const;
    valueOf(await store.changeApproval(approved));
    expect(valueOf(await store.findGrant(b!.binding, nowMs))).toMatchObject({ id: 'b' });
    await damage(`assay_approvals set ${change} where id = 'b'`);
    const found = valueOf(await store.approvals({ limit: 9 }));
    expect(found.filter(({ id }) => id !== 'b')).toEqual([c, a]);
    expect(found.find(({ id }) => id === 'b')).toMatchObject({ state: 'unreadable' });
    expect(valueOf(await store.findGrant(b!.binding, nowMs))).toBeUndefined();
    // The call is asked for again, and old approvals are removed as before.
    const again = { ...b!, id: 'd' };
    expect(valueOf(await store.requestApproval(again, APPROVAL_LIMITS))).toEqual(again);
    valueOf(await store.changeApproval({ ...approved, id: 'd' }));
    expect(valueOf(await store.findGrant(b!.binding, nowMs))).toMatchObject({ id: 'd' });
  });

  it('of an expired request does not prevent others', async () => {
    const [store, damage] = await open();
    const { nowMs } = APPROVAL_LIMITS;
    const complete = { text: '{}', isShortened: false, isMasked: false };
    const expired = approval('a', { expiresMs: nowMs + 1 });
    valueOf(
      await store.requestApproval({ ...expired, request: { ...expired.request, complete } }, APPROVAL_LIMITS),
    );
    await damage("assay_approvals set request_json = '{\"complete\":' where id = 'a'");
    const later = { ...APPROVAL_LIMITS, nowMs: nowMs + 100 };
    expect(valueOf(await store.requestApproval(approval('b'), later))).toMatchObject({ id: 'b' });
  });
});

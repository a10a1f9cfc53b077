import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeySealer } from '../../../src/adapters/auth/sealer.ts';
import { SealedSessionIds } from '../../../src/adapters/auth/session-ids.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { SealedSession, SessionBinding } from '../../../src/gateway/ports/sealing.ts';
import type { Store, StoredKey } from '../../../src/gateway/ports/store.ts';
import { SILENT } from '../../gateway/listed-server.ts';
import { derivedKeysOf } from '../../../../../test/support/encryption-keys.ts';

type Keys = Pick<Store, 'keys' | 'ensureKey' | 'addKey'>;

/** The keys of a store in memory, and how often they were read. */
function createKeys(): Keys & { reads: number } {
  let stored: readonly StoredKey[] = [];
  const of = (purpose: string): readonly StoredKey[] => stored.filter((key) => key.purpose === purpose);
  return {
    reads: 0,
    keys(purpose) {
      this.reads += 1;
      return Promise.resolve(ok(of(purpose)));
    },
    ensureKey(key) {
      const [first] = of(key.purpose);
      if (first === undefined) stored = [key, ...stored];
      return Promise.resolve(ok(first ?? key));
    },
    addKey(key) {
      stored = [key, ...stored];
      return Promise.resolve(ok(undefined));
    },
  };
}

const opening = (keys: Keys | undefined) => (): Promise<Result<Keys, Refusal>> =>
  Promise.resolve(keys === undefined ? err({ code: 'STORE_UNAVAILABLE', reason: 'stopped' }) : ok(keys));
const idsOn = (keys: Keys | undefined): SealedSessionIds =>
  new SealedSessionIds({ derivedKeys: derivedKeysOf(false), log: SILENT, openStore: opening(keys) });

/** Ids of a process whose store is away until it is opened, 2 s later. */
function idsBeforeStore(): { readonly ids: SealedSessionIds; readonly openStore: (keys: Keys) => void } {
  let nowMs = 1_000_000;
  let present: Keys | undefined;
  const ids = new SealedSessionIds({
    derivedKeys: derivedKeysOf(false),
    log: SILENT,
    openStore: () => opening(present)(),
    nowMs: () => nowMs,
  });
  return {
    ids,
    openStore: (keys) => {
      present = keys;
      nowMs += 2_000;
    },
  };
}

const SESSION: SealedSession = {
  id: '0b8a1de6-3c4f-4d92-a6c1-000000000001',
  createdMs: 1_770_000_000_000,
  version: '2025-11-25',
  capabilities: '{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}',
  clientInfo: '{"name":"claude-code",\n "version":"2.0.1"}',
};
const BINDING: SessionBinding = { endpoint: '/mcp', holder: { subject: 'ada', tokenId: 'token-1' } };

describe('the id of a legacy session', () => {
  it('opens unchanged in every process on the same store, and in no other', async () => {
    const keys = createKeys();
    const id = await idsOn(keys).seal(SESSION, BINDING);
    expect(id).toMatch(/^[\w-]{16,512}$/);
    expect(await idsOn(keys).open(id, BINDING)).toEqual(SESSION);
    expect(await idsOn(createKeys()).open(id, BINDING)).toBeUndefined();
  });

  it('opens in this process if there is no store', async () => {
    const ids = idsOn(undefined);
    const id = await ids.seal(SESSION, BINDING);
    expect(await ids.open(id, BINDING)).toEqual(SESSION);
    expect(await idsOn(undefined).open(id, BINDING)).toBeUndefined();
  });

  it.each<[string, SessionBinding]>([
    ['endpoint', { ...BINDING, endpoint: '/mcp/all' }],
    ['subject', { ...BINDING, holder: { subject: 'eve', tokenId: 'token-1' } }],
    ['token of the same name', { ...BINDING, holder: { subject: 'ada', tokenId: 'token-2' } }],
    ['credential of the same subject', { ...BINDING, holder: { subject: 'ada' } }],
    ['browser', { ...BINDING, holder: { ...BINDING.holder, sessionId: 's' } }],
  ])('does not open with another %s', async (_what, binding) => {
    const ids = idsOn(createKeys());
    expect(await ids.open(await ids.seal(SESSION, BINDING), binding)).toBeUndefined();
  });

  it('does not open if any of its characters differs, is missing or is spelled otherwise', async () => {
    const ids = idsOn(createKeys());
    const id = await ids.seal(SESSION, BINDING);
    for (let at = 0; at < id.length; at += 1) {
      const other = id.charAt(at) === 'A' ? 'B' : 'A';
      expect([at, await ids.open(`${id.slice(0, at)}${other}${id.slice(at + 1)}`, BINDING)]).toEqual([
        at,
        undefined,
      ]);
      expect(await ids.open(id.slice(0, at), BINDING)).toBeUndefined();
    }
    for (const other of [`${id}=`, `${id} `, ` ${id}`, `${id}A`, id.replaceAll('-', '+'), 'x'.repeat(513)])
      if (other !== id) expect(await ids.open(other, BINDING)).toBeUndefined();
  });

  it('is not a state of a request, and such a state is no id', async () => {
    const keys = createKeys();
    const ids = idsOn(keys);
    const sealer = new KeySealer({
      log: SILENT,
      openStore: opening(keys),
      derivedKeys: derivedKeysOf(false),
    });
    const id = await ids.seal(SESSION, BINDING);
    const about = JSON.stringify(['legacy-session', '/mcp', 'ada', 'token-1', null]);
    const nowMs = Date.now();
    const state = await sealer.seal('text', { about, expiresMs: nowMs + 1_000 });
    const asState = await sealer.open(`${state.slice(0, state.indexOf('.'))}.${id.slice(8)}`, {
      about,
      nowMs,
    });
    expect(asState.ok).toBe(false);
    const sealed = state.slice(state.indexOf('.') + 1);
    for (const one of [state, sealed, `${id.slice(0, 8)}${sealed}`])
      expect(await ids.open(one, BINDING)).toBeUndefined();
  });

  it('keeps all that a usual client declares, and only name, version and known capabilities of others', async () => {
    const ids = idsOn(createKeys());
    const big = {
      ...SESSION,
      capabilities: JSON.stringify({
        sampling: { tools: {}, context: { deep: 'x'.repeat(50) }, other: {} },
        elicitation: { form: {}, url: {} },
        roots: { listChanged: true },
        experimental: { 'com.example/feature': { text: 'x'.repeat(10_000) } },
      }),
      clientInfo: JSON.stringify({ name: `é${'x'.repeat(500)}`, version: '1', title: 't'.repeat(500) }),
    };
    expect(await ids.open(await ids.seal(big, BINDING), BINDING)).toEqual({
      ...SESSION,
      capabilities:
        '{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}',
      clientInfo: JSON.stringify({ name: `é${'x'.repeat(62)}`, version: '1' }),
    });
    const titled = { ...SESSION, clientInfo: '{"name":"a","version":"1","title":"An agent"}' };
    expect(await ids.open(await ids.seal(titled, BINDING), BINDING)).toEqual(titled);
  });

  it('has at most 512 visible characters, whatever its client declares', async () => {
    const ids = idsOn(createKeys());
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    const declared = fc.record({
      capabilities: fc.dictionary(fc.constantFrom('roots', 'sampling', 'elicitation', 'x'), fc.jsonValue()),
      clientInfo: fc.option(
        fc.record({ name: fc.oneof(text, fc.jsonValue()), version: text, title: text }, { requiredKeys: [] }),
      ),
      subject: text,
    });
    await fc.assert(
      fc.asyncProperty(declared, async ({ capabilities, clientInfo, subject }) => {
        const binding = { endpoint: '/mcp', holder: { subject } };
        const session = {
          ...SESSION,
          capabilities: JSON.stringify(capabilities),
          clientInfo: clientInfo === null ? undefined : JSON.stringify(clientInfo),
        };
        const id = await ids.seal(session, binding);
        expect(id).toMatch(/^[\x21-\x7e]{1,512}$/);
        const { id: read, version, createdMs } = (await ids.open(id, binding)) ?? {};
        expect([read, version, createdMs]).toEqual([SESSION.id, SESSION.version, SESSION.createdMs]);
      }),
      { numRuns: 200 },
    );
  });

  it('costs no read of the store once its key is known, nor more than one a second if it is unknown', async () => {
    const keys = createKeys();
    const ids = idsOn(keys);
    const id = await ids.seal(SESSION, BINDING);
    const { reads } = keys;
    for (let count = 0; count < 20; count += 1) await ids.open(id, BINDING);
    for (let count = 0; count < 20; count += 1) await ids.open(`${count}`.padStart(60, 'x'), BINDING);
    expect(keys.reads - reads).toBeLessThanOrEqual(1);
  });

  it('is not refused for good by a process that cannot read the keys, and opens once it can', async () => {
    const keys = createKeys();
    const id = await idsOn(keys).seal(SESSION, BINDING);
    const { ids, openStore } = idsBeforeStore();
    expect(await ids.open(id, BINDING)).toBeUndefined();
    expect(ids.fault).toEqual({ code: 'STORE_UNAVAILABLE', reason: 'stopped' });
    openStore(keys);
    expect(await ids.open(id, BINDING)).toEqual(SESSION);
    expect(ids.fault).toBeUndefined();
  });

  it('that was made without the store opens elsewhere once its key can be stored', async () => {
    const keys = createKeys();
    await idsOn(keys).seal(SESSION, BINDING);
    const { ids, openStore } = idsBeforeStore();
    const id = await ids.seal(SESSION, BINDING);
    expect(ids.hasPrivateKeys).toBe(true);
    expect(await idsOn(keys).open(id, BINDING)).toBeUndefined();
    openStore(keys);
    await ids.seal(SESSION, BINDING);
    expect(ids.hasPrivateKeys).toBe(false);
    expect(await idsOn(keys).open(id, BINDING)).toEqual(SESSION);
  });
});

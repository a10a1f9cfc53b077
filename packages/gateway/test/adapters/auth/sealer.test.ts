import { afterEach, describe, expect, it, vi } from 'vitest';
import { join } from 'node:path';
import type { DerivedKeys } from '../../../src/adapters/auth/derived-keys.ts';
import { CLIENT_VALUE_LIFETIME_MS } from '../../../src/core/client-values.ts';
import { deriveKey, parseKey } from '../../../src/adapters/auth/encryption-key.ts';
import { KeyRing } from '../../../src/adapters/auth/key-ring.ts';
import { seal } from '../../../src/adapters/auth/seal.ts';
import { KeySealer } from '../../../src/adapters/auth/sealer.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { StoredKey } from '../../../src/gateway/ports/store.ts';
import { SILENT } from '../../gateway/listed-server.ts';
import { derivedKeysOf, keysIn, newKey, writeKeyFile } from '../../../../../test/support/encryption-keys.ts';
import { tempDir } from '../../../../../test/support/paths.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const ABOUT = 'about "this"\n';

/** The keys of a store, newest first, in memory. */
class Keys {
  stored: readonly StoredKey[] = [];
  isThere = true;

  keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>> {
    return Promise.resolve(ok(this.stored.filter((key) => key.purpose === purpose)));
  }

  ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>> {
    const found = this.stored.find(({ purpose }) => purpose === key.purpose);
    if (found === undefined) this.stored = [key, ...this.stored];
    return Promise.resolve(ok(found ?? key));
  }

  addKey(key: StoredKey): Promise<Result<undefined, Refusal>> {
    this.stored = [key, ...this.stored];
    return Promise.resolve(ok(undefined));
  }
}

function sealerOn(keys: Keys, derivedKeys: DerivedKeys = derivedKeysOf(false)): KeySealer {
  return new KeySealer({
    derivedKeys,
    log: SILENT,
    openStore: () =>
      Promise.resolve(
        keys.isThere ? ok(keys) : err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' }),
      ),
  });
}

const soon = (): { readonly about: string; readonly expiresMs: number } => ({
  about: ABOUT,
  expiresMs: Date.now() + 1_000,
});
const codeIn = (result: Result<string, Refusal>): string => (result.ok ? 'opened' : result.error.code);

afterEach(() => {
  vi.useRealTimers();
});

describe('a sealed text', () => {
  it('opens unchanged in every process that uses the same store', async () => {
    const keys = new Keys();
    const [one, other] = [sealerOn(keys), sealerOn(keys)];
    for (const text of ['', 'a', '"\n\\ \u2028 é 🎈', 'x'.repeat(1_000_000)]) {
      const sealed = await one.seal(text, soon());
      for (const sealer of [one, other])
        expect(await sealer.open(sealed, { about: ABOUT, nowMs: Date.now() })).toEqual(ok(text));
    }
    expect(keys.stored).toHaveLength(1);
  });

  it('opens in each of several processes that create the first key concurrently', async () => {
    const keys = new Keys();
    const sealers = [1, 2, 3].map(() => sealerOn(keys));
    const sealed = await Promise.all(sealers.map((sealer, index) => sealer.seal(String(index), soon())));
    for (const sealer of sealers)
      for (const [index, one] of sealed.entries())
        expect(await sealer.open(one, { about: ABOUT, nowMs: Date.now() })).toEqual(ok(String(index)));
  });

  it('reveals nothing of its content, and never looks the same twice', async () => {
    const sealer = sealerOn(new Keys());
    const [one, other] = [await sealer.seal('visible', soon()), await sealer.seal('visible', soon())];
    expect(one).not.toBe(other);
    expect(Buffer.from(one.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('visible');
  });

  it('does not open after any of its bytes has changed', async () => {
    const sealer = sealerOn(new Keys());
    const sealed = await sealer.seal('text', soon());
    const at = sealed.indexOf('.') + 1;
    const bytes = Buffer.from(sealed.slice(at), 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const wrong = Buffer.from(bytes);
      wrong[index] = (wrong[index] ?? 0) ^ 1;
      const opened = await sealer.open(sealed.slice(0, at) + wrong.toString('base64url'), {
        about: ABOUT,
        nowMs: Date.now(),
      });
      expect([index, codeIn(opened)]).toEqual([index, 'STATE_INVALID']);
    }
    for (let length = 0; length < bytes.length; length += 1) {
      const short = sealed.slice(0, at) + bytes.subarray(0, length).toString('base64url');
      expect(codeIn(await sealer.open(short, { about: ABOUT, nowMs: Date.now() }))).toBe('STATE_INVALID');
    }
    for (const wrong of ['', '.', sealed.slice(at), `${sealed.slice(0, at - 1)}x.${sealed.slice(at)}`])
      expect(codeIn(await sealer.open(wrong, { about: ABOUT, nowMs: Date.now() }))).toBe('STATE_INVALID');
  });

  it('opens only for the context that it was sealed for', async () => {
    const sealer = sealerOn(new Keys());
    const sealed = await sealer.seal('text', soon());
    for (const about of ['', 'about', `${ABOUT} `, ABOUT.trim()])
      expect(codeIn(await sealer.open(sealed, { about, nowMs: Date.now() }))).toBe('STATE_INVALID');
  });

  it('does not open after its expiry', async () => {
    const sealer = sealerOn(new Keys());
    const expiresMs = Date.now() + 1_000;
    const sealed = await sealer.seal('text', { about: ABOUT, expiresMs });
    expect(codeIn(await sealer.open(sealed, { about: ABOUT, nowMs: expiresMs - 1 }))).toBe('opened');
    expect(codeIn(await sealer.open(sealed, { about: ABOUT, nowMs: expiresMs }))).toBe('STATE_INVALID');
  });

  it('opens also after its key was rotated, even in processes that missed the rotation', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const keys = new Keys();
    const [one, other] = [sealerOn(keys), sealerOn(keys)];
    const late = { about: ABOUT, expiresMs: Date.now() + 100 * DAY_MS };
    const before = await one.seal('before', late);
    await other.open(before, { about: ABOUT, nowMs: Date.now() });
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    const after = await one.seal('after', late);
    expect(after.split('.')[0]).not.toBe(before.split('.')[0]);
    expect(keys.stored).toHaveLength(2);
    for (const [sealed, text] of [
      [before, 'before'],
      [after, 'after'],
    ] as const)
      expect(await other.open(sealed, { about: ABOUT, nowMs: Date.now() })).toEqual(ok(text));
  });

  it('opens in the process that sealed it if there is no store', async () => {
    const keys = new Keys();
    keys.isThere = false;
    const [one, other] = [sealerOn(keys), sealerOn(keys)];
    const sealed = await one.seal('text', soon());
    expect(await one.open(sealed, { about: ABOUT, nowMs: Date.now() })).toEqual(ok('text'));
    expect(codeIn(await other.open(sealed, { about: ABOUT, nowMs: Date.now() }))).toBe('STATE_INVALID');
  });
});

describe('a text sealed with a derived key', () => {
  const opening = { about: ABOUT, nowMs: Date.now() };
  const openStore = (keys: Keys) => () => Promise.resolve(ok(keys));

  it('opens in every process with the same encryption keys, and needs no store', async () => {
    const home = tempDir();
    const keys = new Keys();
    keys.isThere = false;
    const [one, other] = [1, 2].map(() => sealerOn(keys, derivedKeysOf(true, keysIn(home))));
    const sealed = (await one?.seal('text', soon())) ?? '';
    expect(await other?.open(sealed, { about: ABOUT, nowMs: Date.now() })).toEqual(ok('text'));
    const foreign = sealerOn(keys, derivedKeysOf(true));
    expect(codeIn(await foreign.open(sealed, { about: ABOUT, nowMs: Date.now() }))).toBe('STATE_INVALID');
  });

  it('opens for no other purpose, although the same encryption key is behind both', async () => {
    const derivedKeys = derivedKeysOf(true);
    const ring = new KeyRing({
      ...{ purpose: 'legacy-session', warning: '', derivedKeys, log: SILENT },
      openStore: openStore(new Keys()),
    });
    const key = await ring.newest(Date.now());
    const forged = `${key.id}.${seal(JSON.stringify([Date.now() + 1_000, 'x']), ABOUT, key).toString('base64url')}`;
    const sealer = sealerOn(new Keys(), derivedKeys);
    expect(codeIn(await sealer.open(forged, opening))).toBe('STATE_INVALID');
    const own = await sealer.seal('x', soon());
    expect(own.slice(0, own.indexOf('.'))).toBe(key.id);
  });

  it('is sealed with the newest key of the file, and opens while its own key is in it', async () => {
    const home = tempDir();
    const file = join(home, 'keys');
    const [former, next] = [newKey(), newKey()];
    writeKeyFile(file, former);
    const sealers = [1, 2].map(() => sealerOn(new Keys(), derivedKeysOf(true, keysIn(home, { file }))));
    const [one, other] = sealers as [KeySealer, KeySealer];
    const before = await one.seal('before', soon());
    writeKeyFile(file, next, former);
    expect(await other.open(before, opening)).toEqual(ok('before'));
    const after = await other.seal('after', soon());
    expect(after.slice(0, 16)).toBe(valueOf(parseKey(next, '')).id);
    // The one that has not noticed yet looks at the file again.
    expect(await one.open(after, opening)).toEqual(ok('after'));
    writeKeyFile(file, next);
    const late = sealerOn(new Keys(), derivedKeysOf(true, keysIn(home, { file })));
    expect(codeIn(await late.open(before, opening))).toBe('STATE_INVALID');
    expect(await late.open(after, opening)).toEqual(ok('after'));
  });

  it('cannot be forged with a copy of the store, except for a day after keys were derived first', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const keys = new Keys();
    const late = { about: ABOUT, expiresMs: Date.now() + 100 * DAY_MS };
    const before = await sealerOn(keys).seal('before', late);
    const copy = new Keys();
    copy.stored = keys.stored;
    const derivedKeys = derivedKeysOf(true);
    const after = await sealerOn(keys, derivedKeys).seal('after', late);
    const running = sealerOn(keys, derivedKeys);
    const open = async (sealed: string): Promise<readonly string[]> => {
      const opening = { about: ABOUT, nowMs: Date.now() };
      return [
        await running.open(sealed, opening),
        await sealerOn(keys, derivedKeys).open(sealed, opening),
      ].map(codeIn);
    };
    expect(await open(before)).toEqual(['opened', 'opened']);
    vi.setSystemTime(Date.now() + CLIENT_VALUE_LIFETIME_MS - 1);
    expect(await open(before)).toEqual(['opened', 'opened']);
    vi.setSystemTime(Date.now() + 1);
    expect(await open(before)).toEqual(['STATE_INVALID', 'STATE_INVALID']);
    const forged = await sealerOn(copy).seal('forged', late);
    expect(await open(forged)).toEqual(['STATE_INVALID', 'STATE_INVALID']);
    expect(await open(after)).toEqual(['opened', 'opened']);
    copy.stored = keys.stored;
    expect(codeIn(await sealerOn(copy).open(after, { about: ABOUT, nowMs: Date.now() }))).toBe(
      'STATE_INVALID',
    );
  });

  it('differs from the encryption key and from those of other purposes (RFC 5869)', () => {
    const key = valueOf(parseKey('00'.repeat(32), ''));
    const derived = ['request-state', 'task-ids', 'legacy-session'].map((one) => deriveKey(key, one));
    expect(new Set([key.bytes, ...derived].map((bytes) => bytes.toString('hex'))).size).toBe(4);
    expect(derived.every((bytes) => bytes.length === 32)).toBe(true);
  });
});

function valueOf<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

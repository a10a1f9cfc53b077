import { afterEach, describe, expect, it, vi } from 'vitest';
import { KeySealer } from '../../../src/adapters/auth/sealer.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { StoredKey } from '../../../src/gateway/ports/store.ts';
import { SILENT } from '../../gateway/listed-server.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const ABOUT = 'about "this"\n';

/** The keys of a store, newest first, in memory. */
class Keys {
  stored: readonly StoredKey[] = [];
  isThere = true;

  keys(): Promise<Result<readonly StoredKey[], Refusal>> {
    return Promise.resolve(ok(this.stored));
  }

  ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>> {
    if (this.stored.length === 0) this.stored = [key];
    return Promise.resolve(ok(this.stored[0] ?? key));
  }

  addKey(key: StoredKey): Promise<Result<undefined, Refusal>> {
    this.stored = [key, ...this.stored];
    return Promise.resolve(ok(undefined));
  }
}

function sealerOn(keys: Keys): KeySealer {
  return new KeySealer({
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

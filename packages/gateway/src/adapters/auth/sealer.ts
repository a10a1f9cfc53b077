import { randomBytes, randomUUID } from 'node:crypto';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Sealer, Sealing } from '../../gateway/ports/sealing.ts';
import type { Store, StoredKey } from '../../gateway/ports/store.ts';
import { seal, unseal } from './seal.ts';

type Keys = Pick<Store, 'keys' | 'ensureKey' | 'addKey'>;

export interface KeySealerOptions {
  /** If it fails, keys of this process alone are used. */
  readonly openStore: () => Promise<Result<Keys, Refusal>>;
  readonly log: Log;
}

const PURPOSE = 'request-state';
const KEY_BYTES = 32;
/** Age in ms at which a key is replaced for sealing; it opens existing states forever. */
const ROTATE_MS = 30 * 24 * 60 * 60 * 1_000;
/** Minimum interval in ms between store reads for unknown keys. */
const LOOK_INTERVAL_MS = 1_000;

/** AES-256-GCM with keys shared by all processes on a store, so that any of them opens what another sealed. */
export class KeySealer implements Sealer {
  readonly #options: KeySealerOptions;
  #keys: readonly StoredKey[] = [];
  #lookedMs = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(options: KeySealerOptions) {
    this.#options = options;
  }

  async seal(text: string, { about, expiresMs }: Sealing): Promise<string> {
    const key = await this.#newest(Date.now());
    return `${key.id}.${seal(JSON.stringify([expiresMs, text]), about, key).toString('base64url')}`;
  }

  async open(
    sealed: string,
    { about, nowMs }: { readonly about: string; readonly nowMs: number },
  ): Promise<Result<string, Refusal>> {
    const at = sealed.indexOf('.');
    const key = await this.#find(sealed.slice(0, Math.max(at, 0)), nowMs);
    const plain = key && unseal(Buffer.from(sealed.slice(at + 1), 'base64url'), about, key);
    if (plain === undefined)
      return err({ code: 'STATE_INVALID', reason: 'it was not given here, or not for this request' });
    const [expiresMs, text] = JSON.parse(plain) as readonly [number, string];
    return expiresMs > nowMs ? ok(text) : err({ code: 'STATE_INVALID', reason: 'it has expired' });
  }

  async #newest(nowMs: number): Promise<StoredKey> {
    const known = this.#keys[0];
    if (known !== undefined && nowMs - known.createdMs < ROTATE_MS) return known;
    await this.#look(nowMs);
    const newest = this.#keys[0];
    if (newest !== undefined && nowMs - newest.createdMs < ROTATE_MS) return newest;
    const fresh = freshKey(nowMs);
    this.#keys = [fresh, ...this.#keys];
    const store = await this.#options.openStore();
    const added = store.ok ? await store.value.addKey(fresh) : store;
    if (!added.ok) this.#alone(added.error);
    return fresh;
  }

  async #find(id: string, nowMs: number): Promise<StoredKey | undefined> {
    const find = (): StoredKey | undefined => this.#keys.find((key) => key.id === id);
    if (find() === undefined && nowMs - this.#lookedMs > LOOK_INTERVAL_MS) await this.#look(nowMs);
    return find();
  }

  /** Loads the keys of the store and creates the first one if there is none. */
  #look(nowMs: number): Promise<void> {
    this.#looking ??= this.#read(nowMs).finally(() => {
      this.#lookedMs = nowMs;
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #read(nowMs: number): Promise<void> {
    const read = await this.#stored(freshKey(nowMs));
    if (!read.ok) {
      this.#alone(read.error);
      return;
    }
    // Keeps keys that were created while the store was unavailable.
    const ids = new Set(read.value.map(({ id }) => id));
    // Another program may have changed the length of one, with which nothing can be encrypted.
    const usable = read.value.filter(({ bytes }) => bytes.length === KEY_BYTES);
    this.#keys = [...usable, ...this.#keys.filter(({ id }) => !ids.has(id))];
  }

  async #stored(first: StoredKey): Promise<Result<readonly StoredKey[], Refusal>> {
    const store = await this.#options.openStore();
    if (!store.ok) return store;
    const ensured = await store.value.ensureKey(first);
    return ensured.ok ? store.value.keys(PURPOSE) : ensured;
  }

  #alone(error: Refusal): void {
    const why = formatRefusal(error);
    this.#options.log.warn('state that clients store for Assay can be decrypted by this process only', {
      why,
    });
  }
}

function freshKey(createdMs: number): StoredKey {
  return { id: randomUUID(), purpose: PURPOSE, bytes: randomBytes(KEY_BYTES), createdMs };
}

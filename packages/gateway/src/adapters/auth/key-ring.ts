import { randomBytes, randomUUID } from 'node:crypto';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store, StoredKey } from '../../gateway/ports/store.ts';
import { type DerivedKeys, readRetiringKeys } from './derived-keys.ts';

type Keys = Pick<Store, 'keys' | 'ensureKey' | 'addKey'>;

export interface KeyRingOptions {
  /** A value that was encrypted for one purpose cannot be opened for another. */
  readonly purpose: string;
  /** If they are used, keys of the store only decrypt what was encrypted before, for a while. */
  readonly derivedKeys: DerivedKeys;
  /** If it fails, keys of this process alone are used. */
  readonly openStore: () => Promise<Result<Keys, Refusal>>;
  readonly log: Log;
  /** The warning while keys of this process alone are used. */
  readonly warning: string;
}

const KEY_BYTES = 32;
/** Age in ms at which a key is replaced for encryption; it decrypts existing values forever. */
const ROTATE_MS = 30 * 24 * 60 * 60 * 1_000;
/** Minimum interval in ms between store reads for unknown keys. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * The keys of one purpose, shared by all processes on a store, so that any of them opens what another encrypted: derived
 * from their common encryption keys, or, if they have none, kept in the store.
 */
export class KeyRing {
  readonly #options: KeyRingOptions;
  #keys: readonly StoredKey[] = [];
  /** Until when keys of the store decrypt. */
  #untilMs = Infinity;
  /** Used while there is no usable encryption key. */
  #own: StoredKey | undefined;
  /** Keys of this process that could not be stored yet. */
  #unstored: readonly StoredKey[] = [];
  #fault: Refusal | undefined;
  #lookedMs = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(options: KeyRingOptions) {
    this.#options = options;
  }

  /** Why the keys of the store could not be read the last time. A key that is not known may be in it. */
  get fault(): Refusal | undefined {
    return this.#fault;
  }

  /** Whether keys are used that other processes do not have. */
  get hasPrivateKeys(): boolean {
    return this.#unstored.length > 0;
  }

  /** The key for encryption. */
  async newest(nowMs: number): Promise<StoredKey> {
    const { derivedKeys, purpose, warning } = this.#options;
    if (!derivedKeys.isUsed) return this.#newestOfStore(nowMs);
    const [derived] = await derivedKeys.list(purpose, warning);
    return derived ?? (this.#own ??= this.#create(nowMs));
  }

  async #newestOfStore(nowMs: number): Promise<StoredKey> {
    const known = this.#keys[0];
    const isRecent = known !== undefined && nowMs - known.createdMs < ROTATE_MS;
    if (isRecent && (!this.hasPrivateKeys || nowMs - this.#lookedMs <= LOOK_INTERVAL_MS)) return known;
    await this.#look(nowMs);
    const newest = this.#keys[0];
    if (newest !== undefined && nowMs - newest.createdMs < ROTATE_MS) return newest;
    const fresh = this.#create(nowMs);
    this.#keys = [fresh, ...this.#keys];
    const added = await this.#store(fresh);
    if (!added.ok) {
      this.#unstored = [fresh, ...this.#unstored];
      this.#warn(added.error);
    }
    return fresh;
  }

  /** The key with which a value was encrypted. */
  async find(isKey: (key: StoredKey) => boolean, nowMs: number): Promise<StoredKey | undefined> {
    const { derivedKeys, purpose } = this.#options;
    const derived = derivedKeys.isUsed ? await derivedKeys.find(purpose, isKey) : undefined;
    if (derived !== undefined) return derived;
    if (this.#own !== undefined && isKey(this.#own)) return this.#own;
    const known = this.#findKnown(isKey, nowMs);
    if (known !== undefined || nowMs - this.#lookedMs <= LOOK_INTERVAL_MS) return known;
    await this.#look(nowMs);
    return this.#findKnown(isKey, nowMs);
  }

  #findKnown(isKey: (key: StoredKey) => boolean, nowMs: number): StoredKey | undefined {
    return nowMs < this.#untilMs ? this.#keys.find(isKey) : undefined;
  }

  /** Loads the keys of the store. If none are derived, creates the first one. */
  #look(nowMs: number): Promise<void> {
    this.#looking ??= this.#read(nowMs).finally(() => {
      this.#lookedMs = nowMs;
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #read(nowMs: number): Promise<void> {
    const { isUsed } = this.#options.derivedKeys;
    const read = await (isUsed ? this.#retiring(nowMs) : this.#stored(this.#create(nowMs)));
    this.#fault = read.ok ? undefined : read.error;
    if (!read.ok) {
      // What is encrypted from now on does not need the store.
      if (!isUsed) this.#warn(read.error);
      return;
    }
    // What was encrypted while the store was unavailable can then be opened by the others, too.
    for (const key of this.#unstored) {
      const added = await this.#store(key);
      if (added.ok) this.#unstored = this.#unstored.filter(({ id }) => id !== key.id);
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
    return ensured.ok ? store.value.keys(this.#options.purpose) : ensured;
  }

  async #retiring(nowMs: number): Promise<Result<readonly StoredKey[], Refusal>> {
    const store = await this.#options.openStore();
    if (!store.ok) return store;
    const retiring = await readRetiringKeys(store.value, this.#options.purpose, nowMs);
    if (!retiring.ok) return retiring;
    this.#untilMs = retiring.value.untilMs;
    return ok(retiring.value.keys);
  }

  async #store(key: StoredKey): Promise<Result<undefined, Refusal>> {
    const store = await this.#options.openStore();
    return store.ok ? store.value.addKey(key) : store;
  }

  #create(createdMs: number): StoredKey {
    const { purpose } = this.#options;
    return { id: randomUUID(), purpose, bytes: randomBytes(KEY_BYTES), createdMs };
  }

  #warn(error: Refusal): void {
    this.#options.log.warn(this.#options.warning, { why: formatRefusal(error) });
  }
}

import { randomUUID } from 'node:crypto';
import { CLIENT_VALUE_LIFETIME_MS } from '../../core/client-values.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store, StoredKey } from '../../gateway/ports/store.ts';
import { deriveKey, type EncryptionKey } from './encryption-key.ts';
import type { EncryptionKeys } from './encryption-keys.ts';

export interface DerivedKeysOptions {
  readonly keys: EncryptionKeys;
  /**
   * Whether all processes on the store have the same encryption keys. If not, keys for what clients carry are in the
   * store.
   */
  readonly isCommon: boolean;
  readonly log: Log;
}

/**
 * Keys for what clients carry from one request to another, derived from the encryption keys. So nobody can open or forge
 * that with a copy of the store.
 */
export class DerivedKeys {
  readonly #options: DerivedKeysOptions;
  readonly #derived = new Map<
    string,
    { readonly from: readonly EncryptionKey[]; readonly keys: readonly StoredKey[] }
  >();
  readonly #warned = new Set<string>();

  constructor(options: DerivedKeysOptions) {
    this.#options = options;
  }

  /** Whether keys are derived, instead of taken from the store. */
  get isUsed(): boolean {
    return this.#options.isCommon;
  }

  /**
   * All keys for a purpose, newest first. Creates the first encryption key. Empty, with this warning in the log, if there
   * is no usable one.
   */
  async list(purpose: string, warning: string): Promise<readonly StoredKey[]> {
    const { keys } = this.#options;
    const known = await keys.read();
    const ensured = known.ok && known.value.length === 0 ? await keys.ensure() : known;
    const read = ensured.ok ? await keys.read() : ensured;
    if (!read.ok) this.#warn(warning, read.error);
    return read.ok ? this.#derive(purpose, read.value) : [];
  }

  /** A key of this purpose. Looks for it in a changed key file, too. */
  async find(purpose: string, isKey: (key: StoredKey) => boolean): Promise<StoredKey | undefined> {
    const { keys } = this.#options;
    for (const isFresh of [false, true]) {
      const read = await keys.read(isFresh);
      const found = read.ok ? this.#derive(purpose, read.value).find(isKey) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #derive(purpose: string, from: readonly EncryptionKey[]): readonly StoredKey[] {
    const known = this.#derived.get(purpose);
    if (known?.from === from) return known.keys;
    const keys = from.map((key) => ({ id: key.id, purpose, bytes: deriveKey(key, purpose), createdMs: 0 }));
    this.#derived.set(purpose, { from, keys });
    return keys;
  }

  /** Once for each warning. */
  #warn(warning: string, error: Refusal): void {
    if (this.#warned.has(warning)) return;
    this.#warned.add(warning);
    this.#options.log.warn(warning, { code: error.code, why: formatRefusal(error) });
  }
}

const RETIREMENT = 'derived';

type Keys = Pick<Store, 'keys' | 'ensureKey'>;

/**
 * Until when keys of the store open what was sealed with them: from then on, a copy of the store opens and forges
 * nothing. Set by the first process on the store that derives keys.
 */
export async function readRetirement(store: Keys, nowMs: number): Promise<Result<number, Refusal>> {
  const marker = { id: randomUUID(), purpose: RETIREMENT, bytes: Buffer.alloc(32), createdMs: nowMs };
  const kept = await store.ensureKey(marker);
  return kept.ok ? ok(kept.value.createdMs + CLIENT_VALUE_LIFETIME_MS) : kept;
}

/** The keys of the store for a purpose, and until when they open something. */
export async function readRetiringKeys(
  store: Keys,
  purpose: string,
  nowMs: number,
): Promise<Result<{ readonly keys: readonly StoredKey[]; readonly untilMs: number }, Refusal>> {
  const untilMs = await readRetirement(store, nowMs);
  if (!untilMs.ok) return untilMs;
  const keys = await store.keys(purpose);
  return keys.ok ? ok({ keys: keys.value, untilMs: untilMs.value }) : keys;
}

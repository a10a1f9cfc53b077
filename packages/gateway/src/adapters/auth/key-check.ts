import { randomUUID } from 'node:crypto';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Store, StoredKey } from '../../gateway/ports/store.ts';
import { readRetirement } from './derived-keys.ts';
import { deriveKey, type EncryptionKey } from './encryption-key.ts';
import type { EncryptionKeys } from './encryption-keys.ts';

/** The purpose under which the store keeps what shows whether a process has its encryption key. */
export const KEY_CHECK = 'key-check';

type Keys = Pick<Store, 'keys' | 'ensureKey' | 'addKey' | 'onChange'>;

export interface KeyCheckOptions {
  readonly keys: EncryptionKeys;
  /** Whether keys for what clients carry are derived; those of the store then retire. */
  readonly isDerived: boolean;
  readonly store: Keys;
  readonly log: Log;
}

/** Whether this process has the encryption key of the store, from its start on. */
export class KeyCheck {
  readonly #options: KeyCheckOptions;
  readonly #ends: (() => void)[] = [];
  #fault: Refusal | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(options: KeyCheckOptions) {
    this.#options = options;
  }

  /** KEY_DIFFERS or KEY_UNUSABLE */
  get fault(): Refusal | undefined {
    return this.#fault;
  }

  /** Checks now, and again when keys of this process or of the store change. */
  async start(): Promise<void> {
    const { keys, store, isDerived } = this.#options;
    this.#ends.push(
      keys.onChange(() => void this.check()),
      store.onChange((parts) => {
        if (parts.includes('keys')) void this.check();
      }),
    );
    if (isDerived) await readRetirement(store, Date.now());
    await this.check();
  }

  /** Checks run one after another, so the last one wins. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#checkNow());
    return this.#checking;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#checking;
  }

  async #checkNow(): Promise<void> {
    const { keys, store, log } = this.#options;
    const read = await keys.read();
    const stored = await store.keys(KEY_CHECK);
    // The store reports its own faults.
    if (!stored.ok) return;
    const [newest] = read.ok ? read.value : [];
    const first = newest === undefined ? stored : await ensureCheck(store, stored.value, newest);
    if (!first.ok) return;
    const fault = read.ok ? findKeyFault(read.value, first.value[0]) : read.error;
    const former = this.#fault;
    this.#fault = fault;
    if (fault !== undefined && former?.code !== fault.code)
      log.warn('sign-ins, secrets and entries of the store cannot be decrypted', {
        code: fault.code,
        why: formatRefusal(fault),
      });
    else if (fault === undefined && former !== undefined)
      log.info('stored credentials can be decrypted again');
  }
}

async function ensureCheck(
  store: Keys,
  stored: readonly StoredKey[],
  key: EncryptionKey,
): Promise<Result<readonly StoredKey[], Refusal>> {
  if (stored.length > 0) return ok(stored);
  const kept = await store.ensureKey(createCheck(key));
  return kept.ok ? ok([kept.value]) : kept;
}

/** KEY_DIFFERS if none of these keys is the one that the store was last encrypted with. */
export function findKeyFault(
  keys: readonly EncryptionKey[],
  check: Pick<StoredKey, 'id' | 'bytes'> | undefined,
): Refusal | undefined {
  if (check === undefined || keys.some((key) => deriveKey(key, KEY_CHECK).equals(check.bytes)))
    return undefined;
  return {
    code: 'KEY_DIFFERS',
    key: check.id.slice(0, check.id.indexOf('.')),
    keys: keys.map(({ id }) => id),
  };
}

/** Makes a key the one that all processes on the store must have. */
export async function adoptKey(store: Keys, key: EncryptionKey): Promise<Result<undefined, Refusal>> {
  const stored = await store.keys(KEY_CHECK);
  if (!stored.ok) return stored;
  const isCurrent = findKeyFault([key], stored.value[0]) === undefined && stored.value.length > 0;
  return isCurrent ? ok(undefined) : store.addKey(createCheck(key));
}

function createCheck(key: EncryptionKey): StoredKey {
  const id = `${key.id}.${randomUUID()}`;
  return { id, purpose: KEY_CHECK, bytes: deriveKey(key, KEY_CHECK), createdMs: Date.now() };
}

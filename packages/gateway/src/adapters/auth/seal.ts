import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { err, ok } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { EntrySeal, ConfigEntry } from '../../gateway/ports/config-entries.ts';
import type { SecretSeal } from '../../gateway/ports/secrets.ts';
import type { SealedEntry } from '../../core/record.ts';
import type { EncryptionKey } from './encryption-key.ts';
import { type EncryptionKeys, findKey } from './encryption-keys.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Nonce, tag and AES-256-GCM ciphertext. `about` is authenticated but not included; it binds the ciphertext to its
 * context.
 */
export function seal(text: string, about: string, { bytes }: Pick<EncryptionKey, 'bytes'>): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Undefined if the key or `about` differs, or the data was modified. */
export function unseal(
  sealed: Buffer,
  about: string,
  { bytes }: Pick<EncryptionKey, 'bytes'>,
): string | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, bytes, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(about));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const body = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Encrypts registered entries with the key that encrypts sign-ins, which is not in the store. */
export function createEntrySeal(keys: EncryptionKeys): EntrySeal {
  return {
    async seal(name, entry) {
      const key = await keys.ensure();
      return key.ok ? ok(sealEntry(JSON.stringify(entry), entryContext(name), key.value)) : key;
    },
    async open(name, sealed) {
      const read = await keys.readFor([sealed.keyId]);
      if (!read.ok) return err(formatRefusal(read.error));
      const text = openEntry(sealed, entryContext(name), read.value);
      return text === undefined
        ? err(
            'it was registered with another encryption key; register it again with PUT /gateways/{id} and its url or command',
          )
        : ok(JSON.parse(text) as ConfigEntry); // `seal` wrote it
    },
  };
}

/** Encrypts secrets with the same key. Each is bound to its name, so that none can be read as another one. */
export function createSecretSeal(keys: EncryptionKeys): SecretSeal {
  return {
    async seal(name, value) {
      const key = await keys.ensure();
      return key.ok ? ok(sealEntry(value, secretContext(name), key.value)) : key;
    },
    async open(name, sealed) {
      const read = await keys.readFor([sealed.keyId]);
      if (!read.ok) return err(formatRefusal(read.error));
      const value = openEntry(sealed, secretContext(name), read.value);
      return value === undefined ? err('it was stored with another encryption key') : ok(value);
    },
  };
}

export function sealEntry(text: string, context: string, key: EncryptionKey): SealedEntry {
  return { keyId: key.id, sealed: seal(text, context, key).toString('base64') };
}

/** Undefined if none of these keys opens it. */
export function openEntry(
  { keyId, sealed }: SealedEntry,
  context: string,
  keys: readonly EncryptionKey[],
): string | undefined {
  const key = findKey(keys, keyId);
  return key && unseal(Buffer.from(sealed, 'base64'), context, key);
}

/** The associated data of a registered entry. */
export function entryContext(name: string): string {
  return JSON.stringify(['gateway', name]);
}

/** The associated data of a secret. */
export function secretContext(name: string): string {
  return JSON.stringify(['secret', name]);
}

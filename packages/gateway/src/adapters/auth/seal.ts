import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { err, ok } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { EntrySeal, ConfigEntry } from '../../gateway/ports/config-entries.ts';
import type { SecretSeal } from '../../gateway/ports/secrets.ts';
import {
  type EncryptionKey,
  ensureEncryptionKey,
  type KeyLocation,
  readEncryptionKey,
} from './encryption-key.ts';

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
export function createEntrySeal(location: KeyLocation): EntrySeal {
  return {
    async seal(name, entry) {
      const key = await ensureEncryptionKey(location);
      if (!key.ok) return key;
      const sealed = seal(JSON.stringify(entry), aboutOf(name), key.value).toString('base64');
      return ok({ keyId: key.value.id, sealed });
    },
    async open(name, { keyId, sealed }) {
      const key = await readEncryptionKey(location);
      if (!key.ok) return err(formatRefusal(key.error));
      const isOurs = key.value?.id === keyId;
      const text = isOurs ? unseal(Buffer.from(sealed, 'base64'), aboutOf(name), key.value) : undefined;
      return text === undefined
        ? err(
            'it was registered with another encryption key; register it again with PUT /gateways/{id} and its url or command',
          )
        : ok(JSON.parse(text) as ConfigEntry); // `seal` wrote it
    },
  };
}

/** Encrypts secrets with the same key. Each is bound to its name, so that none can be read as another one. */
export function createSecretSeal(location: KeyLocation): SecretSeal {
  const toContext = (name: string): string => JSON.stringify(['secret', name]);
  return {
    async seal(name, value) {
      const key = await ensureEncryptionKey(location);
      if (!key.ok) return key;
      return ok({ keyId: key.value.id, sealed: seal(value, toContext(name), key.value).toString('base64') });
    },
    async open(name, { keyId, sealed }) {
      const key = await readEncryptionKey(location);
      if (!key.ok) return err(formatRefusal(key.error));
      const isOurs = key.value?.id === keyId;
      const value = isOurs ? unseal(Buffer.from(sealed, 'base64'), toContext(name), key.value) : undefined;
      return value === undefined ? err('it was stored with another encryption key') : ok(value);
    },
  };
}

function aboutOf(name: string): string {
  return JSON.stringify(['gateway', name]);
}

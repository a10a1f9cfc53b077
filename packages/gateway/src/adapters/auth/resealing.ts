import { err, ok } from '@assay-mcp/kit/result';
import type { SealedEntry } from '../../core/record.ts';
import type { Resealing } from '../../gateway/ports/resealing.ts';
import { resealCredential } from './credential-content.ts';
import { type EncryptionKey, toUnusable } from './encryption-key.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import { adoptKey } from './key-check.ts';
import { NO_ISSUER } from './remembered-challenge.ts';
import { entryContext, openEntry, sealEntry, secretContext } from './seal.ts';

/** Decrypts with the keys that `keys()` returned last, and encrypts with the newest of them. */
export function createResealing(
  encryptionKeys: EncryptionKeys,
  toSealName: (kind: 'gateway' | 'rest_tool' | 'function_module', name: string) => string,
): Resealing {
  let keys: readonly EncryptionKey[] = [];
  const reseal = (sealed: SealedEntry, context: string): SealedEntry | undefined => {
    const text = openEntry(sealed, context, keys);
    return text === undefined || keys[0] === undefined ? undefined : sealEntry(text, context, keys[0]);
  };
  return {
    async keys() {
      const read = await encryptionKeys.read(true);
      if (!read.ok) return read;
      keys = read.value;
      const [newest, ...older] = keys.map(({ id, place }) => ({ id, place }));
      return newest === undefined
        ? err(toUnusable('the home', 'there is none yet; it is created when it is first needed'))
        : ok([newest, ...older]);
    },
    entry: (kind, name, sealed) => reseal(sealed, entryContext(toSealName(kind, name))),
    secret: (name, sealed) => reseal(sealed, secretContext(name)),
    credential: (stored) => keys[0] && resealCredential(stored, keys, keys[0]),
    kindOf: ({ issuer }) => (issuer === NO_ISSUER ? 'challenge' : 'sign_in'),
    async adopt(store) {
      return keys[0] === undefined ? ok(undefined) : adoptKey(store, keys[0]);
    },
  };
}

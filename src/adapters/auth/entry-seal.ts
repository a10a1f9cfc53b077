import { err, ok } from '../../core/result.ts';
import { sentenceOf } from '../../core/sentences.ts';
import type { EntrySeal, GatewayEntry } from '../../gateway/ports/gateways.ts';
import { ensureEncryptionKey, readEncryptionKey, type KeyPlace } from './encryption-key.ts';
import { seal, unseal } from './seal.ts';

/** Encrypts what was registered by the key with which sign-ins are encrypted. It is not in the store. */
export function entrySeal(place: KeyPlace): EntrySeal {
  return {
    async seal(name, entry) {
      const key = await ensureEncryptionKey(place);
      if (!key.ok) return key;
      const sealed = seal(JSON.stringify(entry), aboutOf(name), key.value).toString('base64');
      return ok({ keyId: key.value.id, sealed });
    },
    async open(name, { keyId, sealed }) {
      const key = await readEncryptionKey(place);
      if (!key.ok) return err(sentenceOf(key.error));
      const isOurs = key.value?.id === keyId;
      const text = isOurs ? unseal(Buffer.from(sealed, 'base64'), aboutOf(name), key.value) : undefined;
      return text === undefined
        ? err(
            'it was registered where another encryption key holds; give all of it again: PUT /gateways/{id} with its url or command',
          )
        : ok(JSON.parse(text) as GatewayEntry); // `seal` wrote it
    },
  };
}

function aboutOf(name: string): string {
  return JSON.stringify(['gateway', name]);
}

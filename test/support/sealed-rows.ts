import {
  openChallenge,
  openContent,
  sealChallenge,
  sealContent,
  type CredentialContent,
} from '../../packages/gateway/src/adapters/auth/credential-content.ts';
import { parseKey, type EncryptionKey } from '../../packages/gateway/src/adapters/auth/encryption-key.ts';
import type { EncryptionKeys } from '../../packages/gateway/src/adapters/auth/encryption-keys.ts';
import { NO_ISSUER } from '../../packages/gateway/src/adapters/auth/remembered-challenge.ts';
import { createResealing } from '../../packages/gateway/src/adapters/auth/resealing.ts';
import { createEntrySeal, createSecretSeal } from '../../packages/gateway/src/adapters/auth/seal.ts';
import type { RecordChange } from '../../packages/gateway/src/gateway/ports/records.ts';
import type { Store } from '../../packages/gateway/src/gateway/ports/store.ts';
import { toEntrySealName } from '../../packages/gateway/src/gateway/services/bundles/entry-records.ts';
import { rekeyStore, type RekeyReport } from '../../packages/gateway/src/gateway/services/store/rekey.ts';
import { keysIn } from './encryption-keys.ts';
import { sleep } from './endings.ts';
import { tempDir } from './paths.ts';
import { valueOf } from './store-values.ts';

export const CONTENT: CredentialContent = {
  tokens: { access: 'access', refresh: 'refresh', scope: undefined, obtainedMs: 1, expiresMs: undefined },
  client: { client_id: 'c', redirectUrl: undefined },
  wantedScope: undefined,
  resource: undefined,
  server: { url: 'https://issuer.example', metadata: undefined },
};
const CHALLENGE = { scope: 'x' } as unknown as Parameters<typeof sealChallenge>[1];
const ENTRIES = ['gateway', 'rest_tool', 'function_module'] as const;

export function toKey(text: string): EncryptionKey {
  const key = parseKey(text, 'the test');
  if (!key.ok) throw new Error(key.error);
  return key.value;
}

/** Writes so many rows of each kind, encrypted with this key. */
export async function fillSealed(store: Store, given: string, count: number): Promise<void> {
  const keys = keysIn(tempDir(), { given });
  const author = { createdMs: 1, author: 'anna' };
  const changes: RecordChange[] = [];
  for (let at = 0; at < count; at += 1) {
    const name = `n${at}`;
    for (const kind of ENTRIES) {
      const sealed = valueOf(
        await createEntrySeal(keys).seal(toEntrySealName(kind, name), { url: `u${at}` }),
      );
      changes.push({ kind, id: `${kind} ${at}`, body: { name, ...author, ...sealed } });
    }
    const sealed = valueOf(await createSecretSeal(keys).seal(name, `v${at}`));
    changes.push({ kind: 'secret', id: name, body: { ...sealed, savedMs: at, uses: [] } });
    const key = { server: name, identity: 'i', issuer: 'https://issuer.example', subject: 'local' };
    valueOf(await store.saveCredential({ ...sealContent(key, CONTENT, toKey(given)), savedMs: at }));
    const challenge = sealChallenge({ ...key, issuer: NO_ISSUER }, CHALLENGE, toKey(given));
    valueOf(await store.saveCredential({ ...challenge, savedMs: at }));
  }
  const expectedRevisions = changes.map(({ kind, id }) => ({ kind, id, revision: undefined }));
  valueOf(await store.commit({ changes, expectedRevisions, audit: [] }));
}

export async function rekey(store: Store, keys: EncryptionKeys): Promise<RekeyReport> {
  return valueOf(
    await rekeyStore({
      store,
      resealing: createResealing(keys, toEntrySealName),
      nowMs: Date.now,
      pause: sleep,
      onProgress: () => undefined,
    }),
  );
}

/** What these keys decrypt: the name of each row with its content. */
export async function openAll(store: Store, keys: EncryptionKeys): Promise<readonly string[]> {
  const opened: string[] = [];
  const ring = valueOf(await keys.read(true));
  for (const record of valueOf(await store.records(0)).records) {
    const { kind, id, body } = record;
    if (kind === 'secret' && body !== undefined) {
      const value = await createSecretSeal(keys).open(id, body);
      if (value.ok) opened.push(`secret ${id} ${value.value}`);
    }
    if ((kind === 'gateway' || kind === 'rest_tool' || kind === 'function_module') && body !== undefined) {
      const entry = await createEntrySeal(keys).open(toEntrySealName(kind, body.name), body);
      if (entry.ok) opened.push(`${id} ${JSON.stringify(entry.value)}`);
    }
  }
  for (const stored of valueOf(await store.credentials())) {
    const content = openContent(stored, ring) ?? openChallenge(stored, ring);
    if (content !== undefined) opened.push(`${stored.server} ${stored.issuer} ${JSON.stringify(content)}`);
  }
  return opened.toSorted();
}

import type { SqlStore, StoreCalls } from './sql-store.ts';

/** What a store can be asked for, as a record that other calls can stand in beside. */
export function callsOf(store: SqlStore): StoreCalls {
  return {
    addToken: (token, deed) => store.addToken(token, deed),
    tokens: () => store.tokens(),
    revokeToken: (idOrName, revokedMs, deed) => store.revokeToken(idOrName, revokedMs, deed),
    keys: (purpose) => store.keys(purpose),
    ensureKey: (key) => store.ensureKey(key),
    addKey: (key) => store.addKey(key),
    credentials: () => store.credentials(),
    saveCredential: (credential, revision) => store.saveCredential(credential, revision),
    leaseCredential: (key, wish) => store.leaseCredential(key, wish),
    removeCredential: (key) => store.removeCredential(key),
    toolsets: (known) => store.toolsets(known),
    words: (since) => store.words(since),
    acceptFirst: (definitions) => store.acceptFirst(definitions),
    accepted: (id) => store.accepted(id),
    deeds: (query) => store.deeds(query),
    snapshot: () => store.snapshot(),
    commit: (commit) => store.commit(commit),
    settings: () => store.settings(),
  };
}

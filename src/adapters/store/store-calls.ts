import type { SqlStore, StoreCalls } from './sql-store.ts';

/** What a store can be asked for, as a record that other calls can stand in beside. */
export function callsOf(store: SqlStore): StoreCalls {
  return {
    saveServer: (server) => store.saveServer(server),
    servers: () => store.servers(),
    server: (name, identity) => store.server(name, identity),
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
    saveToolset: (toolset, former, deed) => store.saveToolset(toolset, former, deed),
    removeToolset: (name, deed) => store.removeToolset(name, deed),
    equip: (name, deed) => store.equip(name, deed),
    words: (since) => store.words(since),
    saveWords: (changes) => store.saveWords(changes),
    acceptFirst: (definitions) => store.acceptFirst(definitions),
    accepted: (id) => store.accepted(id),
    deeds: (query) => store.deeds(query),
    snapshot: () => store.snapshot(),
    saveTogether: (changes) => store.saveTogether(changes),
    settings: () => store.settings(),
    saveSetting: (key, value, deed) => store.saveSetting(key, value, deed),
  };
}

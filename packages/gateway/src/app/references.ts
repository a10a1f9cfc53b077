import { createSecretSeal } from '../adapters/auth/seal.ts';
import { ReferenceResolver } from '../adapters/secrets/resolve-references.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import { listSecretNames } from '../gateway/services/secrets/secret-service.ts';
import type { Connect } from '../gateway/ports/link.ts';
import { type Environment, hasHomeStore } from './environment.ts';

/** Reads the values that entries refer to, from the records of this home, files and programs. */
export function createResolver(
  environment: Pick<Environment, 'home' | 'configEnvironment' | 'keys' | 'secrets' | 'records' | 'store'>,
): ReferenceResolver {
  const { home, secrets, records, store } = environment;
  const seal = createSecretSeal(environment.keys);
  return new ReferenceResolver({
    findSecret: async (name) => {
      // Reading a secret must not create a store.
      if (!store.isOpen && !hasHomeStore(environment)) return ok(undefined);
      const replica = records();
      const ready = await replica.ready();
      return ready.ok ? ok(replica.get('secret', name)) : err(formatRefusal(ready.error));
    },
    open: (name, secret) => seal.open(name, secret),
    learn: (values) => secrets.add(values),
    home,
  });
}

/**
 * Connects a server with the values that its entry refers to. If it refuses them, what programs printed is printed again,
 * once.
 */
export function withReferences(connect: Connect, resolver: ReferenceResolver): Connect {
  return async (spec, opening) => {
    const resolved = await resolver.resolve(spec);
    if (!resolved.ok) return resolved;
    const opened = await connect(resolved.value, opening);
    if (opened.ok || opened.error.code !== 'CREDENTIALS_REFUSED' || !resolver.forget(spec)) return opened;
    const again = await resolver.resolve(spec);
    return again.ok ? connect(again.value, opening) : again;
  };
}

/** Connects servers of this process with the values that their entries refer to. */
export function connectWithValues(connect: Connect, environment: Environment): Connect {
  return withReferences(connect, createResolver(environment));
}

/** A secret that was stored or allowed meanwhile connects the servers that wait for it. Returns a function that ends this. */
export function reconnectOnSecrets(
  { records, keys }: Pick<Environment, 'records' | 'keys'>,
  catalog: Catalog,
): () => void {
  const reconnect = (isChanged: (name: string) => boolean): void => {
    for (const server of catalog.servers)
      if (listSecretNames(server.spec).some(isChanged)) void server.tryNow();
  };
  const ends = [
    records().onChange(({ records: changed }) => {
      const names = new Set(changed.flatMap(({ kind, id }) => (kind === 'secret' ? [id] : [])));
      if (names.size > 0) reconnect((name) => names.has(name));
    }),
    keys.onChange(() => reconnect(() => true)),
  ];
  return () => {
    for (const end of ends) end();
  };
}

import { queryOptions } from '@tanstack/react-query';
import type { Secret, SecretInput, SecretList, SecretWanted } from '../../../gateway/src/api/secret.ts';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import { read, write } from './api.ts';

/** Under `gateways`, so that a change of a server refreshes it. */
export const secretsQuery = queryOptions({
  queryKey: ['gateways', 'secrets'],
  queryFn: ({ signal }) => read<SecretList>('/secrets', signal),
});

/** Lets a server use a secret, unless it has changed since it was shown. `value`: stored first. */
export function allowSecret(
  name: string,
  { server, identity }: SecretWanted,
  value?: string,
): Promise<Secret> {
  const input: SecretInput = {
    ...(value !== undefined && { value }),
    servers: [server],
    identities: { [server]: identity },
  };
  return write('PUT', `/secrets/${encodeURIComponent(name)}`, input);
}

/** Whether a server may use a secret, or else what it would be given to. */
export type SecretAccess =
  { readonly state: 'allowed' } | { readonly state: 'missing' | 'refused'; readonly wanted: SecretWanted };

/** A secret that the entry of a server refers to. */
export interface ReferredSecret {
  readonly name: string;
  /** Such as `env.GITHUB_TOKEN`. */
  readonly members: readonly string[];
  /** Undefined: the gateway has not yet read the entry again. */
  readonly access: SecretAccess | undefined;
}

const REFERENCE = /\$\{secret:([^}]+)\}/g;

/** The secrets that the entry refers to, each once, in its order. */
export function listReferredSecrets(
  { name: server, references = [] }: Pick<Gateway, 'name' | 'references'>,
  list: SecretList,
): readonly ReferredSecret[] {
  const members = new Map<string, string[]>();
  for (const { member, value } of references)
    for (const [, name = ''] of value.matchAll(REFERENCE))
      members.set(name, [...(members.get(name) ?? []), member]);
  return [...members].map(([name, of]) => ({ name, members: of, access: findAccess(name, server, list) }));
}

function findAccess(
  name: string,
  server: string,
  { secrets, missing }: SecretList,
): SecretAccess | undefined {
  const lack = missing.find((one) => one.name === name && one.server === server);
  if (lack !== undefined) return { state: 'missing', wanted: lack };
  const secret = secrets.find((one) => one.name === name);
  const refused = secret?.refused.find((one) => one.server === server);
  if (refused !== undefined) return { state: 'refused', wanted: refused };
  const isAllowed = secret?.uses.some((one) => one.server === server && one.isCurrent) === true;
  return isAllowed ? { state: 'allowed' } : undefined;
}

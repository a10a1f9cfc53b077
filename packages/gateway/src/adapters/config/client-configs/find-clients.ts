import type { ClientEntry } from '../../../core/check-clients.ts';
import type { FoundClient } from '../../../core/client-configs.ts';
import { CLIENTS } from './clients.ts';
import type { Machine } from './locate-client.ts';
import { isAssay, type OwnCommand } from './own-entry.ts';
import { readSources, listSources } from './sources.ts';
import { toJsonValue } from './translate-entry.ts';
import { isJsonObject } from '@assay-mcp/kit/json-object';

/** The clients of this machine that have servers. A file that cannot be read is left out; `import` reports why. */
export async function findClients(
  environment: Machine & { readonly ownCommand: OwnCommand },
): Promise<readonly FoundClient[]> {
  const found = await Promise.all(
    CLIENTS.map(async (client): Promise<FoundClient | undefined> => {
      const read = await readSources(listSources(client, undefined, environment), environment.platform);
      if (!read.ok) return undefined;
      const entries = read.value.entries.map(
        ({ member }) => [member.key, toJsonValue(member.value)] as const,
      );
      const isOwn = (entry: unknown): boolean =>
        isJsonObject(entry) && isAssay(entry, environment.ownCommand);
      const servers = entries.filter(([, entry]) => !isOwn(entry)).map(([name]) => name);
      const { id, label } = client;
      return {
        id,
        label,
        servers: [...new Set(servers)],
        isConnected: entries.some(([, one]) => isOwn(one)),
      };
    }),
  );
  return found.flatMap((client) =>
    client !== undefined && (client.servers.length > 0 || client.isConnected) ? [client] : [],
  );
}

/** Assay's entries in the config files of clients. A file that cannot be read is left out. */
export async function findOwnEntries(
  environment: Machine & { readonly ownCommand: OwnCommand },
): Promise<readonly Pick<ClientEntry, 'client' | 'label' | 'name' | 'command'>[]> {
  const found = await Promise.all(
    CLIENTS.map(async (client) => {
      const read = await readSources(listSources(client, undefined, environment), environment.platform);
      if (!read.ok) return [];
      return read.value.entries.flatMap(({ member }) => {
        const entry = toJsonValue(member.value);
        if (!isJsonObject(entry) || !isAssay(entry, environment.ownCommand)) return [];
        const command = [entry['command'], entry['args']].flat().filter((word) => typeof word === 'string');
        return [{ client: client.id, label: client.label, name: member.key, command }];
      });
    }),
  );
  return found.flat();
}

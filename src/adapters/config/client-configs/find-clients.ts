import type { FoundClient } from '../../../core/client-configs.ts';
import { CLIENTS } from './clients.ts';
import type { Machine } from './locate-client.ts';
import { isAssay, type OwnCommand } from './own-entry.ts';
import { readSources, listSources } from './sources.ts';
import { toJsonValue } from './translate-entry.ts';
import { isJsonObject } from '../../../core/json-object.ts';

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

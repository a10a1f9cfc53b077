import type { Catalog } from '../../catalog/catalog.ts';
import type { RegisteredServers } from '../../catalog/registered.ts';
import type { RecordChange } from '../../ports/records.ts';
import type { Server } from '../../catalog/server.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import { getSourceKind } from '../../../core/sources/source-kinds.ts';

/** The server of custom tools and modules. Undefined if there are none. */
export function findCustomServer({ servers }: Catalog): Server | undefined {
  return servers.find(({ spec }) => getSourceKind(spec.transport).isCustom);
}

/** Resolves when the server lists the latest changes. */
export async function waitForCustomServer({
  catalog,
  registered,
}: {
  readonly catalog: Catalog;
  readonly registered: RegisteredServers;
}): Promise<void> {
  await registered.settled();
  const server = findCustomServer(catalog);
  // A CLI command starts only the servers it needs.
  server?.start();
  await server?.settled();
  await server?.lists.readAgain();
}

/** Changes that delete the records of these tools. */
export function toRemovalChanges(
  records: RecordReplica,
  ids: readonly string[],
): readonly RecordChange<'tool'>[] {
  return ids.flatMap((id) =>
    records.get('tool', id) === undefined ? [] : [{ kind: 'tool', id, body: undefined }],
  );
}

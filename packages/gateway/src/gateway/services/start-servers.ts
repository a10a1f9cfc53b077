import type { ServerStatus } from '../../api/status.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { listServerStatuses } from '../catalog/server-status.ts';

/**
 * Starts these servers of a catalog and no others. Resolves when the first attempt of each has ended, successfully or
 * not; `onSettled` is called for each as it ends, and at once for one whose entry cannot be used.
 */
export async function startServers(
  catalog: Catalog,
  names: readonly string[],
  onSettled: (status: ServerStatus) => void,
): Promise<readonly ServerStatus[]> {
  const wanted = new Set(names);
  const report = (name: string): void => {
    const status = listServerStatuses(catalog).find((one) => one.name === name);
    if (status !== undefined) onSettled(status);
  };
  for (const { name } of catalog.rejected) if (wanted.has(name)) report(name);
  await Promise.all(
    catalog.servers
      .filter(({ spec }) => wanted.has(spec.name))
      .map(async (server) => {
        server.start();
        await server.settled();
        report(server.spec.name);
      }),
  );
  return listServerStatuses(catalog).filter(({ name }) => wanted.has(name));
}

import type { Refusal } from '../../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Log } from '../../ports/log.ts';
import type { Gateway } from '../../../api/server.ts';
import { waitUntilSettled } from './refreshed.ts';
import type { ServerService } from './server-service.ts';

interface RestartDeps {
  readonly servers: Pick<ServerService, 'find'>;
  readonly catalog: Pick<Catalog, 'servers' | 'restart'>;
  readonly log: Log;
}

/**
 * Stops a server of this process and starts it again; the calls that it is handling fail. Resolves when it is ready, or
 * after a while. Errors: SERVER_UNKNOWN; SERVER_UNAVAILABLE if it is disabled or its entry cannot be used.
 */
export async function restartServer(
  { servers, catalog, log }: RestartDeps,
  idOrName: string,
  subject: string,
): Promise<Result<Gateway, Refusal>> {
  const found = servers.find(idOrName);
  if (!found.ok) return found;
  const { id, name, enabled } = found.value;
  const server = catalog.servers.find(({ spec }) => spec.name === name);
  if (server === undefined) {
    const cause = enabled
      ? ({ code: 'ENTRY_UNREADABLE', reason: undefined } as const)
      : ({ code: 'ENTRY_DISABLED' } as const);
    return err({ code: 'SERVER_UNAVAILABLE', server: name, cause });
  }
  log.info('an operator restarts the server', { server: name, subject });
  await waitUntilSettled(catalog.restart(server).settled());
  return servers.find(id);
}

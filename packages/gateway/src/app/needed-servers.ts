import { hasPublicPrefix } from '../core/names.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Server } from '../gateway/catalog/server.ts';
import type { ReportRequest } from '../gateway/services/gateway-reports.ts';
import { findEntry } from '../gateway/services/tools/find-entry.ts';
import type { NeededTools } from '../gateway/services/tools/tool-service.ts';
import { findServerByTool } from '../gateway/services/toolsets/selection.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import type { ConfiguredCatalog } from './open-catalog.ts';

/** Starts these servers and waits until each is ready or has failed. */
export async function startSome(catalog: Catalog, servers: readonly Server[]): Promise<void> {
  if (servers.length === 0) return;
  catalog.start(servers);
  await catalog.settled();
}

/** Starts the servers whose tools are not known, or all of them. Resolves with the names of the others. */
export async function listTools(
  { catalog, absence }: ConfiguredCatalog,
  { server, isFresh }: ReportRequest,
): Promise<Result<readonly string[], Refusal>> {
  if (absence !== undefined && !catalog.rejected.some(({ name }) => name === server)) return err(absence);
  const asked = catalog.servers.filter(({ spec }) => server === undefined || spec.name === server);
  const recalled = isFresh ? [] : asked.filter(({ lists }) => lists.isKnown('tools'));
  await startSome(
    catalog,
    asked.filter((one) => !recalled.includes(one)),
  );
  return ok(recalled.map(({ spec }) => spec.name));
}

/** The servers of a tool: those that its id or name indicates, else all, since any may have gained the tool. */
export function selectServersFor(catalog: Catalog, tool: string): readonly Server[] {
  const listing = catalog.all.listing('tools');
  const found = listing.find(tool)?.server ?? findEntry(listing, tool)?.server;
  if (found !== undefined) return [found];
  if (listing.isDisabled(tool) || listing.candidates(tool) !== undefined) return [];
  const named = catalog.servers.filter(({ spec }) => spec.prefix && hasPublicPrefix(tool, spec.name));
  const spaced = findServerByTool(tool, catalog.servers);
  const meant = named.length > 0 || spaced === undefined ? named : [spaced];
  return meant.length > 0 ? meant : catalog.servers;
}

/**
 * Starts servers for a command as requests need them, each once, and compares their lists with the accepted ones. A
 * server whose tools are known from an earlier start is not started, unless fresh lists are asked for.
 */
export function createStarter({ catalog, records }: ConfiguredCatalog): {
  readonly listed: (needed: NeededTools) => Promise<void>;
} {
  const starting = new Map<Server, Promise<void>>();
  const start = async (servers: readonly Server[]): Promise<void> => {
    const fresh = servers.filter((server) => !starting.has(server));
    if (fresh.length > 0) {
      const started = startCompared({ catalog, records }, fresh);
      for (const server of fresh) starting.set(server, started);
    }
    await Promise.all(servers.flatMap((server) => starting.get(server) ?? []));
  };
  const compared = new Set<Server>();
  const compare = async (servers: readonly Server[]): Promise<void> => {
    const fresh = servers.filter((server) => !compared.has(server) && !starting.has(server));
    for (const server of fresh) compared.add(server);
    await compareTools(records, fresh);
  };
  return {
    listed: async (needed) => {
      const servers =
        'tool' in needed
          ? selectServersFor(catalog, needed.tool)
          : catalog.servers.filter(({ spec }) => needed.server === undefined || spec.name === needed.server);
      const recalled = 'tool' in needed || needed.isFresh !== true ? servers.filter(isRecalled) : [];
      await Promise.all([compare(recalled), start(servers.filter((server) => !recalled.includes(server)))]);
    },
  };
}

/** Whether its tools are known from an earlier start. Tools that operators create one by one are read at once. */
function isRecalled({ spec, lists }: Server): boolean {
  return lists.isKnown('tools') && !getSourceKind(spec.transport).isCustom;
}

async function startCompared(
  { catalog, records }: Pick<ConfiguredCatalog, 'catalog' | 'records'>,
  servers: readonly Server[],
): Promise<void> {
  await startSome(catalog, servers);
  // For a server that is not ready, only cached instructions are known.
  const up = servers.filter(({ link }) => link !== undefined);
  await Promise.all([
    ...up.map(({ spec, instructions: now }) => records.instructions.saw(spec, now.declared)),
    compareTools(records, servers),
  ]);
}

async function compareTools(
  { drift }: ConfiguredCatalog['records'],
  servers: readonly Server[],
): Promise<void> {
  for (const server of servers)
    if (server.lists.isKnown('tools')) drift.saw(server.spec, server.inventory.tools, server);
  await Promise.all(servers.map(({ spec }) => drift.settled(spec)));
}

import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { ToolRef } from '../core/tool-ref.ts';
import { parseWholeServer } from '../core/whole-server.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Server } from '../gateway/catalog/server.ts';
import { NoteService } from '../gateway/services/notes/note-service.ts';
import { findToolsIn, type FindTools } from '../gateway/services/toolsets/find-tools.ts';
import { findServerByTool } from '../gateway/services/toolsets/selection.ts';
import { getToolIndex } from '../gateway/services/toolsets/tool-index.ts';
import type { Toolsets } from '../gateway/services/toolsets/toolsets.ts';
import { ToolsetService } from '../gateway/services/toolsets/toolset-service.ts';
import type { Environment } from './environment.ts';
import { startSome } from './needed-servers.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';
import { readToolsets } from './records.ts';

/** The toolsets of the home in the process of a command. */
export interface LocalToolsets {
  readonly toolsets: Toolsets;
  readonly notes: NoteService;
  /** Starts the servers that a use case needs, if their tools are not known. */
  readonly toolsetService: ToolsetService;
}

/** Opens the toolsets of the home. The config is read, and servers start, only when their tools are needed. */
export async function openLocalToolsets(environment: Environment): Promise<Result<LocalToolsets, Refusal>> {
  const toolsets = readToolsets(environment);
  const ready = await toolsets.ready();
  if (!ready.ok) return ready;
  let opened: ConfiguredCatalog | undefined;
  const find: FindTools = async ({ refs, isFresh = false }) => {
    const opening = opened === undefined ? await openCatalog(environment) : ok(opened);
    if (!opening.ok) return opening;
    opened = opening.value;
    const { catalog, settings } = opened;
    await startSome(catalog, listNeededServers(catalog, refs, isFresh));
    return findToolsIn(catalog, settings)({ refs: [] });
  };
  const toolsetService = new ToolsetService(toolsets, find);
  return ok({ toolsets, notes: new NoteService(toolsets, Date.now), toolsetService });
}

/** The servers to start so that these refs can be looked up. */
function listNeededServers(catalog: Catalog, refs: readonly ToolRef[], isFresh: boolean): readonly Server[] {
  const index = getToolIndex(catalog.all.listing('tools'));
  return [
    ...new Set(
      refs.flatMap((ref) => {
        const found = index.resolve(ref);
        if (found.ok) return isFresh ? [found.value.server] : [];
        const { namespacedName = '' } = ref;
        const named = findServerByTool(namespacedName, catalog.servers);
        const isWhole = parseWholeServer(namespacedName) !== undefined;
        if (isWhole && !isFresh && named?.lists.isKnown('tools') === true) return [];
        return named === undefined && ref.refId !== undefined ? catalog.servers : (named ?? []);
      }),
    ),
  ];
}

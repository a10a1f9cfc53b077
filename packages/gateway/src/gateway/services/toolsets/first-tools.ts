import { ok } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../../core/sentences.ts';
import type { Toolset } from '../../../core/toolset.ts';
import { isWhole, getWholeServerName, addKnownTools } from '../../../core/whole-server.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Log } from '../../ports/log.ts';
import { findToolNames } from './holding.ts';
import type { Changing, Toolsets } from './toolsets.ts';

/**
 * Records the first tools of servers that were put into a toolset as a whole before they listed any: only tools that
 * appear after these are new. Returns a function that stops it.
 */
export function recordFirstTools(
  catalog: Catalog,
  toolsets: Toolsets,
  { log }: { readonly log: Log },
): () => void {
  const record = (): void => {
    for (const { name } of toolsets.all.filter((toolset) => withFirst(toolset, catalog) !== toolset)) {
      const changing: Changing<undefined> = (toolset) =>
        ok({ toolset: withFirst(toolset, catalog), value: undefined });
      void toolsets.change(name, changing, 'assay').then((done) => {
        if (!done.ok && done.error.code !== 'TOOLSET_UNKNOWN')
          log.warn('the first tools of a server could not be recorded', {
            toolset: name,
            cause: formatRefusal(done.error),
          });
      });
    }
  };
  const stops = [catalog.all.onChange(record), toolsets.onChange(record)];
  return () => {
    for (const stop of stops) stop();
  };
}

function withFirst(toolset: Toolset, { servers }: Catalog): Toolset {
  const tools = toolset.tools.map((tool) => {
    if (!isWhole(tool) || tool.known !== undefined) return tool;
    const names = findToolNames(servers, getWholeServerName(tool));
    return names === undefined ? tool : addKnownTools(tool, names);
  });
  return tools.every((tool, at) => tool === toolset.tools[at]) ? toolset : { ...toolset, tools };
}

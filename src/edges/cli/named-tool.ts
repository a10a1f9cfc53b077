import { nearest } from '../../core/nearest.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ToolView } from '../../gateway/hints/tool-view.ts';
import type { OpenDesks } from './runtime.ts';

const MOST_TOOLS = 100_000;

/** All tools of all servers, which are started for it and compared with what was accepted of them. */
export async function allTools({ tools, startAll }: OpenDesks): Promise<readonly ToolView[]> {
  await startAll();
  return (await tools.page({}, { limit: MOST_TOOLS })).tools;
}

/** By its public name, its namespaced name or its id. REF_UNKNOWN names the nearest one. */
export function namedTool(tools: readonly ToolView[], name: string): Result<ToolView, Refusal> {
  const found = tools.find((tool) => [tool.name, tool.namespacedName, tool.id].includes(name));
  if (found !== undefined) return ok(found);
  const near = nearest(
    name,
    tools.flatMap((tool) => [tool.name, tool.namespacedName]),
  );
  return err({ code: 'REF_UNKNOWN', ref: name, ...(near !== undefined && { nearest: near }) });
}

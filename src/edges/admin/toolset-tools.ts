import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { ToolRef } from '../../core/tool-ref.ts';
import type { ToolsetTool } from '../../core/toolset.ts';
import type { Catalog } from '../../gateway/catalog.ts';
import { indexFor } from '../../gateway/own-tools/desk.ts';
import { toolOf } from '../../gateway/toolsets/holding.ts';

/** What toolsets keep of the tools that refs name, once the lists of servers are known. */
export async function toolsNamed(
  catalog: Catalog,
  refs: readonly ToolRef[],
): Promise<readonly Result<ToolsetTool, Refusal>[]> {
  if (refs.length === 0) return [];
  const index = await indexFor({ catalog }, refs);
  return refs.map((ref) => toolOf(index, ref));
}

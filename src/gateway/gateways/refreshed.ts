import { digestOf } from '../definition-facts.ts';
import type { Server } from '../server.ts';

/** Which tools a refresh found otherwise, by the names that their server gives them. */
export interface ToolChanges {
  readonly toolsAdded: readonly string[];
  readonly toolsUpdated: readonly string[];
  readonly toolsRemoved: readonly string[];
}

/** What became of a refresh. */
export interface Refreshed extends ToolChanges {
  readonly gatewayId: string;
  readonly success: true;
  readonly durationMs: number;
  readonly refreshedAt: string;
}

/** Digests of the definitions of a server's tools, by what it calls them. */
export function digestsOf({ inventory }: Server): ReadonlyMap<string, string> {
  return new Map(
    inventory.tools.flatMap((tool) => (tool.key === undefined ? [] : [[tool.key, digestOf(tool)] as const])),
  );
}

export function changesOf(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ToolChanges {
  const kept = [...after.keys()].filter((name) => before.has(name));
  return {
    toolsAdded: [...after.keys()].filter((name) => !before.has(name)),
    toolsUpdated: kept.filter((name) => before.get(name) !== after.get(name)),
    toolsRemoved: [...before.keys()].filter((name) => !after.has(name)),
  };
}

import { findTrustedValue } from './rule.ts';
import type { PolicyTool } from './policy.ts';

/** Whether calls of a tool change nothing, by a claim that may lower caution. */
export function isKnownReadOnly({ hints }: Pick<PolicyTool, 'hints'>): boolean {
  return findTrustedValue(hints.readOnlyHint) === true;
}

/**
 * How long in ms results of a tool may be reused; 0 for never. By default only tools that are read-only, idempotent and
 * closed-world by claims that may lower caution are cached; an operator may enable it for any read-only tool.
 */
export function computeCacheMs(tool: Pick<PolicyTool, 'hints' | 'cacheMs'>, defaultMs: number): number {
  const { hints, cacheMs } = tool;
  if (!isKnownReadOnly(tool) || cacheMs === 'suspended') return 0;
  if (cacheMs !== undefined) return cacheMs;
  const isClosed = findTrustedValue(hints.openWorldHint) === false;
  return isClosed && findTrustedValue(hints.idempotentHint) === true ? defaultMs : 0;
}

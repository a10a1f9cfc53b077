import { matchesGlob } from './tool-filter.ts';

/** Maximum sizes in bytes of results, by pattern of the tool's name. The first pattern that matches counts. */
export type ResultLimits = Readonly<Record<string, number>>;

/** A tenth of it is left for the notice and the link. */
export const MIN_RESULT_LIMIT = 10_000;
export const MAX_RESULT_LIMIT: number = 64 * 1024 * 1024;

/** Undefined: results of the tool are passed whole. */
export function findResultLimit(limits: ResultLimits | undefined, tool: string): number | undefined {
  if (limits === undefined) return undefined;
  return Object.entries(limits).find(([pattern]) => matchesGlob(pattern, tool))?.[1];
}

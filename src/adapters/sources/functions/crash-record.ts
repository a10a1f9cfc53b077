/** How often a module's process ended of itself lately. */
export interface CrashRecord {
  readonly atMs: readonly number[];
  /** Why the first of them did. */
  readonly firstCause: string;
  /** How long it rested last; 0: not at all. */
  readonly restMs: number;
  readonly untilMs: number;
}

export const NO_CRASHES: CrashRecord = { atMs: [], firstCause: '', restMs: 0, untilMs: -Infinity };

/** So many within so long are a loop. */
const MANY = 3;
const SPAN_MS = 10_000;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;

/** After so many ms without another crash the next one is the first again. */
const CALM_MS = 2 * LONGEST_REST_MS;

export function withCrash(before: CrashRecord, cause: string, nowMs: number): CrashRecord {
  const last = Math.max(before.untilMs, before.atMs.at(-1) ?? -Infinity);
  const isLoop = before.restMs > 0 && nowMs - last < CALM_MS;
  const recent = before.atMs.filter((atMs) => nowMs - atMs < SPAN_MS);
  const isFirst = !isLoop && recent.length === 0;
  const atMs = [...recent, nowMs];
  const firstCause = isFirst ? cause : before.firstCause;
  if (!isLoop && atMs.length < MANY) return { atMs, firstCause, restMs: 0, untilMs: -Infinity };
  const restMs = isLoop ? Math.min(before.restMs * 2, LONGEST_REST_MS) : FIRST_REST_MS;
  return { atMs, firstCause, restMs, untilMs: nowMs + restMs };
}

/** Why it is not started now; undefined: it may be. */
export function restingCause(record: CrashRecord, nowMs: number): string | undefined {
  if (nowMs >= record.untilMs) return undefined;
  const seconds = Math.ceil((record.untilMs - nowMs) / 1000);
  return `its process keeps ending and is started again in ${seconds} s at the earliest; the first time it ${record.firstCause}`;
}

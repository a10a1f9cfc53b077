/** Log levels, least severe first (RFC 5424, section 6.2.1). */
export const LOG_LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** Whether a message should be sent at the minimum level `minLevel`. Unknown levels are always sent. */
export function isSevereEnough(level: string | undefined, minLevel: string): boolean {
  const severity = LOG_LEVELS.indexOf(level ?? '');
  return severity < 0 || severity >= LOG_LEVELS.indexOf(minLevel);
}

/**
 * The level for clients that never set one. "The server MAY decide" then which messages it sends (2025-11-25, schema,
 * SetLevelRequest); Assay uses it for upstream servers that need a level.
 */
export const DEFAULT_LEVEL = 'info';

/** The less severe of two levels: with it, both receivers get all they asked for. */
export function chooseWiderLevel(one: string, other: string): string {
  return isSevereEnough(one, other) ? other : one;
}

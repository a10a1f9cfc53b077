/** Levels of log messages, the least severe first (RFC 5424, section 6.2.1). */
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

/** Whether a message of a level is to be sent to who wants `least` and above. An unknown level is always sent. */
export function isSevereEnough(level: string | undefined, least: string): boolean {
  const severity = LOG_LEVELS.indexOf(level ?? '');
  return severity < 0 || severity >= LOG_LEVELS.indexOf(least);
}

/**
 * What a client wants that never set a level. "The server MAY decide" then which messages it sends (2025-11-25, schema,
 * SetLevelRequest), and Assay decides for servers that must be told.
 */
export const UNSAID_LEVEL = 'info';

/** The less severe one of two levels, so that who asks for it gets what either wants. */
export function widerLevel(one: string, other: string): string {
  return isSevereEnough(one, other) ? other : one;
}

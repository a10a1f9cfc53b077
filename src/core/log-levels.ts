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

/** A call without a result, which its server may have executed all the same. */
export interface SentCall {
  readonly effect: 'unknown';
  /** Number of times it was sent. */
  readonly times: number;
  /** Whether the tool is read-only or idempotent, so that the call can be repeated. */
  readonly mayRepeat: boolean;
}

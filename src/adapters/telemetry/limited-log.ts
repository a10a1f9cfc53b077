import type { Log } from '../../gateway/ports/link.ts';

export interface LogLimit {
  /** Lines of log that one server may cause in a second, on average. */
  readonly linesPerSecond: number;
  readonly nowMs: () => number;
  /** Calls once, after so many ms; the call may not keep the process alive. */
  readonly later: (work: () => void, afterMs: number) => void;
}

interface Bucket {
  lines: number;
  filledMs: number;
  leftOut: number;
}

const BURST_SECONDS = 10;
/** A longer line counts as several. */
const BYTES_PER_LINE = 1_024;
const TELL_AFTER_MS = 1_000;

/**
 * A log for what servers cause: each, told by the field `server`, has its share of lines. What is beyond is left out and
 * counted, so that no server can fill a disk, or hide what others say.
 */
export function limitedLog(log: Log, { linesPerSecond, nowMs, later }: LogLimit): Log {
  const most = linesPerSecond * BURST_SECONDS;
  const buckets = new Map<string, Bucket>();
  const bucketOf = (key: string): Bucket => {
    const now = nowMs();
    const bucket = buckets.get(key) ?? { lines: most, filledMs: now, leftOut: 0 };
    const passedMs = Math.max(0, now - bucket.filledMs);
    bucket.lines = Math.min(most, bucket.lines + (passedMs * linesPerSecond) / 1_000);
    bucket.filledMs = now;
    buckets.set(key, bucket);
    return bucket;
  };
  const tell = (bucket: Bucket, server: string): void => {
    if (bucket.leftOut > 0)
      log.warn('lines of a server were left out of the log: it writes too many', {
        server,
        lines: bucket.leftOut,
        mostPerSecond: linesPerSecond,
      });
    bucket.leftOut = 0;
  };
  const say =
    (level: keyof Log): Log[typeof level] =>
    (message, fields = {}) => {
      const { server, text } = fields;
      if (typeof server !== 'string') return log[level](message, fields);
      // Lines of a level that nobody reads take nothing from those that somebody does.
      const bucket = bucketOf(`${level} ${server}`);
      const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0;
      const cost = Math.min(most, 1 + Math.floor(bytes / BYTES_PER_LINE));
      if (bucket.lines >= cost) {
        bucket.lines -= cost;
        log[level](message, fields);
        return;
      }
      bucket.leftOut += 1;
      if (bucket.leftOut === 1) later(() => tell(bucket, server), TELL_AFTER_MS);
    };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

import { TokenBucket } from '@assay-mcp/kit/token-bucket';
import type { Log } from '../../gateway/ports/log.ts';

export interface LogLimit {
  /** Average number of log lines per second that one server may cause. */
  readonly linesPerSecond: number;
  readonly nowMs: () => number;
  /** Schedules `work` once; must not keep the process alive. */
  readonly later: (work: () => void, afterMs: number) => void;
}

interface Bucket {
  readonly lines: TokenBucket;
  leftOut: number;
}

const BURST_SECONDS = 10;
/** Longer lines count as several. */
const BYTES_PER_LINE = 1_024;
const REPORT_AFTER_MS = 1_000;

/**
 * Rate-limits log lines per server (the field `server`). Lines beyond the limit are dropped and counted, so that no
 * server can fill a disk or crowd out other servers' lines.
 */
export function limitLog(log: Log, { linesPerSecond, nowMs, later }: LogLimit): Log {
  const capacity = linesPerSecond * BURST_SECONDS;
  const buckets = new Map<string, Bucket>();
  const bucketOf = (key: string): Bucket => {
    const known = buckets.get(key);
    if (known !== undefined) return known;
    const lines = new TokenBucket({ perSecond: linesPerSecond, capacity, nowMs: nowMs() });
    const bucket = { lines, leftOut: 0 };
    buckets.set(key, bucket);
    return bucket;
  };
  // At the level of the dropped lines, so it is hidden if they are.
  const report = (bucket: Bucket, level: keyof Log, server: string): void => {
    if (bucket.leftOut > 0)
      log[level]('lines of a server were dropped from the log: it writes too many', {
        server,
        lines: bucket.leftOut,
        maxPerSecond: linesPerSecond,
      });
    bucket.leftOut = 0;
  };
  const say =
    (level: keyof Log): Log[typeof level] =>
    (message, fields = {}) => {
      const { server, text } = fields;
      if (typeof server !== 'string') return log[level](message, fields);
      // Levels have separate budgets: lines of a disabled level must not use up those of an enabled one.
      const bucket = bucketOf(`${level} ${server}`);
      const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0;
      const cost = Math.min(capacity, 1 + Math.floor(bytes / BYTES_PER_LINE));
      if (bucket.lines.take(nowMs(), cost)) {
        log[level](message, fields);
        return;
      }
      bucket.leftOut += 1;
      if (bucket.leftOut === 1) later(() => report(bucket, level, server), REPORT_AFTER_MS);
    };
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}

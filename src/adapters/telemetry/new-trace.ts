import { HexPool } from '../../platform/hex-pool.ts';
import type { TraceContext } from '../../protocol/trace-context.ts';

/**
 * Begins traces that nobody records here (https://www.w3.org/TR/trace-context/#traceparent-header, version 00, not sampled),
 * so that what servers record of one request can be found together.
 */
export function traceStarter(): () => TraceContext {
  const pool = new HexPool();
  return () => ({ traceparent: `00-${pool.take(32)}-${pool.take(16)}-00` });
}

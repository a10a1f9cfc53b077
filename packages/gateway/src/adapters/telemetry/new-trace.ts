import { HexPool } from '@assay-mcp/kit/platform/hex-pool';
import type { TraceContext } from '@assay-mcp/protocol/trace-context';

/**
 * Starts unsampled traces (https://www.w3.org/TR/trace-context/#traceparent-header, version 00), so that the records
 * that different servers keep of one request can be correlated.
 */
export function createTraceStarter(): () => TraceContext {
  const pool = new HexPool();
  return () => ({ traceparent: `00-${pool.take(32)}-${pool.take(16)}-00` });
}

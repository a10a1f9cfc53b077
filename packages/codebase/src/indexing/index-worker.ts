import { answerCalls } from '@assay-mcp/kit/platform/thread';
import { ChunkPool } from '../chunks/chunk-pool.ts';
import {
  executeRun,
  executeUpdate,
  type IndexWorkerOptions,
  type RunRequest,
  type UpdateRequest,
} from './execute-run.ts';

answerCalls((workerData, side) => {
  const given = workerData as IndexWorkerOptions; // Given by `Indexer`.
  let pool: ChunkPool | undefined;
  const closePool = async (): Promise<void> => {
    const closing = pool;
    pool = undefined;
    await closing?.close();
  };
  return async (method, args) => {
    if (method === 'close') return closePool();
    // Threads that parse are started by their first file, not by a look that finds no change.
    const openPool = (): ChunkPool => (pool ??= new ChunkPool(given));
    const tools = { openPool, given, side };
    try {
      // Only `Indexer` calls these.
      if (method === 'update') return await executeUpdate(args[0] as UpdateRequest, tools);
      return await executeRun(args[0] as RunRequest, tools);
    } catch (error) {
      // A pool whose threads did not start stays closed.
      await closePool();
      throw error;
    }
  };
});

import { parentPort, workerData } from 'node:worker_threads';
import { chunkFile } from './chunk-source.ts';
import type { ChunkAnswer, ChunkJob, WorkerGiven } from './chunk-messages.ts';
import { useModules } from './parsers.ts';

/** A thread of a `ChunkPool`: answers its jobs one by one. An exception ends it, and the pool starts another one. */
const port = parentPort;
if (port === null) throw new Error('This script runs in a thread only.');
const { maxFileBytes, modules, current } = workerData as WorkerGiven;
useModules(modules);

let turn = Promise.resolve();
port.on('message', (job: ChunkJob) => {
  turn = turn.then(async () => {
    Atomics.store(current, 0, job.id);
    const answer: ChunkAnswer = { id: job.id, outcome: await chunkFile(job, maxFileBytes) };
    Atomics.store(current, 0, 0);
    port.postMessage(answer);
  });
});

import { answerCalls } from '@assay-mcp/kit/platform/thread';
import { openVerifier, type VerifyRequest } from './verifier.ts';

// Runs a verification in its own thread, since reading traces and comparing files would delay clients' calls.
answerCalls((given, side) => {
  const stopping = new AbortController();
  // Cancellation uses shared memory, since the thread handles no further message until its call is done.
  const cancelled = Atomics.waitAsync(new Int32Array(given as SharedArrayBuffer), 0, 0);
  void Promise.resolve(cancelled.value).then(() => stopping.abort());
  return (_, [request]) =>
    openVerifier().verify({
      ...(request as Omit<VerifyRequest, 'signal' | 'onProgress'>),
      signal: stopping.signal,
      onProgress: (progress) => side.send(progress),
    });
});

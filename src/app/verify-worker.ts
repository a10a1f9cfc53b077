import { sandboxes } from '../adapters/sandbox/open-sandbox.ts';
import { answerCalls } from '../platform/thread.ts';
import { openVerifier, type VerifyRequest } from '../verify/program.ts';

// A verification in a thread of its own: reading traces and comparing files would hold up the calls of clients.
answerCalls((given, side) => {
  const stopping = new AbortController();
  // By shared memory, since the thread answers its call only at the end.
  const cancelled = Atomics.waitAsync(new Int32Array(given as SharedArrayBuffer), 0, 0);
  void Promise.resolve(cancelled.value).then(() => stopping.abort());
  return (_, [request]) =>
    openVerifier(sandboxes()).verify({
      ...(request as Omit<VerifyRequest, 'signal' | 'onProgress'>),
      signal: stopping.signal,
      onProgress: (progress) => side.say(progress),
    });
});

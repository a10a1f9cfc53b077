import { createOpenSandbox } from '../sandbox/open-sandbox.ts';
import { startConfined } from '../sandbox/start-confined.ts';
import { answerCalls } from '../platform/thread.ts';
import type { VerifyRequest } from '../core/verification/verifier.ts';
import { openVerifier } from '../verify/program.ts';

// Runs a verification in its own thread, since reading traces and comparing files would delay clients' calls.
answerCalls((given, side) => {
  const stopping = new AbortController();
  // Cancellation uses shared memory, since the thread handles no further message until its call is done.
  const cancelled = Atomics.waitAsync(new Int32Array(given as SharedArrayBuffer), 0, 0);
  void Promise.resolve(cancelled.value).then(() => stopping.abort());
  return (_, [request]) =>
    openVerifier({ openSandbox: createOpenSandbox(), startConfined }).verify({
      ...(request as Omit<VerifyRequest, 'signal' | 'onProgress'>),
      signal: stopping.signal,
      onProgress: (progress) => side.send(progress),
    });
});

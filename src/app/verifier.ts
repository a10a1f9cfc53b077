import { join } from 'node:path';
import type * as Verifier from '../verify/program.ts';
import type { VerifierProgram, VerifyProgress } from '../core/verification/verifier.ts';
import type { VerifyServer } from '../gateway/ports/verifier.ts';
import { isThere } from '../platform/files.ts';
import { Thread } from '../platform/thread.ts';

/** A separate program, which the build places next to this one, so that its imports are loaded only when it runs. */
export async function openVerifier(): Promise<VerifierProgram> {
  const url = new URL('./verify-program.js', import.meta.url);
  const program = (await import(url.href)) as typeof Verifier;
  const { createOpenSandbox } = await import('../sandbox/open-sandbox.ts');
  const { startConfined } = await import('../sandbox/start-confined.ts');
  return program.openVerifier({ openSandbox: createOpenSandbox(), startConfined });
}

const FIXTURES = 'assay-verify.json';
const YOUNG_MIB = 32;
const LIMITS = { timeMs: 600_000, callMs: 10_000, sets: 3, repeats: 5 };

/** Verifies a server of the gateway in its own thread. */
export const verifyServer: VerifyServer = async (target, { signal, onProgress, recorded }) => {
  const fixtures = join(target.cwd, FIXTURES);
  const request = {
    ...{ ...target, recorded, limits: LIMITS },
    ownEnv: { ...process.env },
    fixtures: isThere(fixtures) ? fixtures : undefined,
    baseline: undefined,
    tools: [],
  };
  const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const thread = new Thread({
    script: new URL('./verify-worker.js', import.meta.url),
    given: cancelled,
    youngMiB: YOUNG_MIB,
    onMessage: (message) => onProgress(message as VerifyProgress), // the thread is ours
    onLost: () => undefined,
  });
  const cancel = (): void => {
    const flag = new Int32Array(cancelled);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) cancel();
    const outcome = await thread.call('verify', [request]);
    if (outcome.kind === 'lost') throw new Error(outcome.cause);
    return outcome.value as Awaited<ReturnType<VerifyServer>>;
  } finally {
    signal.removeEventListener('abort', cancel);
    await thread.end();
  }
};

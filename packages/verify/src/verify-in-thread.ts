import { join } from 'node:path';
import type { VerifierProgram, VerifyProgress } from '@assay-mcp/kit/verification/verifier';
import { isThere } from '@assay-mcp/kit/platform/files';
import { Thread } from '@assay-mcp/kit/platform/thread';
import { FIXTURES_FILE } from './fixtures.ts';

const YOUNG_MIB = 32;
const LIMITS = { timeMs: 600_000, callMs: 10_000, sets: 3, repeats: 5 };

export const verifyInThread: VerifierProgram['verifyInThread'] = async (target, run) => {
  const { signal, onProgress, recorded } = run;
  const fixtures = join(target.cwd, FIXTURES_FILE);
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
    return outcome.value as Awaited<ReturnType<typeof verifyInThread>>;
  } finally {
    signal.removeEventListener('abort', cancel);
    await thread.end();
  }
};

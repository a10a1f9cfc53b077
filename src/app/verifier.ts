import { join } from 'node:path';
import type * as Verifier from '../verify/program.ts';
import type { VerifierProgram, VerifyServer } from '../gateway/ports/verifier.ts';
import { isThere } from '../platform/files.ts';

/** A program of its own, which the build places next to this one: what it imports is loaded for it alone. */
export async function openVerifier(): Promise<VerifierProgram> {
  const url = new URL('./verify-program.js', import.meta.url);
  const program = (await import(url.href)) as typeof Verifier;
  const { sandboxes } = await import('../adapters/sandbox/open-sandbox.ts');
  return program.openVerifier(sandboxes());
}

const FIXTURES = 'assay-verify.json';
const LIMITS = { timeMs: 600_000, callMs: 10_000, sets: 3, repeats: 5 };

/** Verifies a server of the gateway in this process. */
export const verifyServer: VerifyServer = async (target, run) => {
  const fixtures = join(target.cwd, FIXTURES);
  const program = await openVerifier();
  return program.verify({
    ...target,
    ...run,
    ownEnv: process.env,
    fixtures: (await isThere(fixtures)) ? fixtures : undefined,
    baseline: undefined,
    tools: [],
    limits: LIMITS,
  });
};

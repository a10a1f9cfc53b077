import type { Result } from '../../core/result.ts';
import type { VerifyReport } from '../../core/verification/report.ts';
import type { VerifierProgram, VerifyRequest, VerifyTarget } from '../../core/verification/verifier.ts';
import type { VerifyFault } from '../../core/verification/verify-fault.ts';

/** Loads the verifier of hints, which is a separate program. */
export type OpenVerifier = () => Promise<VerifierProgram>;

/** Verifies a server with its own fixtures file, if there is one, and the default limits. */
export type VerifyServer = (
  target: VerifyTarget,
  run: Pick<VerifyRequest, 'signal' | 'onProgress' | 'recorded'>,
) => Promise<Result<VerifyReport, VerifyFault>>;

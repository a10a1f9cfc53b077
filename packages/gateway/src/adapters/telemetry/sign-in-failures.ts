import { SIGN_IN_CAUSES } from '../../core/causes/sign-in-causes.ts';
import type { Cause, CauseCode } from '../../core/cause.ts';
import type { Meter } from '../../gateway/ports/telemetry.ts';

/** Counts a cause of a failed or lost connection, if it is that Assay is not signed in to the server. */
export function countSignInFailure(
  meter: Pick<Meter, 'notSignedIn'> | undefined,
  server: string,
  cause: Cause,
): void {
  const code = meter && findSignInCode(cause);
  if (code !== undefined) meter?.notSignedIn(server, code);
}

/** The code of the innermost cause, as that one says what failed. */
function findSignInCode(cause: Cause): CauseCode | undefined {
  if (cause.code === 'SIGN_IN_NEEDED') return (cause.cause && findSignInCode(cause.cause)) ?? cause.code;
  if (cause.code === 'LIST_UNANSWERED') return findSignInCode(cause.cause);
  return Object.hasOwn(SIGN_IN_CAUSES, cause.code) ? cause.code : undefined;
}

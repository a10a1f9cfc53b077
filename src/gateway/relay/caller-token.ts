import type { Refusal } from '../../core/refusal.ts';
import type { Call } from './call.ts';

/**
 * Why a call may no longer be sent: its token was revoked or has expired since the request was admitted. Checked right
 * before each send, so that no wait (approval, queue, cache, start of a server, retry) can be missed.
 */
export function findTokenRefusal({ identity, deps }: Call): Refusal | undefined {
  const { gate } = deps.tokens;
  return gate === undefined || gate.isHolder(identity, undefined, Date.now()) ? undefined : ENDED;
}

/** The same after waiting for a person, when one read of the store more does not matter. */
export async function findTokenRefusalNow(call: Call): Promise<Refusal | undefined> {
  await call.deps.tokens.gate?.refresh();
  return findTokenRefusal(call);
}

const ENDED: Refusal = {
  code: 'TOKEN_REQUIRED',
  reason: 'it was revoked or has expired while its call waited, and the call was not sent',
};

import type { BearerChallenge } from '@assay-mcp/protocol/challenge';

/** The part of a challenge that leads to a sign-in. */
export interface RememberedChallenge {
  readonly resourceMetadata: string | undefined;
  readonly scope: string | undefined;
}

/** The issuer in the key of a stored challenge: no sign-in has an empty one. */
export const NO_ISSUER = '';

const MAX_URL = 2_048;
const MAX_SCOPE = 1_024;

/** Undefined if it says nothing, or more than is stored. */
export function toRemembered(
  challenge: Pick<BearerChallenge, 'resourceMetadata' | 'scope'>,
): RememberedChallenge | undefined {
  const { resourceMetadata, scope } = challenge;
  const isWeb = resourceMetadata?.protocol === 'https:' || resourceMetadata?.protocol === 'http:';
  const url = isWeb && resourceMetadata.href.length <= MAX_URL ? resourceMetadata.href : undefined;
  const asked = scope !== undefined && scope.length <= MAX_SCOPE ? scope : undefined;
  return url === undefined && asked === undefined ? undefined : { resourceMetadata: url, scope: asked };
}

export function toChallenge({ resourceMetadata, scope }: RememberedChallenge): BearerChallenge {
  return { error: undefined, scope, resourceMetadata: URL.parse(resourceMetadata ?? '') ?? undefined };
}

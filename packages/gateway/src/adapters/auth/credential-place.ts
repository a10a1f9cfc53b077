import type { AuthSpec } from '../../core/server-spec.ts';
import type { AuthPlace, CredentialContent } from './credential-content.ts';

const PLACE_KEYS = [
  'issuer',
  'authorizationServer',
  'metadataUrl',
  'authorizationEndpoint',
  'tokenEndpoint',
] as const satisfies readonly (keyof AuthPlace)[];

export function pickPlace(auth: AuthSpec): AuthPlace {
  return Object.fromEntries(
    PLACE_KEYS.filter((key) => auth[key] !== undefined).map((key) => [key, auth[key]]),
  );
}

/** Issuers and their metadata often differ in one slash at the end, and in nothing else. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

/**
 * Whether a sign-in was made where the entry sends a user now. Otherwise its tokens must be neither used nor renewed. A
 * text that the entry had not at the time is accepted if it names the place that was found by discovery.
 */
export function isObtainedWhere(
  { issuer, content }: { readonly issuer: string; readonly content: CredentialContent | undefined },
  auth: AuthSpec,
): boolean {
  const { place = {}, server } = content ?? {};
  const isUnread = content === undefined;
  return PLACE_KEYS.every((key) => {
    const wanted = auth[key];
    if (wanted === undefined) return place[key] === undefined;
    const then = { ...getDiscoveredPlace(issuer, server), ...place }[key];
    return then === undefined ? isUnread : isSameText(key, then, wanted);
  });
}

/** Not where the metadata was read: only the entry says that. */
function getDiscoveredPlace(issuer: string, server: CredentialContent['server'] | undefined): AuthPlace {
  const { url, metadata } = server ?? {};
  return {
    issuer,
    ...(url !== undefined && { authorizationServer: url }),
    ...(metadata !== undefined && {
      authorizationEndpoint: metadata.authorization_endpoint,
      tokenEndpoint: metadata.token_endpoint,
    }),
  };
}

function isSameText(key: (typeof PLACE_KEYS)[number], one: string, other: string): boolean {
  return key === 'issuer' || key === 'authorizationServer' ? isSameIssuer(one, other) : one === other;
}

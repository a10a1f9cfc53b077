import type { JWTVerifyGetKey } from 'jose';
import type { ReachRules } from '../../core/reach-rules.ts';
import { Unfetched, type CarefulFetch } from '@assay-mcp/kit/platform/careful-fetch';
import { openFetchFor } from './authorization-server.ts';

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Empty: discovered through the issuer's metadata. */
  readonly jwksUri: string;
  readonly rules: ReachRules;
}

/** The keys could not be fetched; the token may be valid. The message is a phrase that follows "the issuer". */
export class KeysUnavailable extends Error {}

/** Delay in ms before another fetch after a failure. */
export const RETRY_MS = 5_000;

/** Minimum interval in ms between fetches for an unknown key. */
const COOLDOWN_MS = 5_000;
/** Keys are fetched again after this many ms, so that a withdrawn one stops working. */
const LIFE_MS = 300_000;
const LIMIT_MS = 5_000;

/** The keys of an issuer, fetched on first use. Rejects with KeysUnavailable, or with errors of jose. */
export async function openIssuerKeys(options: IssuerKeysOptions): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await import('jose');
  return createRemoteJWKSet(new URL(options.jwksUri === '' ? options.issuer : options.jwksUri), {
    timeoutDuration: LIMIT_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: LIFE_MS,
    [customFetch]: restingFetch(options),
  });
}

/** jose serializes attempts; this adds the delay after a failure. */
function restingFetch(options: IssuerKeysOptions): () => Promise<Response> {
  let failure: { readonly error: KeysUnavailable; readonly untilMs: number } | undefined;
  return async () => {
    if (failure !== undefined && performance.now() < failure.untilMs) throw failure.error;
    try {
      const signal = AbortSignal.timeout(LIMIT_MS);
      const keys = await Promise.race([fetchKeys(options, signal), outOf(signal)]);
      failure = undefined;
      return keys;
    } catch (cause) {
      const error =
        cause instanceof KeysUnavailable ? cause : new KeysUnavailable(phraseOf(cause), { cause });
      failure = { error, untilMs: performance.now() + RETRY_MS };
      throw error;
    }
  };
}

function phraseOf(error: unknown): string {
  return error instanceof Unfetched ? error.message : 'returned something that is not a key set';
}

/** Needed because a DNS lookup cannot be aborted. */
function outOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const gone = (): void => reject(new KeysUnavailable('did not answer in time'));
    signal.addEventListener('abort', gone, { once: true });
  });
}

/** Follows no redirects, reaches only addresses permitted to the issuer, and has one time limit for all requests. */
async function fetchKeys(
  { issuer, jwksUri, rules }: IssuerKeysOptions,
  signal: AbortSignal,
): Promise<Response> {
  const url = new URL(jwksUri === '' ? issuer : jwksUri);
  const fetching = await openFetchFor({ url, chooser: 'config' }, rules, signal);
  try {
    const keysUrl = jwksUri === '' ? await findJwksUri(issuer, fetching) : jwksUri;
    const answer = await fetching.fetch(keysUrl, { headers: { accept: 'application/json' } });
    const found = answer.status === 200 ? memberOf(await jsonOf(answer), 'keys') : undefined;
    if (!Array.isArray(found))
      throw new KeysUnavailable(`has no keys at its jwks_uri (HTTP ${answer.status})`);
    return Response.json({ keys: found });
  } finally {
    await fetching.close();
  }
}

/** RFC 8414, section 3, and OpenID Connect Discovery 1.0, section 4. The issuer must match (section 3.3). */
async function findJwksUri(issuer: string, fetching: CarefulFetch): Promise<string> {
  for (const url of metadataUrls(issuer)) {
    const answer = await fetching.fetch(url, { headers: { accept: 'application/json' } });
    const document = answer.status === 200 ? await jsonOf(answer) : undefined;
    const jwksUri = memberOf(document, 'jwks_uri');
    if (document === undefined || typeof jwksUri !== 'string') continue;
    if (memberOf(document, 'issuer') !== issuer)
      throw new KeysUnavailable(
        `calls itself otherwise in its metadata: ${printed(memberOf(document, 'issuer'))}`,
      );
    if (!URL.canParse(jwksUri))
      throw new KeysUnavailable(`names a jwks_uri that is none: ${printed(jwksUri)}`);
    return jwksUri;
  }
  throw new KeysUnavailable('has no metadata with a jwks_uri; set auth.jwksUri');
}

function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(places)];
}

async function jsonOf(answer: Response): Promise<unknown> {
  try {
    return await answer.json();
  } catch {
    return undefined;
  }
}

function memberOf(document: unknown, name: string): unknown {
  return typeof document === 'object' && document !== null
    ? Object.entries(document).find(([key]) => key === name)?.[1]
    : undefined;
}

function printed(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200);
}

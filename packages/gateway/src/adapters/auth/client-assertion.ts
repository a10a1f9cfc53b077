import { randomUUID, sign, type KeyObject } from 'node:crypto';
import { readTextWithin } from '@assay-mcp/kit/platform/bounded-file';
import { readPrivateKey } from '@assay-mcp/kit/platform/secure-context';
import type { AssertionAlgorithm, AuthSpec } from '../../core/server-spec.ts';
import { SignInFault } from './sign-in-answer.ts';

const MAX_KEY_BYTES = 64 * 1024;
/** How long an assertion is valid; it is used at once. */
const LIFETIME_SECONDS = 60;
const MIN_RSA_BITS = 2_048;

interface Signing {
  readonly algorithm: AssertionAlgorithm;
  readonly fits: (key: KeyObject) => boolean;
  readonly sign: (data: Buffer, key: KeyObject) => Buffer;
}

const isRsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa';
const isOnCurve =
  (curve: string) =>
  (key: KeyObject): boolean =>
    key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve;
/** JWS has the two numbers of a signature one after the other (RFC 7518, section 3.4). */
const signCurve =
  (digest: string) =>
  (data: Buffer, key: KeyObject): Buffer =>
    sign(digest, data, { key, dsaEncoding: 'ieee-p1363' });

/** The first that fits a key is its default. */
const SIGNINGS: readonly Signing[] = [
  { algorithm: 'RS256', fits: isRsa, sign: (data, key) => sign('sha256', data, key) },
  { algorithm: 'ES256', fits: isOnCurve('prime256v1'), sign: signCurve('sha256') },
  { algorithm: 'ES384', fits: isOnCurve('secp384r1'), sign: signCurve('sha384') },
];

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * A JWT with which a client authenticates at an authorization server (RFC 7523, section 3). `audience` is the issuer: a
 * token endpoint is only a claim of the server's metadata. Throws SignInFault if the key cannot be used.
 */
export async function signClientAssertion(
  { privateKeyFile: path = '', algorithm, keyId, assertionAudience }: AuthSpec,
  { clientId, audience }: { readonly clientId: string; readonly audience: string },
  nowMs: number = Date.now(),
): Promise<string> {
  const key = await readKey(path);
  const signing = SIGNINGS.find((one) => one.fits(key) && one.algorithm === (algorithm ?? one.algorithm));
  if (signing === undefined)
    throw new SignInFault(
      algorithm === undefined
        ? `${describe(path)}: it fits none of ${SIGNINGS.map((one) => one.algorithm).join(', ')}`
        : `${describe(path)}: it does not fit "auth.algorithm", which is ${algorithm}`,
    );
  const iat = Math.floor(nowMs / 1_000);
  const header = { alg: signing.algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const claims = {
    ...{ iss: clientId, sub: clientId, aud: assertionAudience ?? audience },
    ...{ jti: randomUUID(), iat, exp: iat + LIFETIME_SECONDS },
  };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const text = signed.join('.');
  return `${text}.${signing.sign(Buffer.from(text), key).toString('base64url')}`;
}

async function readKey(path: string): Promise<KeyObject> {
  const text = await readTextWithin(path, MAX_KEY_BYTES);
  if (!text.ok) throw new SignInFault(`${describe(path)}: ${text.error}`);
  const key = readPrivateKey(text.value);
  if (!key.ok) throw new SignInFault(`${describe(path)}: ${key.error}`);
  if (isRsa(key.value) && (key.value.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw new SignInFault(`${describe(path)}: it has fewer than ${MIN_RSA_BITS} bits`);
  return key.value;
}

function describe(path: string): string {
  return `the key in ${JSON.stringify(path)} ("auth.privateKeyFile") cannot be used`;
}

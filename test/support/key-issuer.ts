import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { endLater } from './endings.ts';
import type { JsonObject } from './json.ts';

/** How a token differs from a valid one. A claim that is undefined is omitted. */
export interface Input {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the issuer never published. */
  readonly isForged?: boolean;
}

/** An issuer that signs whatever a test asks for, with real keys at a real address. */
export interface KeyIssuer {
  readonly url: string;
  /** Paths requested so far. */
  readonly requests: readonly string[];
  /** A token valid for an hour for this audience, except for the differences in `input`. */
  token(audience: unknown, input?: Input): Promise<string>;
  /** The public key as text, as an attacker would abuse it for an HMAC. */
  publicKey(): Promise<string>;
  /** Switches to another key and publishes only that one. */
  rotate(kid: string): Promise<void>;
  /** How it answers requests for keys and metadata. `elsewhere`: the origin that it redirects to. */
  behave(how: Behaviour, elsewhere?: string): void;
}

/** `lost`: never answers; `moved`: redirects to another origin. */
export type Behaviour = 'good' | 'down' | 'lost' | 'moved' | 'garbage' | 'foreign';

interface Key {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

async function keyOf(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    kid,
    privateKey,
    publicKey,
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' },
  };
}

export async function startKeyIssuer(): Promise<KeyIssuer> {
  let key = await keyOf('first');
  const forged = await keyOf('first');
  let behaviour: Behaviour = 'good';
  let movedTo = 'http://127.0.0.1:9';
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    answer(response, { path, url, behaviour, movedTo, jwk: key.jwk });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  endLater(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    url,
    requests,
    publicKey: () => exportSPKI(key.publicKey),
    token: (audience, { header = {}, claims = {}, isForged = false } = {}) => {
      const nowS = Math.floor(Date.now() / 1_000);
      const good = { iss: url, sub: 'ada', aud: audience, exp: nowS + 3_600, iat: nowS, scope: 'mcp' };
      return new SignJWT(JSON.parse(JSON.stringify({ ...good, ...claims })) as Record<string, unknown>)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header })
        .sign(isForged ? forged.privateKey : key.privateKey);
    },
    rotate: async (kid) => {
      key = await keyOf(kid);
    },
    behave: (how, elsewhere = movedTo) => {
      behaviour = how;
      movedTo = elsewhere;
    },
  };
}

/** Builds a token from header and claims as they are, with an arbitrary signature. */
export function unsigned(header: JsonObject, claims: JsonObject, signature: string): string {
  const part = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature}`;
}

interface Answering {
  readonly path: string;
  readonly url: string;
  readonly behaviour: Behaviour;
  readonly movedTo: string;
  readonly jwk: JWK;
}

function answer(response: ServerResponse, { path, url, behaviour, movedTo, jwk }: Answering): void {
  const json = (value: unknown): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  if (behaviour === 'lost') return;
  if (behaviour === 'down') response.writeHead(503).end();
  else if (behaviour === 'moved') response.writeHead(302, { location: movedTo + path }).end();
  else if (behaviour === 'garbage') response.writeHead(200).end('<html>');
  else if (path === '/keys') json({ keys: [jwk] });
  else if (path === '/.well-known/openid-configuration')
    json({ issuer: behaviour === 'foreign' ? 'https://evil.example' : url, jwks_uri: `${url}/keys` });
  else response.writeHead(404).end();
}

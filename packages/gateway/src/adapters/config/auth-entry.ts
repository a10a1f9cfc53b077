import {
  findAudienceFault,
  findAuthUrlFault,
  findIssuerFault,
  findParameterFault,
  findResourceFault,
} from '../../core/auth-settings.ts';
import { findClientDocumentFault } from '../../core/own-client.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { ASSERTION_ALGORITHMS, type AuthSpec } from '../../core/server-spec.ts';
import { readPathAt } from './tls-entry.ts';
import {
  described,
  flag,
  objectSchema,
  oneOf,
  optional,
  type Reader,
  text,
  withSchema,
} from '@assay-mcp/kit/json-reader';
import type { ConfigPosition } from './problem-collector.ts';
import { type Entry, readOptionAt, findPositionAt, expandTextAt, expandTextsAt } from './entry-fields.ts';
import { getTreeMembers } from './json-tree.ts';

const textMap: Reader<unknown> = withSchema(
  ({ value }) => value,
  () => ({ type: 'object', additionalProperties: { type: 'string' } }),
);

const textOrFalse: Reader<unknown> = withSchema(
  ({ value }) => value,
  () => ({ anyOf: [{ type: 'string' }, { const: false }] }),
);

/** A test compares the descriptions with docs/CONFIG.md. */
const AUTH_MEMBERS = {
  clientId: described(
    'as the issuer gave it, if Assay cannot register by itself; an https:// address is treated as that of a client metadata document',
    optional(text),
  ),
  clientSecret: described(
    'if the issuer gave one; needs clientId, and issuer, authorizationServer, metadataUrl or tokenEndpoint',
    optional(text),
  ),
  clientMetadataUrl: described(
    'https:// address of a client metadata document, which is the client id if the issuer supports that; without clientId only. false: none. Default: the document of this gateway, if auth.publicUrl is an https:// address',
    optional(textOrFalse),
  ),
  tokenAuthMethod: described(
    'tls_client_auth: Assay authenticates with the clientCertificate of the entry (RFC 8705) instead of a secret or key; needs the same as clientSecret',
    optional(oneOf(['tls_client_auth'])),
  ),
  grant: described(
    'authorization_code: a person signs in with a browser; client_credentials: Assay gets tokens by itself, for all clients. Then it needs clientId, and clientSecret, privateKeyFile or tokenAuthMethod',
    optional(oneOf(['authorization_code', 'client_credentials'])),
  ),
  privateKeyFile: described(
    'PEM file of an unencrypted key, with which Assay authenticates instead of a secret (private_key_jwt); needs the same as clientSecret',
    optional(text),
  ),
  algorithm: described(
    `of the assertions signed with that key: ${ASSERTION_ALGORITHMS.join(', ')}. Default: the first that fits it`,
    optional(oneOf(ASSERTION_ALGORITHMS)),
  ),
  keyId: described('the kid of these assertions', optional(text)),
  assertionAudience: described(
    'the aud of these assertions, instead of the issuer; some want their token endpoint',
    optional(text),
  ),
  issuer: described(
    'the only authorization server to sign in at, as in its issuer metadata; if the server names another one, nothing is sent there. Beside authorizationServer or metadataUrl: the text that the document found there must have',
    optional(text),
  ),
  authorizationServer: described(
    'the authorization server to sign in at, instead of those that the server names',
    optional(text),
  ),
  metadataUrl: described(
    'where the metadata of the authorization server is, if not at a well-known address',
    optional(text),
  ),
  authorizationEndpoint: described(
    'where the browser is sent; nothing is looked up then. Needs tokenEndpoint and clientId',
    optional(text),
  ),
  tokenEndpoint: described(
    'where tokens are issued and renewed; needs authorizationEndpoint',
    optional(text),
  ),
  resource: described(
    'the resource in all requests to the authorization server, instead of that in the metadata of the server; false: none, as Microsoft Entra ID requires',
    optional(textOrFalse),
  ),
  scope: described('scopes that replace those that the server names, separated by spaces', optional(text)),
  parameters: described(
    'object of strings, added to the address for the browser, such as audience, or access_type for Google',
    optional(textMap),
  ),
  redirectUri: described(
    'the address to which the browser returns, sent exactly as it is written; Assay listens there if it begins with http:// and is on this machine',
    optional(text),
  ),
  shared: described(
    'whether one sign-in, that of local, serves all clients; otherwise each signs in with --subject NAME, the name of its token. Default: true if no token is needed, else false',
    optional(flag),
  ),
};

/** A credential needs its client, and a place that the server does not choose. */
const BOUND: JsonObject = {
  required: ['clientId'],
  anyOf: [
    { required: ['issuer'] },
    { required: ['authorizationServer'] },
    { required: ['metadataUrl'] },
    { required: ['tokenEndpoint'] },
  ],
};

export const authMember: Reader<unknown> = described(
  `how to sign in, if discovery is not enough: ${Object.keys(AUTH_MEMBERS).join(', ')}`,
  withSchema(
    ({ value }) => value,
    () => ({
      ...objectSchema(AUTH_MEMBERS),
      additionalProperties: false,
      dependencies: {
        clientSecret: BOUND,
        privateKeyFile: { ...BOUND, not: { required: ['clientSecret'] } },
        tokenAuthMethod: {
          ...BOUND,
          not: { anyOf: [{ required: ['clientSecret'] }, { required: ['privateKeyFile'] }] },
        },
        algorithm: ['privateKeyFile'],
        keyId: ['privateKeyFile'],
        assertionAudience: ['privateKeyFile'],
        authorizationEndpoint: ['tokenEndpoint', 'clientId'],
        tokenEndpoint: ['authorizationEndpoint'],
      },
      anyOf: [
        { not: { properties: { grant: { const: 'client_credentials' } }, required: ['grant'] } },
        { required: ['clientSecret'] },
        { required: ['privateKeyFile'] },
        { required: ['tokenAuthMethod'] },
      ],
    }),
  ),
);

const KEYS: readonly string[] = Object.keys(AUTH_MEMBERS);

/** Reads "auth" of a server at a URL. Undefined if there is none. An error in it makes the entry invalid. */
export function readAuth(entry: Entry): AuthSpec | undefined {
  const position = findPositionAt(entry, 'auth');
  if (position === undefined) return undefined;
  const { collector } = entry;
  if (position.node.type !== 'object') {
    collector.problem(position, 'this is not an object', `Write an object with some of ${KEYS.join(', ')}.`);
    return undefined;
  }
  const members = getTreeMembers(position.node);
  for (const { key, keyNode } of members)
    if (!KEYS.includes(key))
      collector.warn(
        { node: keyNode, path: [...position.path, key] },
        'this key is unknown and has no effect',
        `Known here: ${KEYS.join(', ')}.`,
      );
  const fields = new Map(members.map(({ key, value }) => [key, value]));
  const inner: Entry = { ...entry, node: position.node, path: [...entry.path, 'auth'], fields };
  const texts = Object.entries(TEXTS).map(
    ([key, findFault]) => [key, wordsAt(inner, key, findFault)] as const,
  );
  const resource = readTextOrFalse(inner, 'resource', findResourceFault);
  const clientMetadataUrl = readTextOrFalse(inner, 'clientMetadataUrl', findClientDocumentFault);
  const tokenAuthMethod = readOptionAt(inner, 'tokenAuthMethod', AUTH_MEMBERS.tokenAuthMethod);
  const isShared = readOptionAt(inner, 'shared', AUTH_MEMBERS.shared);
  const parameters = readParameters(inner);
  const grant = readOptionAt(inner, 'grant', AUTH_MEMBERS.grant);
  const algorithm = readOptionAt(inner, 'algorithm', AUTH_MEMBERS.algorithm);
  const privateKeyFile = readPathAt(inner, 'privateKeyFile');
  checkCompanions(inner);
  checkCertificate(entry, inner);
  return {
    ...(Object.fromEntries(texts.filter(([, value]) => value !== undefined)) as AuthSpec), // of TEXTS
    ...(resource !== undefined && { resource }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(tokenAuthMethod === 'tls_client_auth' && { tokenAuthMethod }),
    ...(parameters !== undefined && { parameters }),
    ...(grant === 'client_credentials' && { grant }),
    ...(algorithm !== undefined && { algorithm }),
    ...(privateKeyFile !== undefined && { privateKeyFile }),
    ...(isShared !== undefined && { isPersonal: !isShared }),
  };
}

type FindFault = (text: string) => string | undefined;

/** The members that are texts, each with what may be wrong with it. */
const TEXTS: Readonly<Record<string, FindFault | undefined>> = {
  clientId: undefined,
  clientSecret: undefined,
  keyId: undefined,
  assertionAudience: findAudienceFault,
  issuer: findIssuerFault,
  authorizationServer: findIssuerFault,
  metadataUrl: findAuthUrlFault,
  authorizationEndpoint: findAuthUrlFault,
  tokenEndpoint: findAuthUrlFault,
  redirectUri: findAuthUrlFault,
  scope: undefined,
} satisfies Partial<Record<keyof AuthSpec, FindFault | undefined>>;

function readTextOrFalse(auth: Entry, key: string, findFault: FindFault): string | false | undefined {
  const position = findPositionAt(auth, key);
  if (position?.node.type === 'boolean' && position.node.value === false) return false;
  return wordsAt(auth, key, findFault);
}

const MAX_PARAMETERS = 20;

function readParameters(auth: Entry): Readonly<Record<string, string>> | undefined {
  const position = findPositionAt(auth, 'parameters');
  if (position === undefined) return undefined;
  const members = expandTextsAt(auth, 'parameters');
  if (members.length > MAX_PARAMETERS)
    auth.collector.problem(position, `there are more than ${MAX_PARAMETERS} parameters`, 'Remove some.');
  for (const { name, text: value, atName } of members) {
    const fault = findParameterFault(name, value);
    if (fault !== undefined) auth.collector.problem(atName, fault, 'Correct it, or leave it out.');
  }
  return Object.fromEntries(members.map(({ name, text: value }) => [name, value]));
}

/** Where a secret may go: the server must not decide that. */
const PLACES = ['issuer', 'authorizationServer', 'metadataUrl', 'tokenEndpoint'];

function checkCompanions(auth: Entry): void {
  const { collector } = auth;
  const find = (key: string): ConfigPosition | undefined => findPositionAt(auth, key);
  checkCredentials(auth);
  const [browser, token] = [find('authorizationEndpoint'), find('tokenEndpoint')];
  const alone = browser === undefined ? token : token === undefined ? browser : undefined;
  if (alone !== undefined)
    collector.problem(
      alone,
      '"authorizationEndpoint" and "tokenEndpoint" need each other',
      'Write both, or leave both out.',
    );
  if (browser !== undefined && token !== undefined && find('clientId') === undefined)
    collector.problem(
      browser,
      'there is an "authorizationEndpoint" without a "clientId", and Assay cannot register there',
      'Register Assay at the authorization server, and add the "clientId" that it gives.',
    );
}

/** The ways in which a client can authenticate. */
const CREDENTIALS = ['clientSecret', 'privateKeyFile', 'tokenAuthMethod'];

function checkCredentials(auth: Entry): void {
  const { collector } = auth;
  const find = (key: string): ConfigPosition | undefined => findPositionAt(auth, key);
  const present = CREDENTIALS.filter((key) => find(key) !== undefined);
  for (const name of present) checkBound(auth, name);
  const [first, second = ''] = present;
  const superfluous = find(second);
  if (superfluous !== undefined)
    collector.problem(superfluous, `there is a "${first}" as well`, 'Keep one of the two.');
  for (const name of ['algorithm', 'keyId', 'assertionAudience']) {
    const position = find(name);
    if (position !== undefined && find('privateKeyFile') === undefined)
      collector.problem(
        position,
        `there is no "privateKeyFile" for this "${name}"`,
        'Add "privateKeyFile", or remove this key.',
      );
  }
  const [grant, document] = [find('grant'), find('clientMetadataUrl')];
  if (grant?.node.value === 'client_credentials' && first === undefined)
    collector.problem(
      grant,
      'there is neither a "clientSecret" nor a "privateKeyFile" nor a "tokenAuthMethod"',
      'Add the one with which the client authenticates.',
    );
  if (document !== undefined && document.node.value !== false && find('clientId') !== undefined)
    collector.problem(
      document,
      'there is a "clientId" as well, which takes precedence',
      'Keep one of the two.',
    );
}

function checkBound(auth: Entry, name: string): void {
  const position = findPositionAt(auth, name);
  if (position === undefined) return;
  if (findPositionAt(auth, 'clientId') === undefined)
    auth.collector.problem(
      position,
      `there is a "${name}" without a "clientId"`,
      'Add the "clientId" to which it belongs.',
    );
  if (PLACES.every((place) => findPositionAt(auth, place) === undefined))
    auth.collector.problem(
      position,
      `there is a "${name}" without an "issuer", so the server could send it anywhere`,
      `Add "issuer" beside it. ${ISSUER_REMEDY}`,
    );
}

function checkCertificate(entry: Entry, auth: Entry): void {
  const position = findPositionAt(auth, 'tokenAuthMethod');
  if (position === undefined || findPositionAt(entry, 'clientCertificate') !== undefined) return;
  entry.collector.problem(
    position,
    'there is no "clientCertificate" in the entry',
    'Add "clientCertificate" beside "auth", or remove this key.',
  );
}

const ISSUER_REMEDY =
  'Write the URL of the authorization server that gave you the secret, as in its "issuer" metadata.';

/** Visible ASCII, with spaces only inside: a token request allows nothing else (RFC 6749, appendix A). */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

function wordsAt(entry: Entry, key: string, findFault: FindFault | undefined): string | undefined {
  const position = findPositionAt(entry, key);
  const value = position && expandTextAt(entry, position);
  if (position === undefined || value === undefined) return undefined;
  if (!VALUE.test(value)) {
    entry.collector.problem(
      position,
      'this is empty, or contains a line break or another character that is not allowed',
      'Look for spaces or a line break at the ends of the variable or the text.',
    );
    return undefined;
  }
  const fault = findFault?.(value);
  if (fault === undefined) return value;
  const remedy = key === 'issuer' ? ISSUER_REMEDY : 'Correct it, or leave it out.';
  entry.collector.problem(position, `the "${key}" is not valid: ${fault}`, remedy);
  return undefined;
}

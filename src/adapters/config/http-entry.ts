import { findIssuerFault } from '../../core/auth-settings.ts';
import type { AuthSpec, Transport } from '../../core/server-spec.ts';
import type { ConfigPosition } from './problem-collector.ts';
import {
  described,
  flag,
  objectSchema,
  optional,
  type Reader,
  text,
  withSchema,
} from '../../core/json-reader.ts';
import {
  type Entry,
  type EntryMembers,
  readOptionAt,
  findPositionAt,
  expandTextAt,
  textRecord,
  expandTextsAt,
} from './entry-fields.ts';
import { getTreeMembers } from './json-tree.ts';

/** A test compares the descriptions with docs/CONFIG.md. */
const AUTH_MEMBERS = {
  clientId: described(
    'as the issuer gave it, if Assay cannot register by itself; an https:// address is treated as that of a client metadata document',
    optional(text),
  ),
  clientSecret: described('if the issuer gave one; needs issuer', optional(text)),
  issuer: described(
    'the only authorization server to sign in at, as in its issuer metadata; if the server names another one, nothing is sent there',
    optional(text),
  ),
  scope: described('scopes that replace those that the server names, separated by spaces', optional(text)),
  shared: described(
    'whether one sign-in, that of local, serves all clients; otherwise each signs in with --subject NAME, the name of its token. Default: true if no token is needed, else false',
    optional(flag),
  ),
};

/** A URL, which may begin with a variable. */
export const httpUrl: Reader<string> = withSchema(text, () => ({
  type: 'string',
  pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?:|\\$\\{',
}));
const URL_ABOUT = 'http:// or https://, without credentials in it';

export const headersMember: Reader<unknown> = described(
  'object of strings or numbers, sent with every request',
  textRecord,
);

export const HTTP_MEMBERS: EntryMembers = {
  url: described(URL_ABOUT, httpUrl),
  httpUrl: described(URL_ABOUT, httpUrl),
  serverUrl: described(URL_ABOUT, httpUrl),
  headers: headersMember,
  auth: described(
    'how to sign in, if discovery is not enough: clientId, clientSecret, issuer, scope, shared',
    withSchema(
      ({ value }) => value,
      () => ({
        ...objectSchema(AUTH_MEMBERS),
        additionalProperties: false,
        dependencies: { clientSecret: ['clientId', 'issuer'] },
      }),
    ),
  ),
};

/** The last two are how Gemini CLI and Windsurf write it. */
export const URL_KEYS: readonly string[] = ['url', 'httpUrl', 'serverUrl'];

/** Reads a server at a URL. Undefined, with an error reported, if the URL is unusable. */
export function readHttp(entry: Entry, flavour: 'auto' | 'streamable' | 'sse'): Transport | undefined {
  const url = readUrl(entry);
  const headers = readHeaders(entry);
  const auth = readAuth(entry);
  return url && { kind: 'http', flavour, url, headers, ...(auth && { auth }) };
}

function readUrl(entry: Entry): URL | undefined {
  const { collector } = entry;
  const position = URL_KEYS.map((key) => findPositionAt(entry, key)).find((one) => one !== undefined);
  const remedy = 'Write an address that starts with http:// or https://.';
  if (position === undefined) {
    collector.problem(entry, 'the key "url" is missing', remedy);
    return undefined;
  }
  const written = expandTextAt(entry, position);
  if (written === undefined) return undefined;
  const url = URL.parse(written);
  // The value is not repeated: it may contain a password or key.
  if (url === null) {
    collector.problem(position, 'this is not a URL', remedy);
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    collector.problem(position, 'this is not an http or https URL', remedy);
    return undefined;
  }
  if (url.username !== '' || url.password !== '') {
    collector.problem(
      position,
      'the URL contains credentials, which lists and logs would show',
      'Send them in "headers", as "Authorization".',
    );
    return undefined;
  }
  url.hash = '';
  return url;
}

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** RFC 9110, section 5.5: visible ASCII, space, tab and obs-text. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Framing and protocol belong to the connection; a fixed value would break every request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'expect', 'keep-alive', 'last-event-id'],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** The configured headers for every request. */
export function readHeaders(entry: Entry): Readonly<Record<string, string>> {
  const { collector } = entry;
  const headers = new Map<string, readonly [string, string]>();
  for (const { name, text, atName, atText } of expandTextsAt(entry, 'headers')) {
    const lowerName = name.toLowerCase();
    if (!TOKEN.test(name))
      collector.problem(atName, 'this cannot be the name of a header', 'Use letters, digits and hyphens.');
    else if (OWN_HEADERS.has(lowerName))
      collector.problem(atName, 'Assay sets this header itself', 'Remove it.');
    else if (headers.has(lowerName))
      collector.problem(atName, 'this header appears twice', 'Keep one of the two.');
    else if (!FIELD_VALUE.test(text))
      collector.problem(
        atText,
        'the value contains a line break or another character that is not allowed in a header',
        'Look for a line break at the end of the variable or the text.',
      );
    headers.set(lowerName, [name, text]);
  }
  return Object.fromEntries(headers.values());
}

const KEYS: readonly string[] = Object.keys(AUTH_MEMBERS);

/** Reads "auth" of a server at a URL. Undefined if there is none. An error in it makes the entry invalid. */
function readAuth(entry: Entry): AuthSpec | undefined {
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
  const [clientId, clientSecret, issuer, scope] = ['clientId', 'clientSecret', 'issuer', 'scope'].map((key) =>
    wordsAt(inner, key),
  );

  const isShared = readOptionAt(inner, 'shared', AUTH_MEMBERS.shared);
  if (clientSecret !== undefined && clientId === undefined)
    collector.problem(
      findPositionAt(inner, 'clientSecret') ?? position,
      'there is a "clientSecret" without a "clientId"',
      'Add the "clientId" to which it belongs.',
    );
  checkIssuer(inner, issuer);
  return {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(issuer !== undefined && { issuer }),
    ...(scope !== undefined && { scope }),
    ...(isShared !== undefined && { isPersonal: !isShared }),
  };
}

/** A secret must not go to whatever issuer the server names, so it needs one of its own. */
function checkIssuer(auth: Entry, issuer: string | undefined): void {
  const { collector } = auth;
  const position = findPositionAt(auth, 'issuer');
  const secret = findPositionAt(auth, 'clientSecret');
  const remedy =
    'Write the URL of the authorization server that gave you the secret, as in its "issuer" metadata.';
  if (secret !== undefined && position === undefined)
    collector.problem(
      secret,
      'there is a "clientSecret" without an "issuer", so the server could send it anywhere',
      `Add "issuer" beside it. ${remedy}`,
    );
  const reason = issuer === undefined ? undefined : findIssuerFault(issuer);
  if (position !== undefined && reason !== undefined)
    collector.problem(position, `the "issuer" is not valid: ${reason}`, remedy);
}

/** Visible ASCII, with spaces only inside: a token request allows nothing else (RFC 6749, appendix A). */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

function wordsAt(entry: Entry, key: string): string | undefined {
  const position: ConfigPosition | undefined = findPositionAt(entry, key);
  const text = position && expandTextAt(entry, position);
  if (position === undefined || text === undefined || VALUE.test(text)) return text;
  entry.collector.problem(
    position,
    'this is empty, or contains a line break or another character that is not allowed',
    'Look for spaces or a line break at the ends of the variable or the text.',
  );
  return undefined;
}

import { isHeaderName, isHeaderValue, isProtocolHeader } from '../../core/sources/http-header.ts';
import { URL_KEYS } from '../../core/sources/url-keys.ts';
import type { Transport } from '../../core/server-spec.ts';
import { authMember, readAuth } from './auth-entry.ts';
import { PROXY_MEMBERS, readProxy } from './proxy-entry.ts';
import { readTls, TLS_MEMBERS } from './tls-entry.ts';
import { getNodeValue } from 'jsonc-parser';
import { toCommandReference } from '../../core/secrets/value-reference.ts';
import { described, type Reader, text, withSchema } from '@assay-mcp/kit/json-reader';
import {
  type Entry,
  type EntryMembers,
  findPositionAt,
  expandTextAt,
  textRecord,
  expandTextsAt,
} from './entry-fields.ts';

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

const headerCommandMember: Reader<unknown> = described(
  'program that prints further headers as a JSON object of strings, with its arguments: ["get-headers", "--json"]; run without a shell when the server is connected',
  withSchema(
    ({ value }) => value,
    () => ({ type: 'array', items: { type: 'string' }, minItems: 1 }),
  ),
);

export const HTTP_MEMBERS: EntryMembers = {
  url: described(URL_ABOUT, httpUrl),
  httpUrl: described(URL_ABOUT, httpUrl),
  serverUrl: described(URL_ABOUT, httpUrl),
  headers: headersMember,
  headerCommand: headerCommandMember,
  auth: authMember,
  ...PROXY_MEMBERS,
  ...TLS_MEMBERS,
};

/** Reads a server at a URL. Undefined, with an error reported, if the URL is unusable. */
export function readHttp(entry: Entry, flavour: 'auto' | 'streamable' | 'sse'): Transport | undefined {
  const url = readUrl(entry);
  const headers = readHeaders(entry);
  readHeaderCommand(entry);
  const auth = readAuth(entry);
  const proxy = readProxy(entry);
  const tls = readTls(entry, url);
  return url && { kind: 'http', flavour, url, headers, ...(auth && { auth }), ...proxy, ...(tls && { tls }) };
}

/** Read like a reference in a header, which may run a program as well. Variables in it are not expanded. */
function readHeaderCommand(entry: Entry): void {
  const position = findPositionAt(entry, 'headerCommand');
  if (position === undefined) return;
  const command = toCommandReference(getNodeValue(position.node));
  if (typeof command === 'string')
    entry.collector.problem(position, command, 'Write ["PROGRAM", "ARGUMENT"].');
  else entry.references?.push({ member: 'headerCommand', name: '*', parts: [command] });
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

/** The configured headers for every request. */
export function readHeaders(entry: Entry): Readonly<Record<string, string>> {
  const { collector } = entry;
  const headers = new Map<string, readonly [string, string]>();
  for (const { name, text, atName, atText } of expandTextsAt(entry, 'headers')) {
    const lowerName = name.toLowerCase();
    if (!isHeaderName(name))
      collector.problem(atName, 'this cannot be the name of a header', 'Use letters, digits and hyphens.');
    else if (isProtocolHeader(name)) collector.problem(atName, 'Assay sets this header itself', 'Remove it.');
    else if (headers.has(lowerName))
      collector.problem(atName, 'this header appears twice', 'Keep one of the two.');
    else if (!isHeaderValue(text))
      collector.problem(
        atText,
        'the value contains a line break or another character that is not allowed in a header',
        'Look for a line break at the end of the variable or the text.',
      );
    headers.set(lowerName, [name, text]);
  }
  return Object.fromEntries(headers.values());
}

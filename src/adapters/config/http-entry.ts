import type { Transport } from '../../core/server-spec.ts';
import { readAuth } from './auth-entry.ts';
import { placeAt, textAt, textsAt, type Entry } from './entry-fields.ts';

export const HTTP_KEYS: readonly string[] = ['url', 'headers', 'auth'];

/** A server at a URL. Undefined, after a complaint, where the URL is not usable. */
export function readHttp(entry: Entry, flavour: 'auto' | 'streamable' | 'sse'): Transport | undefined {
  const url = readUrl(entry);
  const headers = readHeaders(entry);
  const auth = readAuth(entry);
  return url && { kind: 'http', flavour, url, headers, ...(auth && { auth }) };
}

function readUrl(entry: Entry): URL | undefined {
  const { complaints } = entry;
  const place = placeAt(entry, 'url');
  const remedy = 'Write an address that starts with http:// or https://.';
  if (place === undefined) {
    complaints.problem(entry, 'the key "url" is missing', remedy);
    return undefined;
  }
  const written = textAt(entry, place);
  if (written === undefined) return undefined;
  const url = URL.parse(written);
  // What was written is not repeated: it may hold a password or a key.
  if (url === null) {
    complaints.problem(place, 'this is no URL', remedy);
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    complaints.problem(place, 'this is no http or https URL', remedy);
    return undefined;
  }
  if (url.username !== '' || url.password !== '') {
    complaints.problem(
      place,
      'there are credentials in the URL, which would show in lists and logs',
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

/** The headers that an operator gives for every request. */
export function readHeaders(entry: Entry): Readonly<Record<string, string>> {
  const { complaints } = entry;
  const headers = new Map<string, readonly [string, string]>();
  for (const { name, text, atName, atText } of textsAt(entry, 'headers')) {
    const lowerName = name.toLowerCase();
    if (!TOKEN.test(name))
      complaints.problem(atName, 'this cannot be the name of a header', 'Use letters, digits and hyphens.');
    else if (OWN_HEADERS.has(lowerName))
      complaints.problem(atName, 'Assay sets this header itself', 'Take it out.');
    else if (headers.has(lowerName))
      complaints.problem(atName, 'this header stands there twice', 'Keep one of the two.');
    else if (!FIELD_VALUE.test(text))
      complaints.problem(
        atText,
        'the value holds a line break or another character that no header may have',
        'Look for a line break at the end of the variable or the text.',
      );
    headers.set(lowerName, [name, text]);
  }
  return Object.fromEntries(headers.values());
}

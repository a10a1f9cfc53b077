import { isUtf8 } from 'node:buffer';

/** Names of MCP's HTTP headers, in lower case as Node reports them. */
export const PROTOCOL_VERSION = 'mcp-protocol-version';
export const SESSION_ID = 'mcp-session-id';
export const LAST_EVENT_ID = 'last-event-id';
export const METHOD = 'mcp-method';
export const NAME = 'mcp-name';

const SENTINEL = /^=\?base64\?(.*)\?=$/s;
/** A value that starts and ends like a sentinel, even if the two overlap. */
const LIKE_SENTINEL = /^=\?base64\?(?:.*\?)?=$/s;
const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;
/** Visible ASCII, with spaces and tabs only inside (RFC 9110, section 5.5). */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;

/** A value for an `Mcp-Name` or `Mcp-Param-…` header (2026-07-28, basic/transports/streamable-http#value-encoding). */
export function encodeHeader(value: string): string {
  return PLAIN.test(value) && !LIKE_SENTINEL.test(value)
    ? value
    : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** The decoded value of a header; undefined if it is not a valid encoding. */
export function decodeHeader(header: string): string | undefined {
  const encoded = SENTINEL.exec(header)?.[1];
  if (encoded === undefined) return header === '' || PLAIN.test(header) ? header : undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return BASE64.test(encoded) && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Which answers an `Accept` header allows. No header allows everything (RFC 9110, section 12.5.1). */
export interface Accepted {
  readonly json: boolean;
  readonly sse: boolean;
}

/** Most clients send the same header with each request, so the last few are kept. */
const ACCEPTED = new Map<string, Accepted>();
const MAX_ACCEPTED = 64;
const MAX_ACCEPT_LENGTH = 200;

export function parseAccept(accept: string | undefined): Accepted {
  if (accept === undefined) return ALL;
  const known = ACCEPTED.get(accept);
  if (known !== undefined) return known;
  const given = accept.toLowerCase();
  const has = (...ranges: readonly string[]): boolean => ranges.some((range) => given.includes(range));
  const read = {
    json: has('*/*', 'application/json', 'application/*'),
    sse: has('*/*', 'text/event-stream', 'text/*'),
  };
  if (ACCEPTED.size >= MAX_ACCEPTED) ACCEPTED.clear();
  if (accept.length <= MAX_ACCEPT_LENGTH) ACCEPTED.set(accept, read);
  return read;
}

const ALL: Accepted = { json: true, sse: true };

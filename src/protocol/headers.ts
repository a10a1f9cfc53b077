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

/** Whether an `Accept` header allows a media type. No header allows everything (RFC 9110, section 12.5.1). */
export function accepts(accept: string | undefined, type: 'application/json' | 'text/event-stream'): boolean {
  if (accept === undefined) return true;
  const given = accept.toLowerCase();
  return [type, '*/*', `${type.slice(0, type.indexOf('/'))}/*`].some((range) => given.includes(range));
}

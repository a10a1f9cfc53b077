/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** RFC 9110, section 5.5: no line breaks, and only single-byte characters. */

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers of the connection rather than the request; `expect` is not supported by the HTTP client. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer'],
  'expect',
]);
/** Credentials: set by the operator, never by an argument. */
const OF_THE_OPERATOR: ReadonlySet<string> = new Set(['authorization', 'cookie']);

export function isHeaderValue(text: string): boolean {
  return VALUE.test(text);
}

/** Why a header with this name cannot be set, as the end of a sentence. */
export function findHeaderNameFault(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (!TOKEN.test(name)) return `${JSON.stringify(name)} is not a header name`;
  if (OF_THE_CONNECTION.has(lower) || lower.startsWith('proxy-'))
    return `the header ${JSON.stringify(name)} is set by the connection alone`;
  return undefined;
}

/** Framing and protocol belong to the connection to a server; a fixed value would break every request. */
const OF_THE_PROTOCOL: ReadonlySet<string> = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'expect', 'keep-alive', 'last-event-id'],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Whether Assay sets this header of requests to MCP servers. */
export function isProtocolHeader(name: string): boolean {
  return OF_THE_PROTOCOL.has(name.toLowerCase());
}

export function isHeaderName(text: string): boolean {
  return TOKEN.test(text);
}

/** Why no argument may be sent in a header with this name, as the end of a sentence. */
export function findMappedHeaderFault(name: string): string | undefined {
  const fault = findHeaderNameFault(name);
  if (fault === undefined && OF_THE_OPERATOR.has(name.toLowerCase()))
    return `the header ${JSON.stringify(name)} identifies the caller, so no argument may set it; use "auth" or "headers"`;
  return fault;
}

/** Why a header cannot have this value, as the end of a sentence that does not repeat it. */
export function findHeaderValueFault(value: string): string | undefined {
  if (!isHeaderValue(value)) return 'it contains a line break or a character that is not allowed in a header';
  return value.trim() === value ? undefined : 'it begins or ends with white space, which no server would see';
}

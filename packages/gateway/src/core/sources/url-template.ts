import { err, ok, type Result } from '@assay-mcp/kit/result';

/** A URL with placeholders for arguments in its path and query. */
export interface UrlTemplate {
  readonly origin: string;
  readonly path: Pattern;
  readonly query: readonly QueryPart[];
}

/** A text, an argument, a text, …; `texts` are already encoded. */
export interface Pattern {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

interface QueryPart {
  /** Decoded. */
  readonly name: string;
  /** With its `=`, encoded. */
  readonly pattern: Pattern;
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?(#.*)?$/i;
const PLACE = /\{([^{}]+)\}/;

/** The error is the end of a sentence. */
export function readUrlTemplate(text: string): Result<UrlTemplate, string> {
  const [, authority, path = '', query = '', fragment] = ABSOLUTE.exec(text) ?? [];
  const isHostFixed = authority === undefined || !/[{}]/.test(authority);
  if (!isHostFixed) return err('an argument may stand in the path or in the query, but not in the host');
  // URL parsers skip tabs and line breaks, and treat a backslash as a slash.
  if (authority === undefined || /[\s\\]/.test(text) || !URL.canParse(text))
    return err('it is not an absolute URL that begins with "http://" or "https://"');
  if (authority.includes('@')) return err('it contains a user or a password; use "auth"');
  if (fragment !== undefined) return err('it contains a "#"; the part after it is never sent');
  const segments = path.split('/');
  if (segments.some(isDotSegment)) return err('its path contains "." or ".."; write the resolved path');
  const parts = query.split('&').filter((part) => part !== '');
  const patterns = [...segments, ...parts].map(readPattern);
  if (patterns.some(isBroken))
    return err('a "{" has no matching "}" or the reverse, or there is no name between them');
  if (parts.some((part) => /[{}]/.test(part.split('=')[0] ?? '')))
    return err('an argument may stand for the value of a query parameter, but not for its name');
  if (!parts.every(isDecodable)) return err('a name in its query is not percent-encoded as it must be');
  return ok({
    origin: new URL(text).origin,
    path: encodeTexts(readPattern(path === '' ? '/' : path), encodedPathText),
    query: parts.map((part) => ({
      name: queryName(part),
      pattern: encodeTexts(readPattern(part), encodedQueryText),
    })),
  });
}

function encodeTexts({ texts, names }: Pattern, encode: (text: string) => string): Pattern {
  return { texts: texts.map(encode), names };
}

/** Splits a text at its `{name}`. */
export function readPattern(text: string): Pattern {
  // Since the expression has one group, texts and names alternate.
  const pieces = text.split(PLACE);
  return {
    texts: pieces.filter((_, index) => index % 2 === 0),
    names: pieces.filter((_, index) => index % 2 === 1),
  };
}

function isBroken({ texts }: Pattern): boolean {
  return texts.some((text) => /[{}]/.test(text));
}

/** As URL encodes it; the letters on both sides keep it from being parsed as a dot segment. */
function encodedPathText(text: string): string {
  return new URL(`http://a/x${text}x`).pathname.slice(2, -1);
}

function encodedQueryText(text: string): string {
  return new URL(`http://a/?${text}`).search.slice(1);
}

function isDecodable(part: string): boolean {
  try {
    return queryName(part) !== '';
  } catch {
    return false;
  }
}

function queryName(part: string): string {
  return decodeURIComponent((part.split('=')[0] ?? '').replaceAll('+', ' '));
}

/** Whether a URL parser, or a server that decodes once more, would treat it as a dot segment. */
export function isDotSegment(segment: string): boolean {
  const plain = segment.replace(/%(?:25)*2e/gi, '.');
  return plain === '.' || plain === '..';
}

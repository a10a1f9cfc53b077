import { isLoopbackName } from './auth-settings.ts';

const MAX_ORIGINS = 32;
const MAX_LENGTH = 4_096;
/** A host name or an IPv6 address. URL parsers also accept "*" in a name, which no browser sends. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/;

/** The origins in the setting `mcp.allowedOrigins`, exactly as browsers send them. */
export function parseAllowedOrigins(text: string): ReadonlySet<string> {
  return new Set(listItems(text));
}

/** Why a text is not a valid list of origins, as the end of a sentence. It never repeats the text. */
export function findAllowedOriginsFault(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `it must have at most ${MAX_LENGTH} characters`;
  const items = listItems(text);
  if (items.length > MAX_ORIGINS) return `it must list at most ${MAX_ORIGINS} origins`;
  const index = items.findIndex((item) => findOriginFault(item) !== undefined);
  if (index < 0) return undefined;
  return `it must list origins separated by commas, and number ${index + 1} ${findOriginFault(items[index] ?? '') ?? ''}`;
}

/** Whether browsers on pages of this origin can be allowed. */
export function canAllowOrigin(origin: string): boolean {
  return findOriginFault(origin) === undefined;
}

function listItems(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
}

/** Why a text is not the origin of web pages as browsers serialize it (HTML standard, "ASCII serialization of an origin"). */
function findOriginFault(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text === 'null') return 'is "null", which every sandboxed page and local file sends';
  if (text.includes('*')) return 'is a pattern; list each origin';
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || !HOST.test(url.hostname))
    return 'is not an origin such as https://app.example';
  if (url.protocol === 'http:' && !isLoopbackName(url.hostname))
    return 'starts with http:, which is allowed only for localhost, 127.0.0.1 and [::1]; use https:';
  return url.origin === text
    ? undefined
    : 'must be written as browsers send it: scheme, host and port only, in lower case, without a default port or a final slash';
}

import type { HttpAnswer } from './http-call.ts';

/** A body, as what it says that it is or its bytes show. */
export type AnswerBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image' | 'audio' | 'bytes'; readonly mediaType: string };

export function readBody({ body, headers, isCut }: HttpAnswer): AnswerBody {
  if (body.length === 0) return { kind: 'empty' };
  const { mediaType, charset } = contentType(headers);
  if (TEXTUAL.test(mediaType)) return { kind: 'text', text: decode(body, charset, isCut) };
  if (mediaType.startsWith('image/')) return { kind: 'image', mediaType };
  if (mediaType.startsWith('audio/')) return { kind: 'audio', mediaType };
  const text = plainText(body);
  return text === undefined
    ? { kind: 'bytes', mediaType: mediaType === '' ? 'application/octet-stream' : mediaType }
    : { kind: 'text', text };
}

const TEXTUAL =
  /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|ndjson|yaml|sql|graphql|www-form-urlencoded|json-seq)$/;

interface ContentType {
  /** In lower case, without parameters; empty: nothing is said. */
  readonly mediaType: string;
  readonly charset: string | undefined;
}

function contentType(headers: HttpAnswer['headers']): ContentType {
  const line = headers['content-type'];
  const said = typeof line === 'string' ? line : '';
  const end = said.indexOf(';');
  const mediaType = (end < 0 ? said : said.slice(0, end)).trim().toLowerCase();
  const charset = end < 0 ? undefined : /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(said.slice(end))?.[1];
  return { mediaType, charset };
}

const UTF_8 = /^utf-?8$/i;
const BOM = 0xef;

/** Text of an unknown charset is read as UTF-8, of which most others have ASCII in common. */
function decode(body: Buffer, charset: string | undefined, isCut: boolean): string {
  const isUtf8 = charset === undefined || UTF_8.test(charset);
  if (isUtf8 && !isCut && body[0] !== BOM) return body.toString('utf8');
  const known = isUtf8 || isCharset(charset) ? charset : undefined;
  // As a stream, so that a character that was cut in two is left out.
  return new TextDecoder(known).decode(body, { stream: isCut });
}

function isCharset(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/** Undefined: the bytes are no UTF-8, or hold what no text holds. */
function plainText(body: Buffer): string | undefined {
  if (body.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}

import { isMembers } from '../../../core/canonical-json.ts';
import { sha256 } from '../../../core/digest.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { exactJsonOf, exactMembers, exactText } from './exact-arguments.ts';
import { inQuery, type Pair } from './parameter-styles.ts';
import type { ParameterStyle } from './parameters.ts';
import type { RequestBody } from './request-body.ts';

export interface WrittenBody {
  readonly contentType: string;
  readonly body: string | Buffer;
}

export interface BodyWriting {
  readonly body: RequestBody;
  /** Members of a form that are given in Base64 and sent as bytes; or the argument that is all of such a body. */
  readonly binaries: ReadonlySet<string>;
}

/** The body for an exact value. The error is a sentence that names the member. */
export function writeBody(value: unknown, writing: BodyWriting): Result<WrittenBody, string> {
  const { kind, mediaType, encoding } = writing.body;
  switch (kind) {
    case 'json':
      return ok({ contentType: mediaType, body: exactJsonOf(value) });
    case 'text':
      return ok({ contentType: withCharset(mediaType), body: exactText(value) });
    case 'bytes': {
      const [argument] = writing.binaries;
      const text = exactText(value);
      const bytes = argument === undefined ? Buffer.from(text, 'utf8') : bytesOf(text);
      return bytes === undefined ? err(noBase64(argument)) : ok({ contentType: mediaType, body: bytes });
    }
    case 'form': {
      const pairs = (exactMembers(value) ?? []).flatMap(([name, one]) => formPairs(name, one, encoding));
      return ok({ contentType: mediaType, body: pairs.map((pair) => pair.join('=')).join('&') });
    }
    case 'multipart':
      return multipart(exactMembers(value) ?? [], writing);
  }
}

function withCharset(mediaType: string): string {
  return /charset=/i.test(mediaType) ? mediaType : `${mediaType}; charset=utf-8`;
}

/** Without a style of its own an object is JSON, and a list is its items (OpenAPI 3.1.1, section 4.8.15.1.1). */
function formPairs(name: string, value: unknown, encoding: RequestBody['encoding']): readonly Pair[] {
  if (value === null) return [];
  const own = Object.hasOwn(encoding, name) ? encoding[name] : undefined;
  const { style, explode, allowReserved } = isMembers(own) ? own : {};
  const known = STYLES.find((one) => one === style);
  const hasStyle = known !== undefined || explode !== undefined || allowReserved !== undefined;
  const isJson = !hasStyle && exactMembers(value) !== undefined;
  const form = {
    style: isJson ? ('json' as const) : (known ?? 'form'),
    explode: typeof explode === 'boolean' ? explode : (known ?? 'form') === 'form',
    allowReserved: false,
  };
  return inQuery({ name, form }, value);
}

const STYLES: readonly ParameterStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** RFC 7578. */
function multipart(
  members: readonly (readonly [string, unknown])[],
  { body, binaries }: BodyWriting,
): Result<WrittenBody, string> {
  const parts: Part[] = [];
  for (const [name, value] of members) {
    if (value === null) continue;
    for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      const own = Object.hasOwn(body.encoding, name) ? body.encoding[name] : undefined;
      const said = isMembers(own) ? own['contentType'] : undefined;
      const part = partOf(one, { name, isBinary: binaries.has(name), type: firstType(said) });
      if (part === undefined) return err(noBase64(name));
      parts.push(part);
    }
  }
  // Nobody can put into a part the hash of all parts.
  const hash = sha256(parts.map(({ head, content }) => head + content.toString('latin1')).join('\n'));
  const boundary = `assay-${hash.slice(0, 40)}`;
  const chunks = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`, 'utf8'),
    content,
    Buffer.from('\r\n'),
  ]);
  const end = Buffer.from(`--${boundary}--\r\n`);
  return ok({
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...chunks, end]),
  });
}

interface Part {
  readonly head: string;
  readonly content: Buffer;
}

interface PartFacts {
  readonly name: string;
  readonly isBinary: boolean;
  readonly type: string | undefined;
}

/** Undefined for what is no Base64. */
function partOf(value: unknown, { name, isBinary, type }: PartFacts): Part | undefined {
  const quoted = name.toWellFormed().replace(/[\r\n"]/g, encodeURIComponent);
  const field = `Content-Disposition: form-data; name="${quoted}"`;
  if (isBinary) {
    const content = typeof value === 'string' ? bytesOf(value) : undefined;
    // Servers take a part for a file where it has the name of one.
    const head = `${field}; filename="${quoted}"\r\nContent-Type: ${type ?? 'application/octet-stream'}`;
    return content === undefined ? undefined : { head, content };
  }
  const isObject = exactMembers(value) !== undefined || Array.isArray(value);
  const said = type ?? (isObject ? 'application/json' : undefined);
  const head = said === undefined ? field : `${field}\r\nContent-Type: ${said}`;
  return { head, content: Buffer.from(exactText(value), 'utf8') };
}

function noBase64(argument: string | undefined): string {
  return `The argument ${JSON.stringify(argument)} is no Base64, which it must be.`;
}

function bytesOf(base64: string): Buffer | undefined {
  const bare = base64.replace(/\s+/g, '');
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(bare) && bare.replace(/=+$/, '').length % 4 !== 1
    ? Buffer.from(bare, 'base64')
    : undefined;
}

/** An encoding may name several types; one with a wildcard is none that can be sent. */
function firstType(said: unknown): string | undefined {
  if (typeof said !== 'string') return undefined;
  const type = (said.split(',')[0] ?? '').trim();
  return /^[\w.+-]+\/[\w.+-]+(;[ \w=."'-]*)?$/.test(type) ? type : undefined;
}

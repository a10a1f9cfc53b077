import { isMembers } from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** How a value is serialized. */
export interface ParameterForm {
  /** `text` takes one text, `texts` also a list of them. */
  readonly style: ParameterStyle | 'json' | 'text' | 'texts';
  readonly explode: boolean;
  readonly allowReserved: boolean;
}

/** OpenAPI 3.1.1, section 4.8.12.3. */
export type ParameterStyle =
  'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

export interface NamedForm {
  readonly name: string;
  readonly form: ParameterForm;
}

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

export interface BodyForm {
  readonly kind: BodyKind;
  readonly mediaType: string;
  /** How form members are serialized, by name (OpenAPI 3.1.1, section 4.8.15). */
  readonly encoding: Readonly<Record<string, unknown>>;
  /** Form members given in Base64 and sent as bytes, or the argument that is the whole binary body. */
  readonly binaries: ReadonlySet<string>;
}

export interface WrittenBody {
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** The body for an exact value. The error is a sentence that names the member. */
export function writeBody(value: unknown, form: BodyForm): Result<WrittenBody, string> {
  const { kind, mediaType, encoding, binaries } = form;
  switch (kind) {
    case 'json':
      return ok({ contentType: mediaType, body: JSON.stringify(value ?? null) });
    case 'text':
      return ok({ contentType: withCharset(mediaType), body: formatExact(value) });
    case 'bytes': {
      const [argument] = binaries;
      const text = formatExact(value);
      const bytes = argument === undefined ? Buffer.from(text, 'utf8') : bytesOf(text);
      return bytes === undefined ? err(noBase64(argument)) : ok({ contentType: mediaType, body: bytes });
    }
    case 'form': {
      const pairs = (getExactMembers(value) ?? []).flatMap(([name, one]) => formPairs(name, one, encoding));
      return ok({ contentType: mediaType, body: pairs.map((pair) => pair.join('=')).join('&') });
    }
    case 'multipart':
      return multipart(getExactMembers(value) ?? [], form);
  }
}

function withCharset(mediaType: string): string {
  return /charset=/i.test(mediaType) ? mediaType : `${mediaType}; charset=utf-8`;
}

/** Without an explicit style an object is sent as JSON, a list as its items (OpenAPI 3.1.1, section 4.8.15.1.1). */
function formPairs(name: string, value: unknown, encoding: BodyForm['encoding']): readonly Pair[] {
  if (value === null) return [];
  const own = Object.hasOwn(encoding, name) ? encoding[name] : undefined;
  const { style, explode, allowReserved } = isMembers(own) ? own : {};
  const known = STYLES.find((one) => one === style);
  const hasStyle = known !== undefined || explode !== undefined || allowReserved !== undefined;
  const isJson = !hasStyle && getExactMembers(value) !== undefined;
  const form = {
    style: isJson ? ('json' as const) : (known ?? 'form'),
    explode: typeof explode === 'boolean' ? explode : (known ?? 'form') === 'form',
    allowReserved: false,
  };
  return encodeQueryParameter({ name, form }, value);
}

const STYLES: readonly ParameterStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** RFC 7578. */
function multipart(
  members: readonly (readonly [string, unknown])[],
  { encoding, binaries }: BodyForm,
): Result<WrittenBody, string> {
  const parts: Part[] = [];
  for (const [name, value] of members) {
    if (value === null) continue;
    for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      const own = Object.hasOwn(encoding, name) ? encoding[name] : undefined;
      const declared = isMembers(own) ? own['contentType'] : undefined;
      const part = partOf(one, { name, isBinary: binaries.has(name), type: firstType(declared) });
      if (part === undefined) return err(noBase64(name));
      parts.push(part);
    }
  }
  // A part cannot contain the hash of all parts.
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

/** Undefined for invalid Base64. */
function partOf(value: unknown, { name, isBinary, type }: PartFacts): Part | undefined {
  const quoted = name.toWellFormed().replace(/[\r\n"]/g, encodeURIComponent);
  const field = `Content-Disposition: form-data; name="${quoted}"`;
  if (isBinary) {
    const content = typeof value === 'string' ? bytesOf(value) : undefined;
    // Servers treat a part with a filename as a file.
    const head = `${field}; filename="${quoted}"\r\nContent-Type: ${type ?? 'application/octet-stream'}`;
    return content === undefined ? undefined : { head, content };
  }
  const isObject = getExactMembers(value) !== undefined || Array.isArray(value);
  const declared = type ?? (isObject ? 'application/json' : undefined);
  const head = declared === undefined ? field : `${field}\r\nContent-Type: ${declared}`;
  return { head, content: Buffer.from(formatExact(value), 'utf8') };
}

function noBase64(argument: string | undefined): string {
  return `The argument ${JSON.stringify(argument)} must be Base64.`;
}

function bytesOf(base64: string): Buffer | undefined {
  const bare = base64.replace(/\s+/g, '');
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(bare) && bare.replace(/=+$/, '').length % 4 !== 1
    ? Buffer.from(bare, 'base64')
    : undefined;
}

/** An encoding may list several types; one with a wildcard cannot be sent. */
function firstType(declared: unknown): string | undefined {
  if (typeof declared !== 'string') return undefined;
  const type = (declared.split(',')[0] ?? '').trim();
  return /^[\w.+-]+\/[\w.+-]+(;[ \w=."'-]*)?$/.test(type) ? type : undefined;
}

/** One `name=value` of a query or a form, both encoded. */
export type Pair = readonly [name: string, value: string];

/** Encodes a text for its location in a request. */
type Encode = (text: string) => string;

/** Encodes all but the unreserved characters of RFC 3986, section 2.3. */
export const encodeComponent: Encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Keeps reserved characters that end neither the value nor the query. */
const reserved: Encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(/%(?:2F|3A|3F|40|24|2C|3B)/g, decodeURIComponent);

/** The value of a path parameter (OpenAPI 3.1.1, section 4.8.12.2.3), encoded. */
export function encodePathParameter({ name, form }: NamedForm, value: unknown): string {
  const { style, explode } = form;
  if (style === 'json') return encodeComponent(JSON.stringify(value));
  const parts = partsOf(value);
  const key = encodeComponent(name);
  if (style === 'label') return `.${list(parts, { explode, between: explode ? '.' : ',' }, encodeComponent)}`;
  if (style !== 'matrix') return list(parts, { explode, between: ',' }, encodeComponent);
  if (explode && parts.kind === 'members')
    return parts.members
      .map(([member, one]) => `;${encodeComponent(member)}=${encodeComponent(one)}`)
      .join('');
  if (explode && parts.kind === 'items')
    return parts.items.map((one) => `;${key}=${encodeComponent(one)}`).join('');
  const text = list(parts, { explode: false, between: ',' }, encodeComponent);
  return text === '' ? `;${key}` : `;${key}=${text}`;
}

/** The pairs of a query parameter or of a form member. */
export function encodeQueryParameter({ name, form }: NamedForm, value: unknown): readonly Pair[] {
  const { style, explode } = form;
  const encode = form.allowReserved ? reserved : encodeComponent;
  const key = encodeComponent(name);
  if (style === 'json') return [[key, encode(JSON.stringify(value))]];
  const parts = partsOf(value);
  if (style === 'deepObject') return deepPairs(name, value, encode);
  if (explode && parts.kind === 'members')
    return parts.members.map(([member, one]) => [encodeComponent(member), encode(one)]);
  if (explode && parts.kind === 'items') return parts.items.map((one) => [key, encode(one)]);
  const isEmpty =
    parts.kind === 'items'
      ? parts.items.length === 0
      : parts.kind === 'members' && parts.members.length === 0;
  if (isEmpty) return [];
  return [[key, list(parts, { explode: false, between: BETWEEN[style] ?? ',' }, encode)]];
}

const BETWEEN: Readonly<Partial<Record<string, string>>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

/** The text of a header parameter; it is not encoded. */
export function formatHeaderParameter({ form }: NamedForm, value: unknown): string {
  if (form.style === 'json') return JSON.stringify(value);
  return list(partsOf(value), { explode: form.explode, between: ',' }, (text) => text);
}

/** `filter[owner][name]=x`: the specification leaves nesting open, and most servers read this. */
function deepPairs(name: string, value: unknown, encode: Encode): readonly Pair[] {
  const members = getExactMembers(value);
  if (members !== undefined)
    return members.flatMap(([key, one]) => deepPairs(`${name}[${key}]`, one, encode));
  if (Array.isArray(value)) return value.flatMap((one) => deepPairs(name, one, encode));
  return value === null ? [] : [[encodeComponent(name), encode(formatExact(value))]];
}

type Parts =
  | { readonly kind: 'one'; readonly text: string }
  | { readonly kind: 'items'; readonly items: readonly string[] }
  | { readonly kind: 'members'; readonly members: readonly (readonly [string, string])[] };

/** Null items and members are not sent (RFC 6570, section 2.3). */
function partsOf(value: unknown): Parts {
  if (Array.isArray(value))
    return { kind: 'items', items: value.filter((one) => one !== null).map(formatExact) };
  const members = getExactMembers(value);
  if (members === undefined) return { kind: 'one', text: formatExact(value) };
  const given = members.filter(([, one]) => one !== null);
  return { kind: 'members', members: given.map(([key, one]) => [key, formatExact(one)]) };
}

interface Listing {
  readonly explode: boolean;
  readonly between: string;
}

function list(parts: Parts, { explode, between }: Listing, encode: Encode): string {
  if (parts.kind === 'one') return encode(parts.text);
  if (parts.kind === 'items') return parts.items.map(encode).join(between);
  const texts = parts.members.map(([key, one]) => [encode(key), encode(one)].join(explode ? '=' : between));
  return texts.join(between);
}

/** An exact value as a text within a URL, a header or a form: JSON for arrays and objects. */
export function formatExact(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Members of an exact object, in their order. Undefined for anything else. */
export function getExactMembers(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  return isMembers(value) ? Object.entries(value) : undefined;
}

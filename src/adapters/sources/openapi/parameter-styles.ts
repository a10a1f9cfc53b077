import { exactJsonOf, exactMembers, exactText } from './exact-arguments.ts';
import type { Parameter } from './parameters.ts';

/** One `name=value` of a query or a form, both encoded. */
export type Pair = readonly [name: string, value: string];

/** Encodes a text as its place needs it. */
type Encode = (text: string) => string;

/** All but the unreserved characters of RFC 3986, section 2.3. */
export const encoded: Encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Reserved characters stay where they end neither the value nor the query. */
const reserved: Encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(/%(?:2F|3A|3F|40|24|2C|3B)/g, decodeURIComponent);

/** The value of a path parameter (OpenAPI 3.1.1, section 4.8.12.2.3), encoded. */
export function inPath({ name, form }: Parameter, value: unknown): string {
  const { style, explode } = form;
  if (style === 'json') return encoded(exactJsonOf(value));
  const parts = partsOf(value);
  const key = encoded(name);
  if (style === 'label') return `.${list(parts, { explode, between: explode ? '.' : ',' }, encoded)}`;
  if (style !== 'matrix') return list(parts, { explode, between: ',' }, encoded);
  if (explode && parts.kind === 'members')
    return parts.members.map(([member, one]) => `;${encoded(member)}=${encoded(one)}`).join('');
  if (explode && parts.kind === 'items') return parts.items.map((one) => `;${key}=${encoded(one)}`).join('');
  const text = list(parts, { explode: false, between: ',' }, encoded);
  return text === '' ? `;${key}` : `;${key}=${text}`;
}

/** The pairs of a query parameter, or of a member of a form that says how it is written. */
export function inQuery({ name, form }: Pick<Parameter, 'name' | 'form'>, value: unknown): readonly Pair[] {
  const { style, explode } = form;
  const encode = form.allowReserved ? reserved : encoded;
  const key = encoded(name);
  if (style === 'json') return [[key, encode(exactJsonOf(value))]];
  const parts = partsOf(value);
  if (style === 'deepObject') return deepPairs(name, value, encode);
  if (explode && parts.kind === 'members')
    return parts.members.map(([member, one]) => [encoded(member), encode(one)]);
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
export function inHeader({ form }: Parameter, value: unknown): string {
  if (form.style === 'json') return exactJsonOf(value);
  return list(partsOf(value), { explode: form.explode, between: ',' }, (text) => text);
}

/** `filter[owner][name]=x`, as most servers read what the specification leaves open. */
function deepPairs(name: string, value: unknown, encode: Encode): readonly Pair[] {
  const members = exactMembers(value);
  if (members !== undefined)
    return members.flatMap(([key, one]) => deepPairs(`${name}[${key}]`, one, encode));
  if (Array.isArray(value)) return value.flatMap((one) => deepPairs(name, one, encode));
  return value === null ? [] : [[encoded(name), encode(exactText(value))]];
}

type Parts =
  | { readonly kind: 'one'; readonly text: string }
  | { readonly kind: 'items'; readonly items: readonly string[] }
  | { readonly kind: 'members'; readonly members: readonly (readonly [string, string])[] };

/** What is null within a list or an object is not sent (RFC 6570, section 2.3). */
function partsOf(value: unknown): Parts {
  if (Array.isArray(value))
    return { kind: 'items', items: value.filter((one) => one !== null).map(exactText) };
  const members = exactMembers(value);
  if (members === undefined) return { kind: 'one', text: exactText(value) };
  const given = members.filter(([, one]) => one !== null);
  return { kind: 'members', members: given.map(([key, one]) => [key, exactText(one)]) };
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

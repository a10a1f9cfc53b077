import { isMembers } from '../../../core/canonical-json.ts';
import { err, ok, type Result } from '../../../core/result.ts';

/** A value of a document. Its `$ref`s are relative to `at`, the URL of that document. */
export interface Located {
  readonly value: unknown;
  readonly at: string;
}

/** What a `$ref` leads to; `key` is the same for the same place, however it was written. */
export interface Target extends Located {
  readonly key: string;
}

/** The document with all that it refers to. */
export interface Documents {
  readonly root: Located;
  /** The error is a phrase that holds the reference. */
  find(reference: string, at: string): Result<Target, string>;
  /** The value itself, or what it refers to in the end. */
  follow(located: Located): Result<Located, string>;
}

/** What each URL brought: a value, or why there is none. */
export type Loaded = ReadonlyMap<string, Result<unknown, string>>;

/** Longest chain of references that mean anything. */
const MOST_HOPS = 50;

export function openDocuments(root: Located, loaded: Loaded): Documents {
  const found = new Map<string, Result<Target, string>>();
  const find = (reference: string, at: string, hops = MOST_HOPS): Result<Target, string> => {
    const key = absolute(reference, at);
    if (key === undefined) return err(`its $ref ${JSON.stringify(reference)} is no URL`);
    const known = found.get(key);
    if (known !== undefined) return known;
    const target = look(key, hops);
    const result = target.ok ? target : err(`its $ref ${JSON.stringify(reference)} ${target.error}`);
    if (hops === MOST_HOPS) found.set(key, result);
    return result;
  };
  const look = (key: string, hops: number): Result<Target, string> => {
    const hash = key.indexOf('#');
    const [url, pointer] = [key.slice(0, hash), key.slice(hash + 1)];
    const document = loaded.get(url);
    if (document === undefined) return err('leads nowhere');
    if (!document.ok) return err(`cannot be read: ${document.error}`);
    let here: Located = { value: document.value, at: url };
    if (pointer === '') return ok({ ...here, key });
    if (!pointer.startsWith('/')) return err('is no JSON pointer');
    for (const step of pointer.slice(1).split('/')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      let next = memberOf(here.value, name);
      if (next === undefined && refOf(here.value) !== undefined) {
        const through = follow(here, hops - 1);
        if (!through.ok) return err('leads nowhere');
        here = through.value;
        next = memberOf(here.value, name);
      }
      if (next === undefined) return err('leads nowhere');
      here = { value: next.value, at: here.at };
    }
    return ok({ ...here, key });
  };
  const follow = (located: Located, hops = MOST_HOPS): Result<Located, string> => {
    let here = located;
    for (let left = hops; left > 0; left -= 1) {
      const reference = refOf(here.value);
      if (reference === undefined) return ok(here);
      const target = find(reference, here.at, left);
      if (!target.ok) return target;
      here = target.value;
    }
    return err('a $ref of it leads back to itself');
  };
  return { root, find: (reference, at) => find(reference, at), follow: (located) => follow(located) };
}

export function refOf(value: unknown): string | undefined {
  if (!isMembers(value) || !Object.hasOwn(value, '$ref')) return undefined;
  const { $ref } = value;
  return typeof $ref === 'string' ? $ref : undefined;
}

/** A member that is its own, never one that all objects have. */
export function memberAt(located: Located, name: string): Located | undefined {
  const member = memberOf(located.value, name);
  return member === undefined ? undefined : { value: member.value, at: located.at };
}

function memberOf(value: unknown, name: string): { readonly value: unknown } | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const member: unknown = Reflect.get(value, name);
  return member === undefined ? undefined : { value: member };
}

/** `url#/a/b` with the pointer decoded (RFC 6901, section 6). */
function absolute(reference: string, at: string): string | undefined {
  const [path = '', ...rest] = reference.split('#');
  try {
    const pointer = decodeURIComponent(rest.join('#'));
    return `${path === '' ? at : withoutHash(new URL(path, at))}#${pointer}`;
  } catch {
    return undefined;
  }
}

export function withoutHash(url: URL): string {
  const bare = new URL(url);
  bare.hash = '';
  return bare.href;
}

import { isMembers } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ParseDocument } from './document-parser.ts';
import type { DocumentTexts, TextLimits } from './document-texts.ts';
import { removeHash } from './parse-document.ts';
import { parsePointer } from '@assay-mcp/kit/json-pointer';

export const MAX_DOCUMENT_BYTES: number = 32 * 1024 * 1024;
const MAX_OTHER_BYTES = 4 * 1024 * 1024;
const MAX_OTHER_DOCUMENTS = 100;
const AT_A_TIME = 8;

interface LoadedDocuments {
  readonly documents: Documents;
  /** Text by URL; undefined if it could not be read. */
  readonly texts: ReadonlyMap<string, string | undefined>;
}

/**
 * Loads the document and all documents that it refers to. A missing one does not fail the whole; whatever needs it
 * reports why. The error is a phrase about the document itself.
 */
export async function loadDocuments(
  texts: DocumentTexts,
  rootText: string,
  { parse, signal }: { readonly parse: ParseDocument; readonly signal: AbortSignal },
): Promise<Result<LoadedDocuments, string>> {
  const { root } = texts;
  const parsed = await parse(rootText, root, signal);
  if (!parsed.ok) return parsed;
  const { value: rootValue, others } = parsed.value;
  const loaded = new Map<string, Result<unknown, string>>([[root, ok(rootValue)]]);
  const seen = new Map<string, string | undefined>([[root, rootText]]);
  let bytesLeft = MAX_DOCUMENT_BYTES - rootText.length;
  const load = async ([url, namedAt]: Reference): Promise<readonly Reference[]> => {
    const maxBytes = Math.max(0, Math.min(MAX_OTHER_BYTES, bytesLeft));
    const text = await texts.read(url, { maxBytes, signal }, namedAt);
    seen.set(url, text.ok ? text.value : undefined);
    bytesLeft -= text.ok ? text.value.length : 0;
    const read = text.ok ? await parse(text.value, url, signal) : text;
    const value = read.ok ? ok(read.value.value) : read;
    loaded.set(url, bytesLeft < 0 ? err('it is too large, with all that the document refers to') : value);
    return read.ok ? referencesTo(read.value.others, url) : [];
  };
  let wanted = new Map(referencesTo(others, root));
  while (wanted.size > 0) {
    const batch = [...wanted].slice(0, AT_A_TIME);
    if (loaded.size + batch.length > MAX_OTHER_DOCUMENTS + 1) {
      for (const url of wanted.keys())
        loaded.set(url, err(`it is one of more than ${MAX_OTHER_DOCUMENTS} others`));
      break;
    }
    const found = await Promise.all(batch.map(load));
    // The first document that refers to another one counts as the one that named it.
    wanted = new Map([...found.flat(), ...wanted].filter(([url]) => !loaded.has(url)));
  }
  return ok({ documents: openDocuments({ value: rootValue, at: root }, loaded), texts: seen });
}

/** Whether all documents but the root are unchanged. */
export async function areUnchanged(
  texts: DocumentTexts,
  former: ReadonlyMap<string, string | undefined>,
  limits: TextLimits,
): Promise<boolean> {
  for (const [url, text] of former) {
    if (url === texts.root) continue;
    const now = await texts.read(url, { ...limits, maxBytes: MAX_OTHER_BYTES });
    if ((now.ok ? now.value : undefined) !== text) return false;
  }
  return true;
}

/** The URL of a document, and of the one that refers to it. */
type Reference = readonly [url: string, namedAt: string];

function referencesTo(others: readonly string[], namedAt: string): readonly Reference[] {
  return others.map((url) => [url, namedAt]);
}

/** A value of a document. Its `$ref`s are relative to `at`, the URL of that document. */
export interface Located {
  readonly value: unknown;
  readonly at: string;
}

/** Target of a `$ref`; `key` is the same for the same target, however the `$ref` is written. */
export interface Target extends Located {
  readonly key: string;
}

/** The document and all documents that it refers to. */
export interface Documents {
  readonly root: Located;
  /** The error is a phrase that quotes the reference. */
  find(reference: string, at: string): Result<Target, string>;
  /** The value itself, or its final target if it is a `$ref`. */
  follow(located: Located): Result<Located, string>;
}

/** Parsed document by URL, or why there is none. */
type Loaded = ReadonlyMap<string, Result<unknown, string>>;

/** Maximum length of a chain of references. */
const MAX_HOPS = 50;

function openDocuments(root: Located, loaded: Loaded): Documents {
  const found = new Map<string, Result<Target, string>>();
  const find = (reference: string, at: string, hops = MAX_HOPS): Result<Target, string> => {
    const key = absolute(reference, at);
    if (key === undefined) return err(`its $ref ${JSON.stringify(reference)} is not a URL`);
    const known = found.get(key);
    if (known !== undefined) return known;
    const target = look(key, hops);
    const result = target.ok ? target : err(`its $ref ${JSON.stringify(reference)} ${target.error}`);
    if (hops === MAX_HOPS) found.set(key, result);
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
    if (!pointer.startsWith('/')) return err('is not a JSON pointer');
    for (const name of parsePointer(pointer)) {
      let next = memberOf(here.value, name);
      if (next === undefined && getRef(here.value) !== undefined) {
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
  const follow = (located: Located, hops = MAX_HOPS): Result<Located, string> => {
    let here = located;
    for (let left = hops; left > 0; left -= 1) {
      const reference = getRef(here.value);
      if (reference === undefined) return ok(here);
      const target = find(reference, here.at, left);
      if (!target.ok) return target;
      here = target.value;
    }
    return err('a $ref of it leads back to itself');
  };
  return { root, find: (reference, at) => find(reference, at), follow: (located) => follow(located) };
}

export function getRef(value: unknown): string | undefined {
  if (!isMembers(value) || !Object.hasOwn(value, '$ref')) return undefined;
  const { $ref } = value;
  return typeof $ref === 'string' ? $ref : undefined;
}

/** An own member, never an inherited one. */
export function findMemberAt(located: Located, name: string): Located | undefined {
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
    return `${path === '' ? at : removeHash(new URL(path, at))}#${pointer}`;
  } catch {
    return undefined;
  }
}

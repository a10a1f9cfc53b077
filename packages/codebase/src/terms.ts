import { findDeclaredNames } from './declared-names.ts';
import type { SourceChunk } from './source-chunk.ts';
import { isStopWord } from './stop-words.ts';

/** The columns of `chunk_terms`: lower-case terms joined by spaces. FTS5 stems them. */
export interface IndexTerms {
  /** The whole symbol first, then its words. */
  readonly name: string;
  /** The words of the parent and of the path. */
  readonly context: string;
  /** The words of the signature, and the names declared inside the chunk, both whole and in words. */
  readonly signature: string;
  readonly body: string;
}

export interface QueryTerms {
  /** Words in the order of the query, each once, without stop words unless there are no others. */
  readonly words: readonly string[];
  /** Identifiers of several words, joined: `getuserbyid` for `getUserById` and `get_user_by_id`. */
  readonly compounds: readonly string[];
}

/** Increased when the terms of a text would change: the index is then rebuilt. */
export const TERMS_VERSION: number = 2;

const MAX_TERMS = { name: 64, context: 64, signature: 256, body: 4_000 } as const;
/** A longer term is cut, both in the index and in queries. */
const MAX_TERM_LENGTH = 64;
/** A longer run of letters and digits is data, not an identifier. */
const MAX_IDENTIFIER_LENGTH = 200;
/** Maximum length of scanned text. Needed because skipped text does not count towards the number of terms. */
const MAX_TEXT_LENGTH = 200_000;
const MAX_NAME_LENGTH = 1_000;
const MAX_QUERY_TERMS = 32;

/** The index terms of a chunk. `path` is relative to the repository. */
export function toIndexTerms(
  chunk: Pick<SourceChunk, 'kind' | 'symbol' | 'parent' | 'signature' | 'content'>,
  path: string,
): IndexTerms {
  const { kind, symbol, parent, signature, content } = chunk;
  const declared = findDeclaredNames(kind, content.slice(0, MAX_TEXT_LENGTH)).join(' ');
  const context = `${(parent ?? '').slice(0, MAX_NAME_LENGTH)} ${path.slice(-MAX_NAME_LENGTH).replace(EXTENSION, '')}`;
  return {
    name: nameTerms((symbol ?? '').slice(0, MAX_NAME_LENGTH))
      .slice(0, MAX_TERMS.name)
      .join(' '),
    context: termsIn(context, MAX_TERMS.context).join(' '),
    signature: termsIn(`${signature} ${declared}`, MAX_TERMS.signature).filter(isIndexed).join(' '),
    body: bodyTerms(content),
  };
}

/** The terms that a query is looked up by. */
export function parseQueryTerms(query: string): QueryTerms {
  const words = new Set<string>();
  const compounds = new Set<string>();
  for (const token of listTokens(query)) {
    const terms = termsOfToken(token);
    if (terms.compound !== undefined) compounds.add(terms.compound);
    for (const word of terms.words) words.add(word);
  }
  const telling = [...words].filter(isIndexed);
  return {
    words: (telling.length > 0 ? telling : [...words]).slice(0, MAX_QUERY_TERMS),
    compounds: [...compounds].slice(0, MAX_QUERY_TERMS),
  };
}

/** The terms of a text that every chunk containing the text has in its body. */
export function listIndexedTerms(text: string): readonly string[] {
  const terms = new Set(bodyTerms(text).split(' '));
  terms.delete('');
  return [...terms].slice(0, MAX_QUERY_TERMS);
}

/** One identifier as one term: lower case, without separators. Empty if the text has no letter or digit. */
export function toCompoundTerm(identifier: string): string {
  return identifier.toLowerCase().replace(SEPARATORS, '').slice(0, MAX_TERM_LENGTH);
}

/** The words of an identifier: `http`, `server` for `HTTPServer`. */
export function splitIdentifier(identifier: string): readonly string[] {
  const words: string[] = [];
  for (const part of identifier.split(SEPARATORS))
    for (const [word] of part.matchAll(WORD)) words.push(word.toLowerCase().slice(0, MAX_TERM_LENGTH));
  return words;
}

const EXTENSION = /[.][^./]*$/;
/** The tokens of the part of a text that is scanned. */
function listTokens(text: string): readonly string[] {
  const scanned = text.slice(0, MAX_TEXT_LENGTH);
  return scanned.match(NOT_ASCII.test(scanned) ? TOKEN : ASCII_TOKEN) ?? [];
}

// eslint-disable-next-line no-control-regex -- ASCII begins with them
const NOT_ASCII = /[^\u0000-\u007f]/;
/** The same as `TOKEN` in a text of ASCII, several times faster. */
const ASCII_TOKEN = /[A-Za-z0-9_$]+(?:-[A-Za-z0-9_$]+)*/g;
/** An identifier, also one with hyphens. */
const TOKEN = /[\p{L}\p{M}\p{N}_$]+(?:-[\p{L}\p{M}\p{N}_$]+)*/gu;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/gu;
/** `HTTP` before `Server`; `IDs`; `Server`, `server`; `HTTP`; digits; letters without case. */
const WORD =
  /\p{Lu}+(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))|\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+/gu;

interface TokenTerms {
  readonly words: readonly string[];
  /** Absent if there is only one word. */
  readonly compound?: string;
}

function nameTerms(symbol: string): readonly string[] {
  const compound = toCompoundTerm(symbol);
  return compound === '' ? [] : [...new Set([compound, ...splitIdentifier(symbol)])];
}

function termsIn(text: string, limit: number): readonly string[] {
  const terms: string[] = [];
  for (const token of listTokens(text)) {
    const { words, compound } = cachedTermsOf(token);
    terms.push(...words);
    if (compound !== undefined) terms.push(compound);
    if (terms.length >= limit) break;
  }
  return terms.slice(0, limit);
}

/** The terms of one token, joined, because most tokens of a repository occur in many chunks. */
const joinedTerms = new Map<string, string>();
const MAX_CACHED_TOKENS = 50_000;

/** Names, paths and signatures have the same tokens in many chunks of a file. */
const termsByToken = new Map<string, TokenTerms>();
const MAX_NAME_TOKENS = 5_000;

function cachedTermsOf(token: string): TokenTerms {
  const known = termsByToken.get(token);
  if (known !== undefined) return known;
  const copy = copyOf(token);
  const terms = termsOfToken(copy);
  if (termsByToken.size >= MAX_NAME_TOKENS) termsByToken.clear();
  if (token.length <= MAX_IDENTIFIER_LENGTH) termsByToken.set(copy, terms);
  return terms;
}

function bodyTerms(content: string): string {
  const terms: string[] = [];
  let count = 0;
  for (const token of listTokens(content)) {
    if (token.length > MAX_IDENTIFIER_LENGTH) continue;
    let joined = joinedTerms.get(token);
    if (joined === undefined) {
      const copy = copyOf(token);
      joined = joinedTermsOf(copy);
      if (joinedTerms.size >= MAX_CACHED_TOKENS) joinedTerms.clear();
      joinedTerms.set(copy, joined);
    }
    if (joined === '') continue;
    terms.push(joined);
    count += 1;
    if (count >= MAX_TERMS.body) break;
  }
  return terms.join(' ');
}

/** A copy: V8 would keep the whole text in memory for a slice of it, and a term may be such a slice. */
function copyOf(token: string): string {
  return Buffer.from(token).toString();
}

function joinedTermsOf(token: string): string {
  const { words, compound } = termsOfToken(token);
  return [...words.filter(isIndexed), ...(compound === undefined ? [] : [compound])].join(' ');
}

function isIndexed(term: string): boolean {
  return term.length > 1 ? !isStopWord(term) : (term.codePointAt(0) ?? 0) > LAST_LATIN;
}

/** A single letter is a word in other scripts. */
const LAST_LATIN = 0x24f;

function termsOfToken(token: string): TokenTerms {
  if (token.length > MAX_IDENTIFIER_LENGTH) return NO_TERMS;
  const segments = token.split('-');
  const words: string[] = [];
  for (const segment of segments) {
    const found = splitIdentifier(segment);
    if (isData(segment, found)) return NO_TERMS;
    words.push(...found);
    if (segments.length > 1 && found.length > 1) words.push(toCompoundTerm(segment));
  }
  return words.length < 2 ? { words } : { words, compound: toCompoundTerm(token) };
}

const NO_TERMS: TokenTerms = { words: [] };
const MIN_DATA_LENGTH = 24;
const MIN_WORD_LENGTH = 2.5;

/** Encoded bytes, such as base64, split into very short words. */
function isData(segment: string, words: readonly string[]): boolean {
  return segment.length >= MIN_DATA_LENGTH && segment.length < words.length * MIN_WORD_LENGTH;
}

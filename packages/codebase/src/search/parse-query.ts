import { isStopWord } from '../stop-words.ts';
import { toCompoundTerm, parseQueryTerms, splitIdentifier } from '../terms.ts';

/** An identifier of a query. */
export interface Identifier {
  /** The last name: `bar` of `Foo.bar`. */
  readonly name: string;
  /** The names before it, outermost first. */
  readonly qualifiers: readonly string[];
}

export interface FileQuery {
  readonly path: string;
  readonly line: number | undefined;
}

/** A query, parsed. No part of it is FTS5 syntax. */
export interface ParsedQuery {
  /** Terms for the ranked search. */
  readonly terms: readonly string[];
  /** The words among them. */
  readonly words: readonly string[];
  /** Their definitions come first. */
  readonly identifiers: readonly Identifier[];
  /** The kind of definition that the query begins with: `struct` in `struct redisCommand`. */
  readonly kindWord: string | undefined;
  /** The end of a path, if the query could be one, such as `evict.c` or `lib/evict.c:120`. */
  readonly file: FileQuery | undefined;
  /** Text to find exactly: quoted, or a query that is code. */
  readonly literals: readonly string[];
  /** A short query is a look-up: what it names comes first. A longer one is a description. */
  readonly isLookup: boolean;
  /** A query of one identifier also finds identifiers that contain it. */
  readonly isOneIdentifier: boolean;
  readonly asksForTests: boolean;
  /** Whether it asks for something other than functions. */
  readonly asksForTypes: boolean;
}

export const MAX_QUERY_LENGTH: number = 2_000;
const MAX_IDENTIFIERS = 8;
const MAX_LITERALS = 4;
const MIN_LITERAL_LENGTH = 3;
/** Longer code is searched by its terms. */
const MAX_CODE_LENGTH = 200;
const MAX_WORDS_OF_LOOKUP = 6;
/** Up to this many words may be an identifier written in words, such as "parse header". */
const MAX_WORDS_OF_IDENTIFIER = 4;

export function parseQuery(query: string): ParsedQuery {
  const text = query.slice(0, MAX_QUERY_LENGTH).trim();
  const { words, compounds } = parseQueryTerms(text);
  const quoted = [...text.matchAll(QUOTED)].map(([, double, back]) => double ?? back ?? '');
  const [, kindWord, defined] = DEFINITION.exec(text) ?? [];
  const bare = defined ?? text.replace(QUOTED, (whole) => whole.slice(1, -1));
  const path = PATH_LIKE.exec(bare);
  const paths = [...bare.matchAll(QUALIFIED)].map(([found]) => found);
  const isOne = paths.length === 1 && path !== null;
  const names = isOne ? paths : paths.filter((found) => isCode(found));
  const literals = isOne
    ? quoted
    : [...quoted, ...(bare.length <= MAX_CODE_LENGTH && isCodeText(bare) ? [bare] : [])];
  const joined = wordsAsName(bare);
  return {
    terms: [...new Set([...words, ...compounds, ...initialsIn(bare)])],
    words,
    identifiers: [...names.map(identifierOf), ...(isOne || joined === undefined ? [] : [joined])]
      .filter(({ name }) => toCompoundTerm(name) !== '')
      .slice(0, MAX_IDENTIFIERS),
    literals: [...new Set(literals)]
      .filter((literal) => literal.trim().length >= MIN_LITERAL_LENGTH)
      .slice(0, MAX_LITERALS),
    kindWord: kindWord?.toLowerCase(),
    file: parseFile(bare),
    isLookup: isOne || text.split(/\s+/).length <= MAX_WORDS_OF_LOOKUP || literals.includes(bare),
    isOneIdentifier: isOne,
    asksForTests: words.some((word) => ABOUT_TESTS.has(word)),
    asksForTypes: isOne || text.split(/\W+/).some((word) => ABOUT_TYPES.has(word.toLowerCase())),
  };
}

const ABOUT_TESTS = wordSet('test tests tested testing spec specs fixture fixtures mock mocks');
const ABOUT_TYPES = wordSet(
  'class classes interface interfaces struct structs trait traits enum enums type types constant constants const ' +
    'config configuration setting settings default defaults import imports export exports variable variables',
);

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** A keyword and the name that it defines. */
const DEFINITION =
  /^(struct|union|class|enum|interface|trait|type|module|object|function|func|fn|def|method|const)\s+([^\s"`]+)$/i;
const FILE = /^([^\s"`]{1,400}?)(?::(\d{1,7}))?(?::\d{1,7})?$/;

function parseFile(text: string): FileQuery | undefined {
  const [, path, line] = FILE.exec(text) ?? [];
  const trimmed = path?.replaceAll('\\', '/').replace(/^(?:[.]?\/)+/, '');
  if (trimmed === undefined || trimmed === '') return undefined;
  return { path: trimmed, line: line === undefined ? undefined : Number(line) };
}

const QUOTED = /"([^"\n]+)"|`([^`\n]+)`/g;
const NAME = '[\\p{L}_$@][\\p{L}\\p{M}\\p{N}_$]*';
/** Names joined as in Python and JavaScript, C++ and Rust, PHP and C, JSDoc and Ruby, with or without `()`. */
const QUALIFIED = new RegExp(`${NAME}(?:(?:[.]|::|->|#|[?][.])${NAME})*(?:[(][)])?[!?]?`, 'gu');
const PATH_LIKE = new RegExp(`^${NAME}(?:(?:[.]|::|->|#|[?][.])${NAME})*(?:[(][)])?[!?]?;?$`, 'u');
const JOINT = /[.]|::|->|#|[?][.]/;

function identifierOf(text: string): Identifier {
  const names = text
    .replace(/(?:[(][)])?[!?]?;?$/, '')
    .split(JOINT)
    .map((name) => name.replace(/^@/, ''))
    .filter((name) => name !== '');
  return { name: names.at(-1) ?? '', qualifiers: names.slice(0, -1) };
}

/** `getUser`, `get_user`, `a.b`, `get()`, `HTTPServer`, `utf8`: not a word of prose. "e.g." and "Node.js" are searched as both. */
function isCode(text: string): boolean {
  return /[_$]|[a-z0-9]\p{Lu}|\p{Lu}{2,}\p{Ll}|[.:>#]|[(][)]$|\p{L}\d/u.test(text);
}

/** Operators and calls such as `foo.bar(` or `x => x.id`, but not the punctuation of a sentence. */
function isCodeText(text: string): boolean {
  return /[\w$][([{]|[=<>!+*/&|^-]{2}|[;{}\]=]|[\w$]->|::\w/.test(text) && !/[\w$][(](?:s|es)[)]/.test(text);
}

/** Code often uses the initials of what a question spells out: `sse` for "server-sent events". */
function initialsIn(text: string): readonly string[] {
  const initials: string[] = [];
  for (const [phrase] of text.matchAll(PHRASE)) {
    const words = phrase.toLowerCase().split(/[ -]/);
    for (let at = 0; at + WORDS_OF_INITIALS <= words.length && initials.length < MAX_INITIALS; at += 1) {
      const found = words.slice(at, at + WORDS_OF_INITIALS);
      if (!found.some(isStopWord)) initials.push(found.map(([letter = '']) => letter).join(''));
    }
  }
  return initials;
}

const PHRASE = /\p{L}+(?:[ -]\p{L}+){2,}/gu;
const WORDS_OF_INITIALS = 3;
const MAX_INITIALS = 8;

/** "parse header" may mean `parseHeader` or `parse_header`. */
function wordsAsName(text: string): Identifier | undefined {
  const words = text.split(/\s+/);
  if (words.length < 2 || words.length > MAX_WORDS_OF_IDENTIFIER) return undefined;
  if (!words.every((word) => /^[\p{L}\p{M}\p{N}]+$/u.test(word) && splitIdentifier(word).length > 0))
    return undefined;
  return { name: words.join('_'), qualifiers: [] };
}

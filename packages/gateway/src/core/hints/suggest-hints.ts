import { HINTS, type DeclaredHints } from '@assay-mcp/kit/hint';
import { stemWord } from '@assay-mcp/kit/stem-word';
import { HARM, READ, REPEAT, WRITE, splitWords } from './telling-words.ts';

/** The reason of an override that an operator accepted from a suggestion. */
export const SUGGESTED = 'suggested by name';

/** A guess from texts that a server controls. It changes nothing until an operator accepts it. */
export interface SuggestedHints {
  readonly readOnlyHint: true;
}

export interface SuggestionBasis {
  /** The tool's name on its server. */
  readonly name: string;
  readonly serverName: string;
  /** Everything that its server says about it, parsed. */
  readonly definition: unknown;
  /** The hints shown in lists. */
  readonly emitted: DeclaredHints;
}

/**
 * Suggests that a tool without any hint only reads, if its name begins with a verb of reading and nothing in its name,
 * titles, description or schemas speaks of writing. Rather none than a wrong one: an accepted suggestion lowers caution.
 */
export function suggestHints(basis: SuggestionBasis): SuggestedHints | undefined {
  const { name, serverName, definition, emitted } = basis;
  if (HINTS.some((hint) => emitted[hint] !== undefined)) return undefined;
  const server = new Set(splitWords(serverName));
  const words = splitWords(name);
  // Many servers begin the names of their tools with their own name: `notion_search`.
  const first = words.find((word) => !server.has(word));
  if (first === undefined || !READ.has(first)) return undefined;
  const read = readTexts(definition);
  if (read === undefined) return undefined;
  const isWriting = [name, ...read.texts].some(speaksOfWriting) || read.keys.some(namesWriting);
  return isWriting ? undefined : { readOnlyHint: true };
}

/** Verbs beside those that lint knows. In a description they are often nouns; then the tool is only not suggested. */
const MORE_WRITING: ReadonlySet<string> = new Set(
  'add alter append apply approve archive assign ban block book buy cancel change charge clean clear close commit copy deploy disable dispatch email enable enqueue execute grant increment invite invoke launch lock mark merge migrate mutate mutation notify order overwrite pay press provision push reboot register reject release reopen replace reply reset restart restore revert rotate run schedule set share shutdown sign spawn sql start statement stop store submit subscribe swap sync toggle transfer trigger unlock unsubscribe upsert upgrade vote withdraw'.split(
    ' ',
  ),
);

/** Forms of these verbs that the stemmer does not know. */
const IRREGULAR: readonly string[] =
  'bought built hidden overwrote overwritten paid ran rewritten sent shut spent stolen thrown withdrew withdrawn written wrote'.split(
    ' ',
  );

/** The stem that has no other: of `altered` it is that of `alter`, which ends like `writer`. */
function reduceWord(word: string): string {
  const stem = stemWord(word);
  return stem === word ? word : reduceWord(stem);
}

function speaksOfWriting(text: string): boolean {
  // More of a text than is read could say anything.
  if (text.length > MAX_TEXT_LENGTH) return true;
  return splitWords(text).some((word) => WRITING_STEMS.has(reduceWord(word)));
}

/** `deletes`, `deleted`, `deleting` and `modifies` speak of it, too. */
const WRITING_STEMS: ReadonlySet<string> = new Set(
  [...HARM, ...WRITE, ...REPEAT, ...MORE_WRITING, ...IRREGULAR].map(reduceWord),
);

const MAX_TEXT_LENGTH = 10_000;

/** A property may be called `start_date` or `run_id`, where the word is a noun. */
function namesWriting(key: string): boolean {
  return speaksOfWriting(
    splitWords(key)
      .filter((word) => !NOUNS.has(word))
      .join(' '),
  );
}

const NOUNS: ReadonlySet<string> = new Set(
  'change commit issue merge order release run schedule set start stop store vote'.split(' '),
);

const MAX_TEXTS = 2_000;
const MAX_DEPTH = 32;

/** The keys and texts in a definition. Undefined if there are too many to read. */
function readTexts(
  definition: unknown,
): { readonly keys: readonly string[]; readonly texts: readonly string[] } | undefined {
  const keys: string[] = [];
  const texts: string[] = [];
  const read = (value: unknown, depth: number): boolean => {
    if (keys.length + texts.length > MAX_TEXTS || depth > MAX_DEPTH) return false;
    if (typeof value === 'string') texts.push(value);
    if (Array.isArray(value)) return value.every((item) => read(item, depth + 1));
    if (typeof value !== 'object' || value === null) return true;
    keys.push(...Object.keys(value));
    return Object.values(value).every((member) => read(member, depth + 1));
  };
  return read(definition, 0) ? { keys, texts } : undefined;
}

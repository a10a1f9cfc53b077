import { setImmediate as breathe } from 'node:timers/promises';
import type { Search, SearchDocument } from '../../gateway/ports/search.ts';

/** Documents indexed at once. */
const BATCH_SIZE = 50;
/** Terms this long also match longer terms that begin with them. */
const MIN_PREFIX_LENGTH = 4;
/** A match in the name says more than one in a long description. */
const BOOST = { name: 4, title: 2, description: 1, parameters: 0.5 } as const;

/** Ranks documents by the words that they share with a query (BM25). */
export async function buildWordSearch(documents: Iterable<SearchDocument>): Promise<Search> {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch<SearchDocument>({
    idField: 'key',
    fields: Object.keys(BOOST),
    tokenize: wordsOf,
    processTerm: (word) => (STOP_WORDS.has(word) ? null : stemOf(word)),
    searchOptions: {
      boost: BOOST,
      prefix: (term) => term.length >= MIN_PREFIX_LENGTH,
      weights: { prefix: 0.4, fuzzy: 0 },
    },
  });
  let indexed = 0;
  for (const document of documents) {
    index.add(document);
    indexed += 1;
    if (indexed % BATCH_SIZE === 0) await breathe();
  }
  return (query) => index.search(query).map(({ id }) => String(id));
}

/** Words in lower case; `createIssue`, `create_issue` and `create-issue` are the same two. */
function wordsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Words that say nothing about what a tool does. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and any are as at be by can do for from have how i in into is it its me my of on or our please some that the their them then there this to tool use used using want was we what when which will with you your'.split(
    ' ',
  ),
);

/** Cuts common English endings, so that "files", "listing" and "created" match "file", "list" and "create". */
function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return word
    .replace(/ies$/, 'y')
    .replace(/(s|x|z|ch|sh)es$/, '$1')
    .replace(/([^su])s$/, '$1')
    .replace(/(?<=[a-z]{3})(?:ing|ed)$/, '')
    .replace(/([bdgmnprt])\1$/, '$1')
    .replace(/(?<=[a-z]{3})e$/, '');
}

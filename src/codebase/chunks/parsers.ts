import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Language as Grammar, Parser, type Tree } from 'web-tree-sitter';
import { GRAMMARS, type ParsedLanguage } from './languages.ts';

/**
 * Work of a parse, in calls of the progress callback, each of which stands for 100 steps of the parser: what a large
 * file needs, many times over. Counted, because a limit in time would make the chunks depend on the machine's load.
 */
const MIN_CALLS = 2_000;
const CALLS_PER_CHARACTER = 0.25;

const require = createRequire(import.meta.url);
const parsers = new Map<string, Promise<Parser | undefined>>();
let runtime: Promise<void> | undefined;

/** Parses a text. Returns undefined if that takes too much work. The tree must be deleted. */
export async function parse(language: ParsedLanguage, text: string): Promise<Tree | undefined> {
  const parser = await parserOf(language);
  if (parser === undefined) return undefined;
  let calls = Math.max(MIN_CALLS, text.length * CALLS_PER_CHARACTER);
  const tree = parser.parse(text, null, { progressCallback: () => (calls -= 1) < 0 });
  if (tree === null) parser.reset();
  return tree ?? undefined;
}

/** Loaded once, when the first file in the language is parsed. */
function parserOf(language: ParsedLanguage): Promise<Parser | undefined> {
  const name = GRAMMARS[language];
  let parser = parsers.get(name);
  if (parser === undefined) {
    parser = load(name);
    parsers.set(name, parser);
  }
  return parser;
}

async function load(name: string): Promise<Parser> {
  await (runtime ??= Parser.init());
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm/package.json'));
  const grammar = await Grammar.load(join(folder, 'wasm', `tree-sitter-${name}.wasm`));
  return new Parser().setLanguage(grammar);
}

import { Language as Grammar, Parser, type Tree } from 'web-tree-sitter';
import { RUNTIME, readWasm, type ParserModules } from './compile-parsers.ts';
import { GRAMMARS, type ParsedLanguage } from './languages.ts';

/**
 * Limit of the work of a parse, in calls of the progress callback, each for 100 steps of the parser: 15 times what the
 * most demanding of 10,000 files needed. With only a time limit, the chunks of a large file would depend on the
 * machine's load.
 */
const MIN_CALLS = 2_000;
const CALLS_PER_CHARACTER = 0.25;
/** For text made to be hard to parse, where a single step may take milliseconds. Large files take a tenth of a second. */
const MAX_PARSE_MS = 5_000;

const parsers = new Map<string, Promise<Parser>>();
let modules: ParserModules = new Map();
let runtime: Promise<void> | undefined;

/**
 * Gives this thread the modules that are already compiled; others are compiled on demand. Call it before the first
 * parse.
 */
export function useModules(compiled: ParserModules): void {
  modules = compiled;
}

/** Parses a text. Returns undefined if that takes too much work. The tree must be deleted. */
export async function parse(
  language: ParsedLanguage,
  text: string,
  maxMs: number = MAX_PARSE_MS,
): Promise<Tree | undefined> {
  const parser = await parserOf(language);
  const endMs = performance.now() + maxMs;
  let calls = Math.max(MIN_CALLS, text.length * CALLS_PER_CHARACTER);
  const isEnough = (): boolean => (calls -= 1) < 0 || performance.now() > endMs;
  const tree = parser.parse(text, null, { progressCallback: isEnough });
  // Otherwise the next text would be taken for the rest of this one.
  if (tree === null) parser.reset();
  return tree ?? undefined;
}

/** Loaded once, when the first file in the language is parsed. */
function parserOf(language: ParsedLanguage): Promise<Parser> {
  const name = GRAMMARS[language];
  let parser = parsers.get(name);
  if (parser === undefined) {
    parser = load(name);
    parsers.set(name, parser);
  }
  return parser;
}

async function load(name: string): Promise<Parser> {
  await (runtime ??= startRuntime());
  return new Parser().setLanguage(Grammar.loadSync(await moduleOf(name)));
}

async function moduleOf(name: string): Promise<WebAssembly.Module> {
  return modules.get(name) ?? new WebAssembly.Module(await readWasm(name));
}

async function startRuntime(): Promise<void> {
  const module = await moduleOf(RUNTIME);
  await Parser.init({
    instantiateWasm: (imports: object, started: Started) => {
      const instance = new WebAssembly.Instance(module, imports);
      started(instance, module);
      return instance.exports;
    },
  });
}

type Started = (instance: WebAssembly.Instance, module: WebAssembly.Module) => void;

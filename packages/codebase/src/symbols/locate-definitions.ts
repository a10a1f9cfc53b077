import { DEFINING, type LocatedSymbol } from './outline-file.ts';
import type { Outliner } from './outliner.ts';
import type { IndexedDefinition } from './look-up-symbol.ts';

/** A definition as its file has it now, or as it was indexed if the file cannot be parsed. */
export interface LocatedDefinition {
  readonly indexed: IndexedDefinition;
  /** Undefined if it is not in the file any more, or was not looked for. */
  readonly symbol: LocatedSymbol | undefined;
}

/** Files that are parsed for one call. */
const MAX_FILES = 8;

/** Finds the exact lines of definitions, best first, by parsing the files of the first ones. */
export async function locateDefinitions(
  definitions: readonly IndexedDefinition[],
  { outliner, maxBytes }: { readonly outliner: Outliner; readonly maxBytes: number },
): Promise<readonly LocatedDefinition[]> {
  const byFile = Map.groupBy(definitions, ({ absolutePath }) => absolutePath);
  const located = await Promise.all(
    [...byFile].map(async ([absolutePath, inFile], index): Promise<readonly LocatedDefinition[]> => {
      const [first] = inFile;
      const outline =
        index < MAX_FILES && first !== undefined && first.facts.state !== 'missing'
          ? await outliner.outline({ absolutePath, maxBytes, name: first.name })
          : undefined;
      return outline?.outcome === 'outlined' ? match(inFile, outline.symbols) : inFile.map(asIndexed);
    }),
  );
  const all = located.flat();
  const isReal = ({ symbol, indexed }: LocatedDefinition): boolean =>
    symbol === undefined
      ? indexed.isWhole && !indexed.isGuess
      : !symbol.isLine || (indexed.isGuess ? DEFINING : KEYWORD).test(symbol.signature);
  const real = all.filter(isReal);
  const likely = real.length > 0 ? real : all.filter(({ indexed }) => !indexed.isGuess);
  return likely.sort(
    (one, other) =>
      Number(one.indexed.isTest) - Number(other.indexed.isTest) ||
      Number(one.symbol?.isLine ?? false) - Number(other.symbol?.isLine ?? false),
  );
}

/** A line such as `x = 1` may as well assign to a variable that is declared elsewhere. */
const KEYWORD = /\b(?:const|let|var|val|define|static|final|type|enum|readonly|macro_rules)\b/;

function asIndexed(indexed: IndexedDefinition): LocatedDefinition {
  return { indexed, symbol: undefined };
}

/** The symbols at the lines of the indexed chunks; in a changed file, all with this name. */
function match(
  inFile: readonly IndexedDefinition[],
  symbols: readonly LocatedSymbol[],
): readonly LocatedDefinition[] {
  const found = symbols.flatMap((symbol) => {
    const indexed = inFile.find(
      ({ startLine, endLine, facts }) =>
        facts.state === 'stale' || (symbol.start_line <= endLine && symbol.end_line >= startLine),
    );
    return indexed === undefined ? [] : [{ indexed, symbol }];
  });
  // The longest of several overloads is the one with the body; an `impl` is not where a type is defined.
  found.sort(
    ({ symbol: one }, { symbol: other }) =>
      Number(one.kind === 'impl') - Number(other.kind === 'impl') || countLines(other) - countLines(one),
  );
  return found.length > 0 ? found : inFile.map(asIndexed);
}

function countLines({ start_line: start, end_line: end }: LocatedSymbol): number {
  return end - start;
}

import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { locateDefinitions, type LocatedDefinition } from './locate-definitions.ts';
import type { SymbolLookUp, UsesOfFile } from './look-up-symbol.ts';
import type { Outliner } from './outliner.ts';
import type { Use } from './uses.ts';
import type { Place, SymbolAnswer, SymbolDefinition, SymbolUse, SymbolUses } from './symbol-answer.ts';
import { formatDefinition, formatFileUses } from './format-symbol.ts';

export interface FindSymbolOptions {
  readonly outliner: Outliner;
  /** Larger files are not parsed. */
  readonly maxFileBytes: number;
  readonly limit: number;
}

/** Bytes of the structured answer and of its text for each definition, file or test that may be listed. */
const JSON_BYTES = 560;
const TEXT_BYTES = 270;
const MIN_ENTRIES = 5;
const LINES_OF_FILE = 3;
/** Shares of the answer that definitions take at most, and that are kept for tests. */
const DEFINITIONS_SHARE = 0.5;
const TESTS_SHARE = 0.2;

/** Completes what the index knows with the exact lines of the definitions, within the size of an answer. */
export async function describeSymbol(
  found: SymbolLookUp,
  { outliner, maxFileBytes: maxBytes, limit }: FindSymbolOptions,
): Promise<SymbolAnswer> {
  const located = await locateDefinitions(found.definitions, { outliner, maxBytes });
  const missing = located.length > 0 ? null : (found.missing ?? null);
  const all = withoutDeclarations(found.uses, located);
  const removed = (isTest: boolean): Counts => subtract(found.uses, all, isTest);
  const [plain, tested] = [removed(false), removed(true)];
  const [uses, tests] = [all.filter((one) => !one.isTest), all.filter((one) => one.isTest)];
  const size = Math.max(limit, MIN_ENTRIES);
  const budget = new Budget(size * JSON_BYTES, size * TEXT_BYTES);
  budget.take([found.notes, missing], [...found.notes, JSON.stringify(missing ?? '')]);
  const definitions = pickDefinitions(located.slice(0, limit), budget);
  const kept = budget.reserve(tests.length === 0 ? 0 : TESTS_SHARE);
  const listedUses = pickUses(uses.slice(0, limit), budget);
  budget.release(kept);
  const listedTests = pickUses(tests.slice(0, limit), budget);
  const isAll = found.definitionCount <= found.definitions.length;
  const counts = {
    definition_count: isAll ? located.length : found.definitionCount,
    use_count: found.useCount - plain.lines,
    use_file_count: found.useFileCount - plain.files,
    test_use_count: found.testUseCount - tested.lines,
    test_file_count: found.testFileCount - tested.files,
  };
  return {
    symbol: found.name,
    definitions,
    uses: listedUses,
    tests: listedTests,
    ...counts,
    is_complete: found.areUsesComplete,
    truncated:
      definitions.length < counts.definition_count ||
      listedUses.length < counts.use_file_count ||
      listedTests.length < counts.test_file_count,
    notes: found.notes,
    missing,
  };
}

interface Counts {
  readonly lines: number;
  readonly files: number;
}

function subtract(before: readonly UsesOfFile[], after: readonly UsesOfFile[], isTest: boolean): Counts {
  const count = (some: readonly UsesOfFile[]): Counts => {
    const files = some.filter((one) => one.isTest === isTest);
    return { files: files.length, lines: files.reduce((sum, { uses }) => sum + uses.length, 0) };
  };
  const [all, left] = [count(before), count(after)];
  return { lines: all.lines - left.lines, files: all.files - left.files };
}

/** Without the lines that declare the symbol. */
function withoutDeclarations(
  files: readonly UsesOfFile[],
  located: readonly LocatedDefinition[],
): readonly UsesOfFile[] {
  const declaring = new Set(
    located.flatMap(({ indexed, symbol }) => {
      if (symbol === undefined) return [];
      const { code, name, code_line: first, declared_line: declared } = symbol;
      // Below annotations, the name is some lines further down.
      const row = first > declared ? 0 : code.split('\n').findIndex((line) => line.includes(name));
      return [`${indexed.fileId}:${declared + Math.max(0, row)}`];
    }),
  );
  return files
    .map((file) => ({
      ...file,
      uses: file.uses.filter(({ line }) => !declaring.has(`${file.fileId}:${line}`)),
    }))
    .filter(({ uses }) => uses.length > 0);
}

/** What is left of an answer's size. */
class Budget {
  readonly #json: number;
  readonly #text: number;
  /** The share of the answer that is used. */
  #used = 0;

  constructor(json: number, text: number) {
    this.#json = json;
    this.#text = text;
  }

  get used(): number {
    return this.#used;
  }

  reserve(share: number): number {
    this.#used += share;
    return share;
  }

  release(share: number): void {
    this.#used -= share;
  }

  /** Returns false, and takes nothing, if the entry does not fit below this share of the answer. */
  take(entry: object, text: readonly string[], upTo = 1): boolean {
    const json = Buffer.byteLength(JSON.stringify(entry)) + 1;
    const bytes = text.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const share = Math.max(json / this.#json, bytes / this.#text);
    if (this.#used + share > upTo) return false;
    this.#used += share;
    return true;
  }
}

function pickDefinitions(located: readonly LocatedDefinition[], budget: Budget): readonly SymbolDefinition[] {
  const picked: SymbolDefinition[] = [];
  for (const [index, one] of located.entries()) {
    const plain = toDefinition(one);
    const variants = [
      ...(index === 0 ? listShorterVariants(plain, one, located.length) : []),
      plain,
      { ...plain, doc: undefined },
      { ...plain, doc: undefined, signature: undefined },
    ].map(withoutUndefined);
    const isLast = index === 0 ? 1 : DEFINITIONS_SHARE;
    const fit = variants.find((entry) => budget.take(entry, formatDefinition(entry), isLast));
    if (fit === undefined) break;
    picked.push(fit);
  }
  return picked;
}

/** With its first lines, whole or fewer and fewer of them. */
function listShorterVariants(
  plain: SymbolDefinition,
  { symbol }: LocatedDefinition,
  definitions: number,
): readonly SymbolDefinition[] {
  if (symbol === undefined) return [];
  const { signature, ...rest } = plain;
  const isBelowDocstring = symbol.code_line > symbol.declared_line;
  const lines = symbol.code.split('\n');
  const fits = (code: string): boolean =>
    Buffer.byteLength(code) <= MAX_CODE_BYTES / Math.min(definitions, 2);
  const count = [...lines.keys()].findLast((row) => fits(lines.slice(0, row + 1).join('\n')));
  if (count === undefined) return [];
  return [count + 1, Math.min(count + 1, FEW_LINES)].map((some) => ({
    ...rest,
    ...(isBelowDocstring && { signature }),
    code: lines.slice(0, some).join('\n'),
    code_start_line: symbol.code_line,
  }));
}

const MAX_CODE_BYTES = 900;
const FEW_LINES = 6;

function toDefinition({ indexed, symbol }: LocatedDefinition): SymbolDefinition {
  const { name, kind, parent, startLine, endLine } = indexed;
  return {
    ...toPlace(indexed),
    start_line: symbol?.start_line ?? startLine,
    end_line: symbol?.end_line ?? endLine,
    kind: symbol?.kind ?? kind,
    symbol: name,
    parent: symbol === undefined ? parent : symbol.parent,
    ...(symbol !== undefined && { signature: symbol.signature }),
    ...(symbol !== undefined && symbol.doc !== '' && { doc: symbol.doc }),
  };
}

function toPlace({ path, facts }: { readonly path: string; readonly facts: UsesOfFile['facts'] }): Place {
  return withoutUndefined({ file_path: path, repository: facts.repository, state: facts.state });
}

function pickUses(files: readonly UsesOfFile[], budget: Budget): readonly SymbolUses[] {
  const picked: SymbolUses[] = [];
  for (const file of files) {
    const entry = [LINES_OF_FILE, 1]
      .map((count) => ({ ...toPlace(file), count: file.uses.length, lines: pickLines(file.uses, count) }))
      .find((one) => budget.take(one, formatFileUses(one)));
    if (entry === undefined) break;
    picked.push(entry);
  }
  return picked;
}

/** Calls first, imports last, in the order of the file. */
function pickLines(uses: readonly Use[], count: number): readonly SymbolUse[] {
  const weight = ({ isCall, isImport }: Use): number => (isImport ? 2 : isCall ? 0 : 1);
  return uses
    .toSorted((one, other) => weight(one) - weight(other))
    .slice(0, count)
    .sort((one, other) => one.line - other.line)
    .map(({ line, text, within }) => ({ line, text, ...(within !== null && { within }) }));
}

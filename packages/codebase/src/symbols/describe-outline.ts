import { formatCount } from '@assay-mcp/kit/counted';
import { findNearest } from '@assay-mcp/kit/nearest';
import { toPrintable } from '@assay-mcp/kit/printable';
import { shorten } from '@assay-mcp/kit/shorten';
import type { FoundFile } from './find-file.ts';
import type { LocatedSymbol } from './outline-file.ts';
import { MAX_SYMBOLS } from './outline-source.ts';
import { type SymbolName, withoutSigns } from './symbol-name.ts';
import type { OutlineOutcome } from './outliner.ts';

export interface OutlineEntry {
  readonly kind: string;
  readonly symbol: string;
  readonly parent: string | null;
  readonly start_line: number;
  readonly end_line: number;
  /** Absent if the outline would become too long. */
  readonly signature?: string;
  /** Number of symbols in it that are left out. */
  readonly members_omitted?: number;
}

export interface OutlineAnswer {
  readonly file_path: string;
  readonly repository?: string | undefined;
  readonly language: string | null;
  /** `unchanged`: the file is as indexed. The outline is that of the file now in each case. */
  readonly index_state: 'unchanged' | 'stale' | 'not_indexed';
  /** In the order of the file, each before its members. */
  readonly symbols: readonly OutlineEntry[];
  /** Number of symbols of the file, or of the symbol that was asked for, with itself. */
  readonly symbol_count: number;
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

export interface OutlineOptions {
  /** Only this symbol and its members. */
  readonly symbol: SymbolName | undefined;
  /** Maximum number of symbols. */
  readonly limit: number;
}

/** Bytes of the structured answer and of its text for each symbol that may be listed. */
const JSON_BYTES = 112;
const TEXT_BYTES = 56;
const MAX_SIGNATURE_LENGTH = 100;

/** The outline of a file within the size of an answer: first signatures are left out, then inner symbols. */
export function describeOutline(
  file: FoundFile,
  outline: OutlineOutcome,
  { symbol, limit }: OutlineOptions,
): OutlineAnswer {
  const isOutlined = outline?.outcome === 'outlined';
  const all = isOutlined ? outline.symbols : [];
  const chosen = symbol === undefined ? all : selectSymbol(all, symbol);
  const symbols = fit(chosen, limit);
  const state = file.facts.state === undefined ? 'unchanged' : 'stale';
  return {
    file_path: file.path,
    ...(file.facts.repository !== undefined && { repository: file.facts.repository }),
    language: isOutlined ? outline.language : null,
    index_state: file.isIndexed ? state : 'not_indexed',
    symbols,
    symbol_count: chosen.length,
    truncated: symbols.length < chosen.length || all.length >= MAX_SYMBOLS,
    notes: [
      ...describeFailure(outline),
      ...(symbol !== undefined && chosen.length === 0 && all.length > 0
        ? [describeMissing(all, symbol)]
        : []),
    ],
  };
}

/** The symbols with this name, with their members. */
function selectSymbol(all: readonly LocatedSymbol[], { name, qualifiers }: SymbolName): LocatedSymbol[] {
  const wanted = [...qualifiers, name].map(withoutSigns);
  let within: number | undefined;
  return all.filter(({ name: own, parent, depth }) => {
    if (within !== undefined && depth > within) return true;
    const path = [...(parent ?? '').split('.'), own].map(withoutSigns).slice(-wanted.length);
    const isWanted = path.join('.') === wanted.join('.');
    within = isWanted ? depth : undefined;
    return isWanted;
  });
}

function describeMissing(all: readonly LocatedSymbol[], { name }: SymbolName): string {
  const meant = findNearest(
    name,
    all.map((one) => one.name),
  );
  return `The file has no symbol ${name}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
}

function describeFailure(outline: OutlineOutcome): readonly string[] {
  if (outline === undefined) return ['The file could not be parsed in time. Read it, or use search_code.'];
  if (outline.outcome === 'unreadable')
    return [`The file cannot be read: ${REASONS[outline.reason] ?? outline.reason}.`];
  if (outline.language === 'text')
    return ['Files of this kind are not parsed. search_code finds text in them.'];
  return outline.isParsed ? [] : ['The file could not be parsed in time. Read it, or use search_code.'];
}

const REASONS: Readonly<Record<string, string>> = {
  too_large: 'it is larger than the files that are indexed',
  binary: 'it is binary',
  symlink: 'it is, or is below, a symbolic link',
  changing: 'it is being written to',
  unreadable: 'it is gone, or permission is denied',
};

function fit(symbols: readonly LocatedSymbol[], limit: number): readonly OutlineEntry[] {
  const least = symbols.reduce((depth, one) => Math.min(depth, one.depth), Infinity);
  const deepest = symbols.reduce((depth, one) => Math.max(depth, one.depth), 0);
  for (let depth = deepest; depth >= least; depth -= 1)
    for (const withSignature of [true, false]) {
      const entries = toEntries(symbols, { depth, withSignature });
      if (entries.length <= limit && isSmall(entries, limit)) return entries;
    }
  const entries = toEntries(symbols, { depth: least, withSignature: false }).slice(0, limit);
  while (entries.length > 1 && !isSmall(entries, limit)) entries.pop();
  return entries;
}

function isSmall(entries: readonly OutlineEntry[], limit: number): boolean {
  const json = Buffer.byteLength(JSON.stringify(entries));
  const text = entries.reduce((sum, entry) => sum + Buffer.byteLength(formatEntry(entry)) + 1, 0);
  const size = Math.max(limit, MIN_ENTRIES);
  return json <= size * JSON_BYTES && text <= size * TEXT_BYTES;
}

const MIN_ENTRIES = 25;

function toEntries(
  symbols: readonly LocatedSymbol[],
  { depth, withSignature }: { readonly depth: number; readonly withSignature: boolean },
): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  for (const one of symbols) {
    const last = entries.at(-1);
    if (one.depth > depth && last !== undefined)
      entries[entries.length - 1] = { ...last, members_omitted: (last.members_omitted ?? 0) + 1 };
    else entries.push(toEntry(one, withSignature));
  }
  return entries;
}

function toEntry(
  { kind, name, parent, signature, start_line, end_line }: LocatedSymbol,
  withSignature: boolean,
): OutlineEntry {
  return {
    ...{ kind, symbol: name, parent, start_line, end_line },
    ...(withSignature && { signature: shorten(signature, MAX_SIGNATURE_LENGTH) }),
  };
}

/** The outline as text for models: a line for each symbol, indented below the one that it is in. */
export function formatOutline(answer: OutlineAnswer): string {
  const { file_path: path, repository, language, symbols, symbol_count: count, notes } = answer;
  const where = toPrintable(repository === undefined ? path : `${repository}: ${path}`);
  const omitted = symbols.reduce((sum, one) => sum + (one.members_omitted ?? 0), 0);
  const left = count - symbols.length - omitted;
  const last = symbols.at(-1);
  return [
    `${where} (${language ?? 'unknown language'}): ${formatCount(count, 'symbol')}.${STATES[answer.index_state]}`,
    ...notes.map(toPrintable),
    ...symbols.map(formatEntry),
    ...(last !== undefined && last.signature === undefined
      ? ['Signatures are left out; raise limit, or pass symbol.']
      : []),
    ...(left > 0 && last !== undefined
      ? [`and ${formatCount(left, 'more symbol')} after line ${last.end_line}`]
      : []),
  ].join('\n');
}

const STATES = {
  unchanged: '',
  stale: ' The file has changed since it was indexed; these are its lines now.',
  not_indexed: ' The file is not in the index.',
} as const;

function formatEntry(entry: OutlineEntry): string {
  const {
    start_line: start,
    end_line: end,
    kind,
    symbol,
    parent,
    signature,
    members_omitted: omitted,
  } = entry;
  const indent = '  '.repeat(parent === null ? 0 : parent.split('.').length);
  const shown = signature ?? symbol;
  const label = KEYWORD.test(shown) ? shown : `${kind} ${shown}`;
  const more = omitted === undefined ? '' : `  (${formatCount(omitted, 'member')})`;
  return `${indent}${start}-${end} ${toPrintable(label)}${more}`;
}

/** What tells a reader the kind of a declaration. */
const KEYWORD =
  /^(?:(?:export|default|declare|async|pub(?:\([^)]*\))?|public|private|protected|static|abstract|final|unsafe)\s+)*(?:class|interface|struct|enum|trait|type|module|function|func|fn|def|const|impl|#define)\b/;

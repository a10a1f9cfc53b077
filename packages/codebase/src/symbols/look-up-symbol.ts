import { join } from 'node:path';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { type Candidate, type Candidates, getCandidates } from '../search/candidates.ts';
import type { Definition } from '../search/definitions.ts';
import { type FileFacts, FileFactsReader } from '../search/file-facts.ts';
import { findDeclaredNames } from '../declared-names.ts';
import { explainMissing, type MissingSymbol } from './missing-symbol.ts';
import { getParent, selectDefinitions, type Selection } from './select-definitions.ts';
import type { SymbolRequest } from './symbol-name.ts';
import { type FileUses, findUses, type FoundUses } from './uses.ts';

/** A definition as the index has it. */
export interface IndexedDefinition {
  readonly fileId: number;
  readonly name: string;
  /** A `ChunkKind`, or `member` if only the class around it is known. */
  readonly kind: string;
  readonly parent: string | null;
  readonly path: string;
  readonly absolutePath: string;
  readonly isTest: boolean;
  readonly startLine: number;
  readonly endLine: number;
  /** Whether the chunk is the symbol, rather than one that declares it among others. */
  readonly isWhole: boolean;
  /** Whether a line only looks like a definition, so that it counts only if parsing the file confirms it. */
  readonly isGuess: boolean;
  readonly facts: FileFacts;
}

export interface UsesOfFile extends FileUses {
  readonly facts: FileFacts;
}

/** What an index knows of a symbol. */
export interface SymbolLookUp {
  /** As it is spelled in code. */
  readonly name: string;
  /** Best first, some more than are listed, and guesses if there are none outside of tests. */
  readonly definitions: readonly IndexedDefinition[];
  readonly definitionCount: number;
  readonly uses: readonly UsesOfFile[];
  readonly useCount: number;
  readonly testUseCount: number;
  readonly areUsesComplete: boolean;
  readonly useFileCount: number;
  readonly testFileCount: number;
  readonly notes: readonly string[];
  /** Present if the index has no definition. */
  readonly missing: MissingSymbol | undefined;
}

/** Reads only. */
export function lookUpSymbol(database: Database, request: SymbolRequest): SymbolLookUp {
  const { symbol, limit } = request;
  const candidates = getCandidates(database);
  const facts = new FileFactsReader(candidates);
  const chosen = selectDefinitions(candidates, request);
  const found = resolveSpelling(chosen, candidates, request);
  const { uses, definitions, guesses, name, notes } = found;
  const [tests, others] = [true, false].map((isTest) => uses.files.filter((file) => file.isTest === isTest));
  const listed = [...(others ?? []).slice(0, limit + EXTRA), ...(tests ?? []).slice(0, limit + EXTRA)];
  const isUsed = uses.files.length > 0;
  return {
    name,
    definitions: [...definitions, ...guesses]
      .slice(0, limit + EXTRA)
      .map((one) => toIndexed(one, { candidates, facts })),
    definitionCount: definitions.length,
    uses: listed.map((file) => ({ ...file, facts: facts.of(file.fileId) })),
    ...countUses(uses.files),
    areUsesComplete: uses.isComplete,
    notes,
    missing:
      definitions.length > 0
        ? undefined
        : explainMissing(database, candidates, { ...request, symbol: { ...symbol, name }, isUsed }),
  };
}

interface ResolvedSymbol extends Pick<Selection, 'definitions' | 'notes'> {
  readonly name: string;
  readonly uses: FoundUses;
  /** Lines that look like definitions, if there is no definition outside of tests. */
  readonly guesses: readonly Definition[];
}

/** If code has the name as it was asked for, a definition that is spelled otherwise is another symbol. */
function resolveSpelling(chosen: Selection, candidates: Candidates, request: SymbolRequest): ResolvedSymbol {
  const { symbol } = request;
  const [first] = chosen.definitions;
  const none = { named: [], definitions: [], isExact: true };
  if (first !== undefined && !chosen.isExact) {
    const notes = [`Similar name: ${first.name} (${first.candidate.path}).`];
    const asAsked = findSpelled({ ...none, notes }, candidates, request);
    if (asAsked.uses.files.length > 0) return asAsked;
    const note = `No symbol is spelled ${symbol.name}. Similar name: ${first.name} (${first.candidate.path}).`;
    return findSpelled({ ...chosen, notes: [note, ...chosen.notes] }, candidates, request);
  }
  return findSpelled(chosen, candidates, request);
}

function findSpelled(
  { named, definitions, notes }: Selection,
  candidates: Candidates,
  request: SymbolRequest,
): ResolvedSymbol {
  const { symbol } = request;
  const [first] = definitions;
  const name = (first?.name ?? symbol.name).replace(/=$/, '');
  const uses = findUses(candidates, request, {
    name,
    owner: symbol.qualifiers.at(-1) ?? first?.candidate.parent?.split('.').at(-1),
    language: first?.candidate.language,
    isMethod: first !== undefined && isMethod(first, candidates),
    definingChunks: new Set(named.map(({ candidate }) => candidate.id)),
  });
  const isDefined = definitions.some(({ candidate }) => !candidate.isTest);
  const guesses = isDefined ? [] : candidates.byIds(uses.declaringChunks, request).map(toGuess(name));
  return { name, uses, definitions, guesses, notes };
}

/** A definition that the index does not tell; parsing its file will. */
function toGuess(name: string): (candidate: Candidate) => Definition {
  return (candidate) => ({ candidate, name, fit: GUESSED_FIT });
}

/** Below that of every definition of the index. */
const GUESSED_FIT = 0;

/** A small class is one chunk, with its methods. */
function isMethod({ candidate, name }: Definition, candidates: Candidates): boolean {
  if (candidate.symbol === name) return candidate.kind === 'method';
  if (candidate.symbol === null) return false;
  const lines = candidates.contentOf(candidate.id).split('\n');
  return lines.some((line) => line.includes(`${name}(`) && findDeclaredNames('block', line).includes(name));
}

/** Some turn out to be no definitions, and some uses to be declarations. */
const EXTRA = 5;

function countUses(
  files: readonly FileUses[],
): Pick<SymbolLookUp, 'useCount' | 'testUseCount' | 'useFileCount' | 'testFileCount'> {
  const [tests, others] = [files.filter(({ isTest }) => isTest), files.filter(({ isTest }) => !isTest)];
  const sum = (some: readonly FileUses[]): number => some.reduce((total, { uses }) => total + uses.length, 0);
  return {
    useCount: sum(others),
    testUseCount: sum(tests),
    useFileCount: others.length,
    testFileCount: tests.length,
  };
}

function toIndexed(
  { candidate, name, fit }: Definition,
  { candidates, facts }: { readonly candidates: Candidates; readonly facts: FileFactsReader },
): IndexedDefinition {
  const { path, isTest, startLine, endLine, symbol, fileId } = candidate;
  const isWhole = symbol === name;
  const row = candidates
    .statement(
      'SELECT r.path AS root FROM files f JOIN repositories r ON r.id = f.repository_id WHERE f.id = ?',
    )
    .get(fileId) as { readonly root: string };
  return {
    ...{ fileId, name, path, isTest, startLine, endLine, isWhole },
    isGuess: fit === GUESSED_FIT,
    kind: isWhole ? candidate.kind : symbol === null ? 'constant' : 'member',
    parent: getParent(candidate, name),
    absolutePath: join(row.root, path),
    facts: facts.of(fileId),
  };
}

import type { Candidate, Candidates } from '../search/candidates.ts';
import { type Definition, findDefinitions, hasQualifiers } from '../search/definitions.ts';
import { type SymbolName, type SymbolRequest, withoutSigns } from './symbol-name.ts';
import { isDocument } from './uses.ts';

/** The definitions that a name stands for. */
export interface Selection {
  /** Those spelled as asked for, or else nearly. */
  readonly named: readonly Definition[];
  /** Those of them in the place asked for, or else all. */
  readonly definitions: readonly Definition[];
  readonly notes: readonly string[];
  /** False if none is spelled as asked for. */
  readonly isExact: boolean;
}

/** Reads the definitions of a name from the index, best first. */
export function selectDefinitions(candidates: Candidates, request: SymbolRequest): Selection {
  const { symbol } = request;
  const found = findDefinitions(symbol, candidates, request, symbol.kindWord);
  return select(sortDefinitions(found).map(withAskedSigns(symbol, candidates)), symbol);
}

/** Each chunk once, best first. */
function sortDefinitions(found: readonly Definition[]): readonly Definition[] {
  const best = new Map<number, Definition>();
  for (const one of found)
    if (!isDocument(one.candidate) && one.fit > (best.get(one.candidate.id)?.fit ?? 0))
      best.set(one.candidate.id, one);
  return [...best.values()].sort(
    (one, other) =>
      other.fit - one.fit ||
      Number(isSecondary(one)) - Number(isSecondary(other)) ||
      one.candidate.path.length - other.candidate.path.length ||
      (one.candidate.path < other.candidate.path ? -1 : 1) ||
      one.candidate.startLine - other.candidate.startLine,
  );
}

/** An `impl` of Rust has the name of its type; text that is not parsed only looks like a definition. */
function isSecondary({ candidate: { language, kind } }: Definition): boolean {
  return language === 'text' || (language === 'rust' && kind === 'class');
}

/** The names that a class declares are read without signs, so that `valid?` is `valid`. */
function withAskedSigns(
  { name }: SymbolName,
  candidates: Candidates,
): (definition: Definition) => Definition {
  const bare = withoutSigns(name);
  return (one) =>
    one.name === bare && bare !== name && one.candidate.symbol !== bare
      ? { ...one, name: candidates.contentOf(one.candidate.id).includes(name) ? name : bare }
      : one;
}

function select(found: readonly Definition[], { name, qualifiers }: SymbolName): Selection {
  const same = found.filter((one) => one.name === name);
  const exact = same.length > 0 ? same : found.filter((one) => withoutSigns(one.name) === withoutSigns(name));
  const named = exact.length > 0 ? exact : found;
  const [first] = named;
  const isExact = exact.length > 0;
  const notes: string[] = [];
  if (first === undefined || qualifiers.length === 0) return { named, definitions: named, notes, isExact };
  const placed = named.filter((one) => hasQualifiers(one.candidate, one.name, qualifiers));
  if (placed.length === 0)
    notes.push(`No ${first.name} in ${qualifiers.join('.')}; showing other definitions named ${first.name}.`);
  else if (placed.length < named.length) notes.push(describeOthers(named, placed));
  return { named, definitions: placed.length > 0 ? placed : named, notes, isExact };
}

function describeOthers(named: readonly Definition[], placed: readonly Definition[]): string {
  const others = named.filter((one) => !placed.includes(one));
  const names = new Set(
    others.map(({ candidate, name }) => {
      const parent = getParent(candidate, name);
      return `${parent === null ? '' : `${parent}.`}${name} (${candidate.path})`;
    }),
  );
  const shown = [...names].slice(0, MAX_OTHERS).join(', ');
  return `Other symbols with this name; the listed uses may refer to any of them: ${shown}${names.size > MAX_OTHERS ? ', …' : ''}.`;
}

const MAX_OTHERS = 3;

/** A chunk that only declares the name is what is around it. */
export function getParent({ parent, symbol }: Candidate, name: string): string | null {
  if (symbol === null || symbol === name) return parent;
  return parent === null ? symbol : `${parent}.${symbol}`;
}

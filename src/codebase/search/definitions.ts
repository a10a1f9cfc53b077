import type { FileFilter } from '../file-filter.ts';
import { compoundOf, wordsOf } from '../terms.ts';
import { allOf, type Candidate, type Candidates, quoted } from './candidates.ts';
import type { Identifier } from './parse-query.ts';

/** A name such as `get` may have thousands of definitions. */
const MAX_DEFINITIONS = 400;
const MAX_SCANNED = 60;

/** The chunks that define an identifier, however it is spelled: `parse_header` also finds `parseHeader`. */
export function definitionsOf(
  identifier: Identifier,
  candidates: Candidates,
  filter: FileFilter,
): readonly Candidate[] {
  const compound = compoundOf(identifier.name);
  if (compound === '') return [];
  // The column starts with the whole symbol.
  const named = `(name : ^ ${quoted(compound)})`;
  const context = [...new Set(identifier.qualifiers.flatMap(wordsOf))];
  const inContext =
    context.length === 0
      ? []
      : candidates.matching(`${named} AND (context : (${allOf(context)}))`, filter, MAX_DEFINITIONS);
  const found = [...inContext, ...candidates.matching(named, filter, MAX_DEFINITIONS)];
  return found.filter((candidate) => isDefinition(candidate, identifier));
}

export function isDefinition({ symbol }: Candidate, { name }: Identifier): boolean {
  return symbol !== null && (symbol === name || compoundOf(symbol) === compoundOf(name));
}

/** How well a definition fits: the qualifiers first, then the spelling, then code that is no test. At least 1. */
export function definitionRank(candidate: Candidate, { name, qualifiers }: Identifier): number {
  const isQualified = qualifiers.length > 0 && hasQualifiers(candidate, qualifiers);
  return 1 + (isQualified ? 4 : 0) + (candidate.symbol === name ? 2 : 0) + (candidate.isTest ? 0 : 1);
}

/** The innermost parents, or the end of the path: `Server.close` is in a class or a module `server`. */
function hasQualifiers({ parent, path }: Candidate, qualifiers: readonly string[]): boolean {
  const wanted = qualifiers.map(compoundOf);
  const place = [...path.replace(/[.][^./]*$/, '').split('/'), ...(parent ?? '').split('.')]
    .map(compoundOf)
    .filter((name) => name !== '');
  return wanted.every((name, index) => place.at(index - wanted.length) === name);
}

/** The chunks that assign or declare an identifier without being named after it, such as a block with `NAME = 1`. */
export function declarationsOf(
  { name }: Identifier,
  candidates: Candidates,
  filter: FileFilter,
): readonly Candidate[] {
  const declares = declarationOf(name);
  return candidates
    .ranked(quoted(compoundOf(name)), filter, MAX_SCANNED)
    .filter(({ id }) => declares.test(candidates.contentOf(id)));
}

function declarationOf(name: string): RegExp {
  const escaped = name.replace(/[$]/g, '\\$&');
  const keyword =
    '(?:const|let|var|val|def|class|function|func|fn|type|enum|struct|interface|trait|mod|define|static)';
  return new RegExp(`\\b${keyword}\\s+${escaped}(?![\\w$])|(?<![\\w$])${escaped}\\s*(?::=|=(?![=>])|:(?!:))`);
}

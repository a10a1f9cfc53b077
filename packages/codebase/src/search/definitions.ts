import { findDeclaredNames } from '../declared-names.ts';
import type { FileFilter } from '../file-filter.ts';
import { toCompoundTerm, splitIdentifier } from '../terms.ts';
import { joinWithAnd, type Candidate, type Candidates, quoteTerm } from './candidates.ts';
import type { Identifier } from './parse-query.ts';
import { isVendored } from './path-factor.ts';

/** A chunk that defines an identifier of the query. */
export interface Definition {
  readonly candidate: Candidate;
  readonly name: string;
  /** Larger is better, at least 1. */
  readonly fit: number;
}

/** A name such as `get` may have thousands of definitions. */
const MAX_DEFINITIONS = 400;
/** Maximum number of classes and blocks that are read to see whether they declare a name. */
const MAX_READ = 40;

/** The chunks that define an identifier, however it is spelled: `parse_header` also finds `parseHeader`. */
export function findDefinitions(
  identifier: Identifier,
  candidates: Candidates,
  filter: FileFilter,
  kindWord?: string,
): readonly Definition[] {
  const compound = toCompoundTerm(identifier.name);
  if (compound === '') return [];
  // The column starts with the whole symbol.
  const named = `(name : ^ ${quoteTerm(compound)})`;
  const context = [...new Set(identifier.qualifiers.flatMap(splitIdentifier))];
  const within = context.length === 0 ? undefined : joinWithAnd(context);
  const symbols = [
    ...(within === undefined
      ? []
      : candidates.matching(`${named} AND (context : (${within}))`, filter, MAX_DEFINITIONS)),
    ...candidates.matching(named, filter, MAX_DEFINITIONS),
  ].filter(({ symbol }) => symbol !== null && toCompoundTerm(symbol) === compound);
  // A class or a block that is indexed as one chunk.
  const declares = `(signature : ${quoteTerm(compound)})`;
  const containers = [
    ...(within === undefined
      ? []
      : candidates.ranked(`${declares} AND ({name context} : (${within}))`, filter, MAX_READ)),
    ...candidates.ranked(declares, filter, MAX_READ),
  ].flatMap((candidate) => {
    const declared = findDeclaredNames(candidate.kind, candidates.contentOf(candidate.id));
    const name =
      declared.find((one) => one === identifier.name) ??
      declared.find((one) => toCompoundTerm(one) === compound);
    return name === undefined
      ? []
      : [{ candidate, name, fit: rateFit(candidate, name, { identifier, kindWord }) }];
  });
  return [
    ...symbols.map((candidate) => {
      const name = candidate.symbol ?? '';
      return { candidate, name, fit: 2 + rateFit(candidate, name, { identifier, kindWord }) };
    }),
    ...containers,
  ];
}

interface Asked {
  readonly identifier: Identifier;
  readonly kindWord: string | undefined;
}

/** The qualifiers first, then the spelling, then the repository's own code outside of tests, then the kind, then the top level. */
function rateFit(candidate: Candidate, name: string, { identifier, kindWord }: Asked): number {
  const { qualifiers } = identifier;
  const isQualified = qualifiers.length > 0 && hasQualifiers(candidate, name, qualifiers);
  const isPlain = qualifiers.length === 0 && candidate.parent === null;
  // `Tensor.rank` is in the class `Tensor`, rather than in the module `tensor`.
  const isInParent = qualifiers.length > 0 && candidate.parent?.split('.').at(-1) === qualifiers.at(-1);
  return (
    1 +
    (isQualified ? 16 : 0) +
    (name === identifier.name ? 8 : 0) +
    (candidate.isTest || isVendored(candidate.path) ? 0 : 4) +
    (candidate.kind === kindWord ? 2 : 0) +
    (isPlain ? 1 : 0) +
    (isInParent ? 1 : 0)
  );
}

/** The innermost parents, or the end of the path: `Server.close` is in a class or a module `server`. */
export function hasQualifiers(candidate: Candidate, name: string, qualifiers: readonly string[]): boolean {
  const { parent, path, symbol } = candidate;
  const own = symbol === null || symbol === name ? [] : [symbol];
  const location = [...path.replace(/[.][^./]*$/, '').split('/'), ...(parent ?? '').split('.'), ...own]
    .map(toCompoundTerm)
    .filter((part) => part !== '');
  return qualifiers.every(
    (qualifier, index) => location.at(index - qualifiers.length) === toCompoundTerm(qualifier),
  );
}

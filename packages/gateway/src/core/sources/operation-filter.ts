import { matchesGlob } from '../tool-filter.ts';

/**
 * Which operations of an OpenAPI document become tools. A pattern is `tag:NAME`, a path, or a method and a path; `*`
 * stands for any characters: `tag:pets`, `/pets/*`, `DELETE /*`.
 */
export interface OperationFilter {
  /** Undefined includes all. */
  readonly include?: readonly string[] | undefined;
  /** Takes precedence over `include`. */
  readonly exclude?: readonly string[] | undefined;
}

export interface FilteredOperation {
  /** In upper case. */
  readonly method: string;
  /** Path template, as written in the document. */
  readonly path: string;
  readonly tags: readonly string[];
}

export function selectsOperation(
  { include, exclude }: OperationFilter,
  operation: FilteredOperation,
): boolean {
  const isNamed = (patterns: readonly string[]): boolean =>
    patterns.some((one) => matchesOperation(one, operation));
  return (include === undefined || isNamed(include)) && (exclude === undefined || !isNamed(exclude));
}

/** Patterns that match none of these operations, perhaps because they are misspelt. */
export function findUnusedOperationPatterns(
  { include = [], exclude = [] }: OperationFilter,
  operations: readonly FilteredOperation[],
): readonly string[] {
  return [...include, ...exclude].filter((one) => !operations.some((each) => matchesOperation(one, each)));
}

const TAG = 'tag:';
const METHOD_AND_PATH = /^([A-Za-z]+) +(\/.*)$/;

export function isOperationPattern(text: string): boolean {
  return (
    text.startsWith('/') || METHOD_AND_PATH.test(text) || (text.startsWith(TAG) && text.length > TAG.length)
  );
}

function matchesOperation(pattern: string, { method, path, tags }: FilteredOperation): boolean {
  if (pattern.startsWith(TAG)) return tags.some((tag) => matchesGlob(pattern.slice(TAG.length), tag));
  const [, wanted, glob = pattern] = METHOD_AND_PATH.exec(pattern) ?? [];
  return (wanted === undefined || wanted.toUpperCase() === method) && matchesGlob(glob, path);
}

import { addFault } from '@assay-mcp/kit/json-position';
import {
  described,
  list,
  object,
  optional,
  type Reader,
  getSchema,
  textUpTo,
  withSchema,
} from '@assay-mcp/kit/json-reader';

const MAX_PATTERNS = 1_000;
const MAX_PATTERN_LENGTH = 200;

type Lists<K extends string> = Readonly<Partial<Record<K, readonly string[]>>>;

/** A list of patterns; each may have to pass a further check. */
export function patternList(fault?: (pattern: string) => string | undefined): Reader<readonly string[]> {
  return list(textUpTo(MAX_PATTERN_LENGTH, fault), { max: MAX_PATTERNS, of: 'patterns' });
}

/** An object of lists of patterns under these two names, at least one of them. */
export function readPatternLists<K extends string>(
  names: readonly [taken: K, left: K],
  one: Reader<readonly string[]>,
): Reader<Lists<K>> {
  const [taken, left] = names;
  const members = {
    [taken]: described('those that are taken; all if absent', optional(one)),
    [left]: described('those that are left out; it takes precedence', optional(one)),
  };
  const read = object<Record<string, readonly string[] | undefined>>(members);
  return withSchema(
    (position) => {
      const before = position.faults.length;
      const lists = read(position) as Lists<K>; // it has no other members
      if (position.faults.length === before && Object.keys(lists).length === 0)
        addFault(position, `it must have ${names.map((name) => JSON.stringify(name)).join(', ')} or both`);
      return lists;
    },
    () => ({ ...getSchema(read), minProperties: 1 }),
  );
}

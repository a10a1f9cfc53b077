import { computeShortHash } from '@assay-mcp/kit/digest';
import { parseObject } from '@assay-mcp/kit/json-object';

/**
 * Clients that omit or fail on tools whose name is too long including the client's own prefix. The prefix is counted
 * with the name "assay", which `assay connect` uses for its entry.
 */
const BUDGETS: readonly (readonly [client: RegExp, maxLength: number])[] = [
  // 60 characters with the server's name: https://github.com/ComposioHQ/composio/issues/2788
  [/^cursor/i, 60 - 'assay:'.length],
  // 64 characters with the prefix, in a reference to a tool: https://github.com/cloudflare/skills/issues/11
  [/^claude-code$/i, 64 - 'mcp__assay__'.length],
];

export const NAME_BUDGETS: readonly number[] = BUDGETS.map(([, maxLength]) => maxLength);

/** Maximum length of a tool name for a client. `info`: JSON text of its name and version. Undefined if unlimited. */
export function findNameBudget(info: string | undefined): number | undefined {
  if (info === undefined) return undefined;
  const { name } = parseObject(info);
  return typeof name === 'string' ? BUDGETS.find(([client]) => client.test(name))?.[1] : undefined;
}

/**
 * Shortens the names that are longer than `maxLength`, by leaving out words in the middle: the server's name and a verb
 * tend to come first, the object last. If too little is left, or two names become equal, the name ends in a hash.
 * Depends on the set of names only, so short names are stable.
 */
export function shortenNames(names: readonly string[], maxLength: number): ReadonlyMap<string, string> {
  const taken = new Map<string, number>();
  const long = names.filter((name) => name.length > maxLength);
  const wanted = long.map((name) => withoutMiddle(name, maxLength));
  for (const name of [...names, ...wanted])
    if (name !== undefined) taken.set(name, (taken.get(name) ?? 0) + 1);
  return new Map(
    long.map((name, index) => {
      const short = wanted[index];
      return [name, short !== undefined && taken.get(short) === 1 ? short : hashed(name, maxLength, taken)];
    }),
  );
}

const HEAD_WORDS = 2;
const MIN_TAIL_WORDS = 2;

function withoutMiddle(name: string, maxLength: number): string | undefined {
  const words = name.split('_');
  const head = words.slice(0, HEAD_WORDS).join('_');
  for (let from = HEAD_WORDS + 1; from <= words.length - MIN_TAIL_WORDS; from += 1) {
    const short = `${head}_${words.slice(from).join('_')}`;
    if (short.length <= maxLength) return short;
  }
  return undefined;
}

const HASH_DIGITS = 6;

function hashed(name: string, maxLength: number, taken: ReadonlyMap<string, number>): string {
  for (let digits = HASH_DIGITS; ; digits += HASH_DIGITS) {
    const suffix = `_${computeShortHash(name, digits)}`;
    const short = name.slice(0, maxLength - suffix.length) + suffix;
    if (!taken.has(short) || digits >= 30) return short;
  }
}

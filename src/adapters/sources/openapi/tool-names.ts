import { shortHash } from '../../../core/digest.ts';
import type { Operation } from './operations.ts';

const LONGEST = 60;
const KEPT = 52;
const HASH_DIGITS = 8;
const MOST_READ = 1_000;

/** An operation with the name that its document gives to its tool, where it gives one. */
export interface Naming {
  readonly operation: Operation;
  readonly given?: string | undefined;
}

/**
 * Names of tools in the order of their operations, depending on the document alone, each once. Of operations that want the
 * same name none gets it bare, so that no name changes its tool when another operation comes or goes before it.
 */
export function toolNames(namings: readonly Naming[]): readonly string[] {
  const wanted = namings.map(wantedName);
  const once = apart(wanted, namings, HASH_DIGITS);
  // A name may end as if it had such a hash already.
  return apart(once, namings, 2 * HASH_DIGITS);
}

function wantedName({ operation, given }: Naming): string {
  const { method, path, members } = operation;
  const id = typeof members['operationId'] === 'string' ? members['operationId'] : '';
  const clean = cleaned(given ?? '') || cleaned(id);
  const name =
    clean === ''
      ? [method, cleaned(path)]
          .filter((part) => part !== '')
          .join('_')
          .toLowerCase()
      : clean;
  return name.length <= LONGEST ? name : `${name.slice(0, KEPT)}_${shortHash(name, HASH_DIGITS)}`;
}

function apart(names: readonly string[], namings: readonly Naming[], digits: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.map((name, index) => {
    const operation = namings[index]?.operation;
    if ((counts.get(name) ?? 0) < 2 || operation === undefined) return name;
    const { method, path } = operation;
    return `${name.slice(0, KEPT + HASH_DIGITS - digits)}_${shortHash(`${method} ${path}`, digits)}`;
  });
}

/** Letters without their marks, and one `_` for whatever else a name cannot hold. */
export function cleaned(text: string): string {
  return text
    .slice(0, MOST_READ)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/^[^A-Za-z0-9_-]+|[^A-Za-z0-9_-]+$/g, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_');
}

import { canonicalJson, exactJson, isMembers } from './canonical-json.ts';

/** One place where two JSON texts differ. */
export interface JsonChange {
  /** `inputSchema.properties["x y"][0]`; empty: the whole. */
  readonly path: string;
  /** JSON text in canonical form; undefined: there was nothing. */
  readonly before?: string | undefined;
  /** Undefined: there is nothing any more. */
  readonly after?: string | undefined;
}

/**
 * What changed from one JSON text to another, each at the innermost member that holds all of it, in canonical order.
 * An array of another length counts as one change. Where one of the texts cannot be read, the whole counts as changed.
 */
export function jsonChanges(before: string, after: string): readonly JsonChange[] {
  const was = exactJson(before);
  const is = exactJson(after);
  if (was === undefined || is === undefined) return before === after ? [] : [{ path: '', before, after }];
  try {
    return changesAt('', was.value, is.value);
  } catch {
    // So deep that no stack holds it.
    return before === after ? [] : [{ path: '', before, after }];
  }
}

function changesAt(path: string, was: unknown, is: unknown): readonly JsonChange[] {
  if (isMembers(was) && isMembers(is)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
    return keys.flatMap((key) => memberChanges(memberPath(path, key), own(was, key), own(is, key)));
  }
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length)
    return was.flatMap((one, index) => changesAt(`${path}[${index}]`, one, is[index]));
  const [before, after] = [canonicalJson(was), canonicalJson(is)];
  return before === after ? [] : [{ path, before, after }];
}

function memberChanges(path: string, was: Member, is: Member): readonly JsonChange[] {
  if (was === undefined) return is === undefined ? [] : [{ path, after: canonicalJson(is.value) }];
  return is === undefined
    ? [{ path, before: canonicalJson(was.value) }]
    : changesAt(path, was.value, is.value);
}

type Member = { readonly value: unknown } | undefined;

/** Also of a member that is called as one that every object inherits. */
function own(members: Readonly<Record<string, unknown>>, key: string): Member {
  return Object.hasOwn(members, key) ? { value: members[key] } : undefined;
}

/** The path of a member, as `JsonChange` has it. */
export function memberPath(path: string, key: string): string {
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

import { serializeCanonical, parseExactJson, isMembers } from '@assay-mcp/kit/canonical-json';

/** One difference between two JSON texts. */
export interface JsonChange {
  /** `inputSchema.properties["x y"][0]`; empty for the whole text. */
  readonly path: string;
  /** Canonical JSON. Undefined if the member was added. */
  readonly before?: string | undefined;
  /** Undefined if the member was removed. */
  readonly after?: string | undefined;
}

/**
 * The differences between two JSON texts, each at the innermost member that contains all of it, in canonical order. If
 * the length of an array changes, that is one change. If either text cannot be read, the whole counts as changed.
 */
export function compareJsonTexts(before: string, after: string): readonly JsonChange[] {
  const was = parseExactJson(before);
  const is = parseExactJson(after);
  if (was === undefined || is === undefined) return before === after ? [] : [{ path: '', before, after }];
  try {
    return changesAt('', was.value, is.value);
  } catch {
    // Nested too deeply for the stack.
    return before === after ? [] : [{ path: '', before, after }];
  }
}

function changesAt(path: string, was: unknown, is: unknown): readonly JsonChange[] {
  if (isMembers(was) && isMembers(is)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
    return keys.flatMap((key) => memberChanges(formatMemberPath(path, key), own(was, key), own(is, key)));
  }
  if (Array.isArray(was) && Array.isArray(is) && was.length === is.length)
    return was.flatMap((one, index) => changesAt(`${path}[${index}]`, one, is[index]));
  const [before, after] = [serializeCanonical(was), serializeCanonical(is)];
  return before === after ? [] : [{ path, before, after }];
}

function memberChanges(path: string, was: Member, is: Member): readonly JsonChange[] {
  if (was === undefined) return is === undefined ? [] : [{ path, after: serializeCanonical(is.value) }];
  return is === undefined
    ? [{ path, before: serializeCanonical(was.value) }]
    : changesAt(path, was.value, is.value);
}

type Member = { readonly value: unknown } | undefined;

/** Safe for members named like an inherited property. */
function own(members: Readonly<Record<string, unknown>>, key: string): Member {
  return Object.hasOwn(members, key) ? { value: members[key] } : undefined;
}

/** The path of a member in the notation of `JsonChange`. */
export function formatMemberPath(path: string, key: string): string {
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

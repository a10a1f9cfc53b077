import type { NeededVariable } from '../../../core/client-configs.ts';
import { ProblemCollector } from '../problem-collector.ts';
import type { EntryContext } from '../entry-fields.ts';
import { expand } from '../expand.ts';
import { toPosition } from '../json-tree.ts';
import { readServer } from '../server-entry.ts';
import { type EntryHome, translateEntry, toJsonValue } from './translate-entry.ts';
import type { SourceEntry } from './sources.ts';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';

/** A client's entry translated to Assay's config format, and whether Assay could run it. */
export interface CheckedEntry {
  /** Undefined if it is not an object. */
  readonly value: JsonObject | undefined;
  readonly leftOut: readonly string[];
  readonly variables: readonly NeededVariable[];
  /** Names of the environment variables whose values it gives to its server. */
  readonly passes: readonly string[];
  /** Why it cannot run, and the position in the client's file. */
  readonly fault: { readonly reason: string; readonly line: number; readonly column: number } | undefined;
  readonly line: number;
  readonly column: number;
}

export function checkEntry(entry: SourceEntry, home: EntryHome, here: EntryContext): CheckedEntry {
  const { member, path, text, source, isOff } = entry;
  const at = toPosition(text, member.keyNode.offset);
  const bare = { value: undefined, leftOut: [], variables: [], passes: [], fault: undefined, ...at };
  if (member.value.type !== 'object')
    return { ...bare, fault: { reason: 'this is not an object', ...toPosition(text, member.value.offset) } };
  const { node, leftOut, fault } = translateEntry(member.value, home, isOff);
  const value = toJsonValue(node) as JsonObject;
  const judged = { ...bare, value, leftOut, passes: expandedIn(value, { ...here, env: {} }, 'variables') };
  if (refersElsewhere(value)) return { ...judged, fault: { reason: REFERS, ...at } };
  if (fault !== undefined && value['disabled'] !== true)
    return { ...judged, fault: { reason: fault.reason, ...toPosition(text, fault.node.offset) } };
  const missing = expandedIn(value, here, 'missing');
  const { env: _env, headers: _headers, ...others } = value;
  const elsewhere = expandedIn({ ...others, env: {} }, here, 'missing');
  const variables = missing.map((name) => {
    const asked = [...entry.inputs.values()].find(({ variable }) => variable === name);
    return { name, about: asked?.about, canBeSecret: !elsewhere.includes(name) };
  });
  const translated = { ...member, value: node, path };
  const tries = standIns(missing).map((env) => {
    const collector = new ProblemCollector(source.file, text);
    readServer(translated, { ...here, env: { ...here.env, ...env } }, collector);
    return collector.problems;
  });
  const problem = tries.some((problems) => problems.length === 0) ? undefined : tries[0]?.[0];
  if (problem === undefined) return { ...judged, variables };
  const { line, column, key, reason } = problem;
  return { ...judged, variables, fault: { reason: `${key}: ${reason}`, line, column } };
}

const REFERS =
  'it refers to a secret, a file or a program of Assay, which only entries that you write yourself may do';

/**
 * Whether Assay would put a secret, a file or the output of a program into it: no client writes that, so whoever wrote
 * it means Assay. Also for a disabled entry, which may be enabled later.
 */
function refersElsewhere(value: JsonObject): boolean {
  const isText = (one: unknown): boolean => typeof one !== 'object' || one === null;
  const hasObjects = ['env', 'headers'].some((member) => {
    const values = value[member];
    return isJsonObject(values) && !Object.values(values).every(isText);
  });
  return hasObjects || textsIn(value).some((text) => /\$\{\s*(?:command|file|secret):/.test(text));
}

/** An unset variable may later hold a word or a URL; the entry must be valid with one of them. */
function standIns(names: readonly string[]): readonly Readonly<Record<string, string>>[] {
  const each = (value: string): Readonly<Record<string, string>> =>
    Object.fromEntries(names.map((name) => [name, value]));
  return names.length === 0 ? [{}] : [each('1'), each('http://127.0.0.1')];
}

/** The entry with references to secrets in place of these variables. */
export function referToSecrets(entry: JsonObject, names: ReadonlySet<string>): JsonObject {
  const refer = (value: unknown): unknown =>
    typeof value !== 'string'
      ? value
      : value.replace(/\$\{([A-Za-z_]\w*)(?::-[^{}]*)?\}/g, (whole, name: string) =>
          names.has(name) ? `\${secret:${name}}` : whole,
        );
  const named = (member: string): JsonObject => {
    const values = entry[member];
    if (!isJsonObject(values)) return {};
    return {
      [member]: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, refer(value)])),
    };
  };
  return { ...entry, ...named('env'), ...named('headers') };
}

/** In `args`, the entry's own `env` counts too, as in a config file. */
function expandedIn(
  { args, ...rest }: JsonObject,
  here: EntryContext,
  which: 'variables' | 'missing',
): readonly string[] {
  const env = isJsonObject(rest['env']) ? rest['env'] : {};
  const ofEntry = Object.fromEntries(Object.keys(env).map((name) => [name, '']));
  const names = [
    ...textsIn(rest).flatMap((text) => expand(text, here)[which]),
    ...textsIn(args).flatMap((text) => expand(text, { ...here, ofEntry })[which]),
  ];
  return [...new Set(names)];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

import { scanObject } from './scan.ts';
import { MAX_SERVER_DEPTH } from './scanner.ts';
import { buildPlan, type JsonObject, type Member } from './spans.ts';
import { buildRemovals, splice, type Edit } from './splice.ts';
import { QUOTE } from './tokens.ts';

/** How a list shows a definition differently from how its server wrote it. */
export interface DefinitionChange {
  /** The public name of a tool or prompt. */
  readonly name: string | undefined;
  /** Members to leave out, each as a path of keys; none is inside another. */
  readonly without: readonly (readonly string[])[];
  /** Text appended to a tool's description. */
  readonly notes?: string | undefined;
  /** Members to set or add, possibly replacing ones that are left out. */
  readonly members?: readonly MemberChange[] | undefined;
}

export interface MemberChange {
  /** The member's key, preceded by that of its parent object, if any. */
  readonly path: readonly [string] | readonly [string, string];
  readonly value: string | boolean;
}

/** The bytes of one definition with the changes applied and every other byte kept. */
export function changeDefinition(bytes: Buffer, change: DefinitionChange): Buffer {
  const { name, without: paths, notes, members = [] } = withNotesIn(change);
  if (name === undefined && paths.length === 0 && notes === undefined && members.length === 0) return bytes;
  const scan = scanObject(bytes, {
    plan: buildPlan(keysOf([...ALWAYS_READ, ...paths, ...members.map(({ path }) => path)])),
    strict: false,
    maxDepth: MAX_SERVER_DEPTH,
  });
  if (!scan.ok) return bytes;
  const isDescribed = !paths.some(([key, ...deeper]) => key === 'description' && deeper.length === 0);
  return splice(bytes, [
    ...renaming(scan.value, name),
    ...(notes === undefined
      ? []
      : noting(bytes, isDescribed ? scan.value : { ...scan.value, members: [] }, notes)),
    ...editing(scan.value, { paths, members }),
  ]);
}

/** Notes follow a description that is replaced. */
function withNotesIn(change: DefinitionChange): DefinitionChange {
  const { notes, members = [] } = change;
  const isDescription = ({ path }: MemberChange): boolean => path.length === 1 && path[0] === 'description';
  if (notes === undefined || !members.some(isDescription)) return change;
  const noted = members.map((one) =>
    isDescription(one) ? { ...one, value: `${String(one.value)}\n\n${notes}` } : one,
  );
  return { ...change, notes: undefined, members: noted };
}

const ALWAYS_READ: readonly (readonly string[])[] = [['name'], ['description']];
const QUOTE_LENGTH = 1;

/** The notes form a paragraph after the server's description, or the whole description if there is none. */
function noting(bytes: Buffer, definition: JsonObject, notes: string): readonly Edit[] {
  const escaped = JSON.stringify(notes).slice(QUOTE_LENGTH, -QUOTE_LENGTH);
  const described = definition.members.filter(({ key }) => key === 'description');
  if (described.length === 0) {
    const start = definition.start + 1;
    return [{ start, end: start, text: `"description":"${escaped}",` }];
  }
  return described.map(({ start, end }) => {
    const isEmpty = end - start === 2 * QUOTE_LENGTH;
    const at = end - QUOTE_LENGTH;
    return bytes[start] === QUOTE
      ? { start: at, end: at, text: isEmpty ? escaped : `\\n\\n${escaped}` }
      : { start, end, text: `"${escaped}"` };
  });
}

/** Replaces every name: if there are several, readers differ in which one they take. */
function renaming(definition: JsonObject, name: string | undefined): readonly Edit[] {
  if (name === undefined) return [];
  const text = JSON.stringify(name);
  return definition.members
    .filter(({ key }) => key === 'name')
    .map(({ start, end }) => ({ start, end, text }));
}

interface Keys {
  readonly [key: string]: Keys;
}

function keysOf(paths: readonly (readonly string[])[]): Keys {
  const first = new Set(paths.flatMap((path) => path.slice(0, 1)));
  return Object.fromEntries([...first].map((key) => [key, keysOf(belowPaths(paths, key))]));
}

function belowPaths(paths: readonly (readonly string[])[], key: string): readonly (readonly string[])[] {
  return paths.filter((path) => path[0] === key).map((path) => path.slice(1));
}

interface DefinitionEdits {
  /** Members to leave out. */
  readonly paths: readonly (readonly string[])[];
  readonly members: readonly Setting[];
}

interface Setting {
  readonly path: readonly string[];
  readonly value: string | boolean;
}

function editing(object: JsonObject, { paths, members }: DefinitionEdits): readonly Edit[] {
  const keyOf = ({ path }: Setting): string => path[0] ?? '';
  const left = new Set(paths.filter((path) => path.length === 1).map(([key]) => key));
  const here = new Map(
    members.filter(({ path }) => path.length === 1).map((one) => [keyOf(one), json(one.value)]),
  );
  const inside = Map.groupBy(
    members.filter(({ path }) => path.length > 1),
    keyOf,
  );
  // A value that is not an object is replaced by one.
  const isGone = ({ key, object: inner }: Member): boolean =>
    !here.has(key) && (left.has(key) || (inside.has(key) && inner === undefined));
  const kept = object.members.filter((member) => !isGone(member));
  const there = new Set(kept.map(({ key }) => key));
  const fresh = new Map([...here, ...[...inside].map(([key, inner]) => [key, objectText(inner)] as const)]);
  const added = [...fresh].filter(([key]) => !there.has(key)).map(([key, text]) => `${json(key)}:${text}`);
  const at = object.start + 1;
  const keptCount = object.size - (object.members.length - kept.length);
  const text = added.join(',') + (keptCount > 0 ? ',' : '');
  return [
    ...(added.length === 0 ? [] : [{ start: at, end: at, text }]),
    ...buildRemovals(object, isGone),
    ...kept.flatMap((member) => {
      const value = here.get(member.key);
      if (value !== undefined) return [{ start: member.start, end: member.end, text: value }];
      if (member.object === undefined) return [];
      const below = {
        paths: belowPaths(paths, member.key),
        members: shortened(inside.get(member.key) ?? []),
      };
      return editing(member.object, below);
    }),
  ];
}

function shortened(members: readonly Setting[]): readonly Setting[] {
  return members.map(({ path, value }) => ({ path: path.slice(1), value }));
}

function objectText(members: readonly Setting[]): string {
  return `{${members.map(({ path, value }) => `${json(path[1] ?? '')}:${json(value)}`).join(',')}}`;
}

function json(value: string | boolean): string {
  return JSON.stringify(value);
}

import { scanObject } from './scan.ts';
import { MAX_SERVER_DEPTH } from './scanner.ts';
import { planOf, type JsonObject } from './spans.ts';
import { removals, splice, type Edit } from './splice.ts';

/** What of a definition a list shows otherwise than its server wrote it. */
export interface DefinitionChange {
  /** The public name of a tool or prompt. */
  readonly name: string | undefined;
  /** Members to leave out, each as the path of its keys; none lies inside another. */
  readonly without: readonly (readonly string[])[];
}

/** The bytes of one definition with the change made and every other byte kept. */
export function changedDefinition(bytes: Buffer, change: DefinitionChange): Buffer {
  if (change.name === undefined && change.without.length === 0) return bytes;
  const scan = scanObject(bytes, {
    plan: planOf(keysOf(change.without)),
    strict: false,
    maxDepth: MAX_SERVER_DEPTH,
  });
  if (!scan.ok) return bytes;
  return splice(bytes, [...renaming(scan.value, change.name), ...without(scan.value, change.without)]);
}

/** Every name that stands there is replaced: where it stands twice, readers differ in which one they take. */
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
  return Object.fromEntries([...first].map((key) => [key, keysOf(below(paths, key))]));
}

function below(paths: readonly (readonly string[])[], key: string): readonly (readonly string[])[] {
  return paths.filter((path) => path[0] === key).map((path) => path.slice(1));
}

function without(object: JsonObject, paths: readonly (readonly string[])[]): readonly Edit[] {
  const gone = new Set(paths.filter((path) => path.length === 1).map(([key]) => key));
  const inside = object.members.flatMap((member) =>
    member.object === undefined || gone.has(member.key)
      ? []
      : without(member.object, below(paths, member.key)),
  );
  return [...removals(object, ({ key }) => gone.has(key)), ...inside];
}

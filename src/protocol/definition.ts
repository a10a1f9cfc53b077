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
  /** Text that is appended to the description of a tool. */
  readonly notes?: string | undefined;
}

/** The bytes of one definition with the change made and every other byte kept. */
export function changedDefinition(bytes: Buffer, change: DefinitionChange): Buffer {
  const { name, without: paths, notes } = change;
  if (name === undefined && paths.length === 0 && notes === undefined) return bytes;
  const scan = scanObject(bytes, {
    plan: planOf(keysOf(paths)),
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
    ...without(scan.value, paths),
  ]);
}

const QUOTE_LENGTH = 1;

/** The notes stand in a paragraph of their own, behind what the server says, or alone where it says nothing. */
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

const QUOTE = 0x22;

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

import { type JsonObject, isJsonObject } from '../core/json-object.ts';
import { parsePointerFragment } from '../core/json-pointer.ts';

/** The possible targets of one schema's references. */
export interface Referents {
  readonly root: JsonObject;
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

/** The target of a reference within its own schema; undefined if there is none. */
export function findReferent(ref: unknown, { root, anchors }: Referents): unknown {
  if (typeof ref !== 'string') return undefined;
  if (!ref.startsWith('#/'))
    return root['$id'] ? undefined : anchors.get(ref.slice(ref.startsWith('#') ? 1 : ref.length));
  let target: unknown = root;
  for (const step of parsePointerFragment(ref) ?? [ref]) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, step)) return undefined;
    target = (target as JsonObject)[step];
  }
  return target ?? undefined;
}

export interface References extends Referents {
  /** For each visited schema, whether it leads back to itself; each is followed once. */
  readonly circles: Map<object, boolean>;
  /** Whether a schema consists only of a reference. */
  readonly isOnlyReference: (schema: JsonObject) => boolean;
}

/** Whether a chain of references never ends. */
export function leadsNowhere(schema: JsonObject, references: References): boolean {
  const { circles, isOnlyReference } = references;
  const passed = new Set<object>();
  let isCircle = false;
  let next: unknown = schema;
  while (isJsonObject(next)) {
    const known = circles.get(next) ?? (passed.has(next) ? true : undefined);
    if (known !== undefined) {
      isCircle = known;
      break;
    }
    passed.add(next);
    if (!isOnlyReference(next)) break;
    next = findReferent(next['$ref'], references);
  }
  for (const one of passed) circles.set(one, isCircle);
  return isCircle;
}

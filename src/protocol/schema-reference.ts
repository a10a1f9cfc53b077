import { type JsonObject, isJsonObject } from '../core/json-object.ts';

/** What the references of one schema can name. */
export interface Referents {
  readonly root: JsonObject;
  readonly anchors: ReadonlyMap<string, JsonObject>;
}

/** What a reference names within its own schema, undefined if nothing. */
export function referent(ref: unknown, { root, anchors }: Referents): unknown {
  if (typeof ref !== 'string') return undefined;
  if (!ref.startsWith('#/'))
    return root['$id'] ? undefined : anchors.get(ref.slice(ref.startsWith('#') ? 1 : ref.length));
  let target: unknown = root;
  for (const step of pointerSteps(ref)) {
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, step)) return undefined;
    target = (target as JsonObject)[step];
  }
  return target ?? undefined;
}

export interface References extends Referents {
  /** Whether a schema leads back to itself, for all that were passed: each is followed once. */
  readonly circles: Map<object, boolean>;
  /** Whether a schema is nothing but a reference. */
  readonly isOnlyReference: (schema: JsonObject) => boolean;
}

/** Whether references to references end nowhere. */
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
    next = referent(next['$ref'], references);
  }
  for (const one of passed) circles.set(one, isCircle);
  return isCircle;
}

/** RFC 6901, section 6. A step that is not well encoded names nothing. */
function pointerSteps(ref: string): readonly string[] {
  try {
    return ref
      .slice(2)
      .split('/')
      .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return [ref];
  }
}

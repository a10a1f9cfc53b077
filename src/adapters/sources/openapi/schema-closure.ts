import { err, ok, type Result } from '../../../core/result.ts';
import { DEFINITION_REF, type Definitions } from './schema-definitions.ts';
import type { JsonSchema } from './schema-fixes.ts';
import { measureOf } from './schema-measure.ts';

export type Shortage = { readonly kind: 'too large' } | { readonly kind: 'broken'; readonly why: string };

/** All definitions that schemas need, by name, as long as they are together no longer than `maxSize` in JSON. */
export function schemaClosure(
  schemas: readonly JsonSchema[],
  maxSize: number,
  definitions: Definitions,
): Result<Readonly<Record<string, JsonSchema>>, Shortage> {
  const used = new Map<string, JsonSchema>();
  let size = 0;
  const waiting = [...schemas];
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    const measure = measureOf(schema);
    size += measure.size;
    if (size > maxSize) return err({ kind: 'too large' });
    for (const reference of measure.references) {
      const name = reference.slice(DEFINITION_REF.length);
      const definition = used.has(name) ? undefined : definitions.named(name);
      if (definition === undefined) continue;
      if (definition.broken !== undefined) return err({ kind: 'broken', why: definition.broken });
      used.set(name, definition.schema);
      waiting.push(definition.schema);
    }
  }
  return ok(Object.fromEntries([...used].sort(([one], [other]) => (one < other ? -1 : 1))));
}

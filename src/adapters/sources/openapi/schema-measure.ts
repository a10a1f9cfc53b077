import type { JsonSchema } from './schema-fixes.ts';

export interface SchemaMeasure {
  /** Characters in JSON. */
  readonly size: number;
  /** What its `$ref`s say, each once. */
  readonly references: readonly string[];
}

/** Schemas are shared by many tools, and measured once. */
const measures = new WeakMap<object, SchemaMeasure>();

export function measureOf(schema: JsonSchema): SchemaMeasure {
  if (typeof schema === 'boolean') return { size: 5, references: [] };
  const known = measures.get(schema);
  if (known !== undefined) return known;
  const references = new Set<string>();
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') references.add(value);
    return value;
  });
  const measure = { size: text.length, references: [...references] };
  measures.set(schema, measure);
  return measure;
}

import { err, ok, type Result } from '../../../core/result.ts';
import type { Located } from './documents.ts';
import { type ConversionOptions, openConversion } from './schema-conversion.ts';
import {
  DEFINITION_REF,
  type Definitions,
  type Draft,
  measureOf,
  openDefinitions,
} from './schema-definitions.ts';
import type { JsonSchema } from './schema-keywords.ts';

/** The schemas of one document in JSON Schema 2020-12. */
export interface SchemaDrafts {
  draft(located: Located): Draft;
  /** A schema that is nothing but a reference gives what it leads to. */
  resolve(schema: JsonSchema): Draft;
  /** What goes into `$defs` beside these schemas. */
  definitionsOf(
    schemas: readonly JsonSchema[],
    maxSize: number,
  ): Result<Readonly<Record<string, JsonSchema>>, Shortage>;
}

const MOST_HOPS = 50;

export function openSchemaDrafts(options: ConversionOptions): SchemaDrafts {
  const convert = openConversion(options);
  const definitions = openDefinitions(convert, new URL('.', options.documents.root.at).href);
  // Operations share parameters and answers, whose schemas are the same objects then.
  const known = new WeakMap<object, Draft>();
  return {
    draft: (located) => {
      const { value } = located;
      const key = typeof value === 'object' && value !== null ? value : undefined;
      const draft =
        (key && known.get(key)) ?? definitions.run((conversion) => convert(located, undefined, conversion));
      if (key !== undefined) known.set(key, draft);
      return draft;
    },
    resolve: (schema) => {
      let here: Draft = { schema };
      for (let hops = 0; hops < MOST_HOPS; hops += 1) {
        const name = nameIn(here.schema);
        const next = name === undefined ? undefined : definitions.named(name);
        if (next === undefined) break;
        here = { schema: next.schema, broken: here.broken ?? next.broken };
      }
      return here;
    },
    definitionsOf: (schemas, maxSize) => schemaClosure(schemas, maxSize, definitions),
  };
}

/** The name, where a schema is nothing but a reference. */
function nameIn(schema: JsonSchema): string | undefined {
  if (typeof schema === 'boolean' || Object.keys(schema).length !== 1) return undefined;
  const { $ref } = schema;
  return typeof $ref === 'string' ? $ref.slice(DEFINITION_REF.length) : undefined;
}

export type Shortage = { readonly kind: 'too large' } | { readonly kind: 'broken'; readonly why: string };

/** All definitions that schemas need, by name, as long as they are together no longer than `maxSize` in JSON. */
function schemaClosure(
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

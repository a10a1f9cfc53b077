import { computeShortHash } from '@assay-mcp/kit/digest';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Located, Target } from './documents.ts';
import {
  type Conversion,
  type ConversionOptions,
  type ConvertSchema,
  openConversion,
} from './schema-conversion.ts';
import type { JsonSchema } from './schema-keywords.ts';

/** The schemas of one document in JSON Schema 2020-12. */
export interface SchemaDrafts {
  draft(located: Located): Draft;
  /** Replaces a schema that is only a `$ref` by its target. */
  resolve(schema: JsonSchema): Draft;
  /** The `$defs` that these schemas need. */
  definitionsOf(
    schemas: readonly JsonSchema[],
    maxSize: number,
  ): Result<Readonly<Record<string, JsonSchema>>, Shortage>;
}

/** A converted schema; its `$ref`s lead to definitions. */
export interface Draft {
  readonly schema: JsonSchema;
  /** A phrase: what could not be converted. */
  readonly broken?: string | undefined;
}

const DEFINITION_REF = '#/$defs/';

const MAX_HOPS = 50;

export function openSchemaDrafts(options: ConversionOptions): SchemaDrafts {
  const convert = openConversion(options);
  const definitions = openDefinitions(convert, new URL('.', options.documents.root.at).href);
  // Operations share parameters and answers, and so their schema objects.
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
      for (let hops = 0; hops < MAX_HOPS; hops += 1) {
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

/** The definition's name if the schema is only a `$ref`. */
function nameIn(schema: JsonSchema): string | undefined {
  if (typeof schema === 'boolean' || Object.keys(schema).length !== 1) return undefined;
  const { $ref } = schema;
  return typeof $ref === 'string' ? $ref.slice(DEFINITION_REF.length) : undefined;
}

export type Shortage = { readonly kind: 'too_large' } | { readonly kind: 'broken'; readonly why: string };

/** All definitions that the schemas need, by name; an error if all is longer than `maxSize` in JSON. */
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
    if (size > maxSize) return err({ kind: 'too_large' });
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

/** The `$ref` targets of one document, each converted once. */
interface Definitions {
  /** Runs a conversion, then converts everything it referred to. */
  run(conversion: (conversion: Conversion) => JsonSchema): Draft;
  named(name: string): Draft | undefined;
}

/** A definition without references and no longer than this in JSON is inlined: easier to read. */
const SMALL = 1_000;
/** Maximum depth of nested conversions; deeper definitions are queued. */
const MAX_DEPTH = 40;

interface Definition {
  readonly name: string;
  readonly target: Target;
  made?: Draft;
}

/** `folder` is the URL of the document's folder. */
function openDefinitions(convert: ConvertSchema, folder: string): Definitions {
  const byKey = new Map<string, Definition>();
  const byName = new Map<string, Definition>();
  const waiting: Definition[] = [];
  const making = new Set<Definition>();
  const define = (target: Target): Definition => {
    const definition = { name: freeName(target.key, folder, byName), target };
    byKey.set(target.key, definition);
    byName.set(definition.name, definition);
    waiting.push(definition);
    return definition;
  };
  const make = (definition: Definition): void => {
    if (definition.made !== undefined || making.has(definition)) return;
    making.add(definition);
    const { target } = definition;
    definition.made = collected((conversion) => convert(target, target.key, conversion));
    making.delete(definition);
  };
  const reference = (target: Target): JsonSchema => {
    const definition = byKey.get(target.key) ?? define(target);
    if (making.size < MAX_DEPTH) make(definition);
    const { made, name } = definition;
    return made !== undefined && isSmallLeaf(made) ? made.schema : { $ref: DEFINITION_REF + name };
  };
  const collected = (conversion: (conversion: Conversion) => JsonSchema): Draft => {
    let broken: string | undefined;
    const schema = conversion({ reference, broken: (why) => (broken ??= why) });
    return { schema, broken };
  };
  return {
    run: (conversion) => {
      const draft = collected(conversion);
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) make(next);
      return draft;
    },
    named: (name) => byName.get(name)?.made,
  };
}

function isSmallLeaf({ schema, broken }: Draft): boolean {
  const { size, references } = measureOf(schema);
  return broken === undefined && size <= SMALL && references.length === 0;
}

const NAME_LENGTH = 60;

/** The last part of the key; if that is taken, followed by a hash of the key. */
function freeName(key: string, folder: string, taken: ReadonlyMap<string, unknown>): string {
  const [url = '', pointer = ''] = key.split(/#(.*)/s);
  const last = (pointer === '' ? url.replace(/\.\w+$/, '') : pointer).split('/').at(-1) ?? '';
  const clean = last.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, NAME_LENGTH);
  const name = clean === '' ? 'schema' : clean;
  if (!taken.has(name)) return name;
  // Names must not depend on where the document is on this machine.
  const path = key.startsWith(folder) ? key.slice(folder.length) : key;
  return `${name}_${computeShortHash(path, 8)}`;
}

interface SchemaMeasure {
  /** Characters in JSON. */
  readonly size: number;
  /** Its distinct `$ref`s. */
  readonly references: readonly string[];
}

/** Schemas are shared by many tools and measured once. */
const measures = new WeakMap<object, SchemaMeasure>();

function measureOf(schema: JsonSchema): SchemaMeasure {
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

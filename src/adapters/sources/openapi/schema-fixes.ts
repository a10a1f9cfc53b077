import { typeOf } from './schema-keywords.ts';

export type JsonSchema = boolean | Readonly<Record<string, unknown>>;
export type SchemaMembers = Readonly<Record<string, unknown>>;

/**
 * What OpenAPI 3.0 says in another way than JSON Schema 2020-12, and what documents of 3.1 often still say so: `raw` is as
 * written, `converted` holds its keywords that both have.
 */
export function asDraft2020(raw: SchemaMembers, converted: SchemaMembers): SchemaMembers {
  const members: Record<string, unknown> = { ...converted };
  const type = typeOf(members['type']);
  delete members['type'];
  const all: Record<string, unknown> = { ...(type !== undefined && { type }), ...members };
  fixBound(raw, all, ['minimum', 'exclusiveMinimum']);
  fixBound(raw, all, ['maximum', 'exclusiveMaximum']);
  if (raw['example'] !== undefined && all['examples'] === undefined) all['examples'] = [raw['example']];
  // 2020-12 has tuples under another name.
  if (Array.isArray(raw['items'])) delete all['items'];
  // What a discriminator tells apart, a validator that does not know it finds to be several at once.
  if (raw['discriminator'] !== undefined && all['oneOf'] !== undefined && all['anyOf'] === undefined) {
    all['anyOf'] = all['oneOf'];
    delete all['oneOf'];
  }
  return raw['nullable'] === true ? nullable(all) : all;
}

/** In 3.0 `exclusiveMinimum: true` says how `minimum` is meant. */
function fixBound(raw: SchemaMembers, all: Record<string, unknown>, names: readonly [string, string]): void {
  const [bound, exclusive] = names;
  if (raw[exclusive] !== true || all[bound] === undefined) return;
  all[exclusive] = all[bound];
  Reflect.deleteProperty(all, bound);
}

function nullable(schema: Record<string, unknown>): SchemaMembers {
  const { type, enum: values } = schema;
  if (type === undefined) {
    // Without a type the specification lets `nullable` mean nothing; where a schema is put together of others, people mean it.
    const isComposed = ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in schema);
    return isComposed ? { anyOf: [schema, { type: 'null' }] } : schema;
  }
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return {
    ...schema,
    type: [...new Set([...types, 'null'])],
    ...(Array.isArray(values) && { enum: [...new Set<unknown>([...(values as readonly unknown[]), null])] }),
  };
}

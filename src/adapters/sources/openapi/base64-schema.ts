import type { JsonSchema, SchemaMembers } from './schema-fixes.ts';

const HOW = 'The content in Base64.';

/** The schema of a body that is no text. Undefined for one that is sent as it is given. */
export function bodyAsBase64(schema: JsonSchema = {}): SchemaMembers | undefined {
  const { contentEncoding, description } = typeof schema === 'object' ? schema : {};
  return contentEncoding === undefined ? base64Of(description) : undefined;
}

/**
 * The schema of a file in a form, as an argument can give it: in Base64. Undefined for what is no file. 3.0 calls one
 * `format: binary`, 3.1 gives it a `contentMediaType` and no `contentEncoding` (3.1.1, section 4.8.14.4.2).
 */
export function asBase64(schema: JsonSchema): SchemaMembers | undefined {
  if (typeof schema === 'boolean') return undefined;
  const { type, format, items, contentMediaType, contentEncoding } = schema;
  if (type === 'array' && typeof items === 'object' && items !== null) {
    const each = asBase64(items as SchemaMembers); // as converted
    return each === undefined ? undefined : { ...schema, items: each };
  }
  const isText = type === 'string' || type === undefined;
  const isBytes = typeof contentMediaType === 'string' && contentEncoding === undefined;
  if (!isText || !(format === 'binary' || isBytes)) return undefined;
  const { format: _, description, minLength: __, maxLength: ___, pattern: ____, ...rest } = schema;
  return { ...rest, ...base64Of(description) };
}

function base64Of(description: unknown): SchemaMembers {
  return {
    type: 'string',
    contentEncoding: 'base64',
    description: typeof description === 'string' ? `${sentence(description)} ${HOW}` : HOW,
  };
}

function sentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

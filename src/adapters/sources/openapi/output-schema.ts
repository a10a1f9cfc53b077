import { isMembers } from '../../../core/canonical-json.ts';
import { memberAt, type Documents, type Located } from './documents.ts';
import type { Operation } from './operations.ts';
import { bare } from './parameters.ts';
import type { SchemaDrafts } from './schema-drafts.ts';
import type { SchemaMembers } from './schema-keywords.ts';

export interface Answers {
  /** Media types that a successful answer may have, as the document has them. */
  readonly mediaTypes: readonly string[];
  /** JSON Schema of every successful answer; undefined where they differ, or are no objects. */
  readonly schema?: SchemaMembers | undefined;
}

const MAX_SIZE = 64 * 1024;

/**
 * What an operation answers when all goes well. Clients refuse an answer that does not fit its schema, or that has none of
 * the structure that is promised: there is one only where all successful answers are the same kind of object.
 */
export function answersOf(operation: Operation, documents: Documents, drafts: SchemaDrafts): Answers {
  const responses = memberAt(operation.located, 'responses');
  const codes = isMembers(responses?.value) ? Object.keys(responses.value) : [];
  const good = codes.filter((code) => /^2(\d\d|XX)$/i.test(code));
  const contents = good.map((code) => contentOf(responses, code, documents));
  const mediaTypes = contents.flatMap((content) =>
    isMembers(content?.value) ? Object.keys(content.value) : [],
  );
  const schemas = contents.map((content) =>
    content === undefined ? undefined : jsonSchemaIn(content, drafts),
  );
  const [first] = schemas;
  const isOne = schemas.every((one) => one !== undefined && JSON.stringify(one) === JSON.stringify(first));
  return { mediaTypes: [...new Set(mediaTypes)], schema: isOne ? first : undefined };
}

function contentOf(responses: Located | undefined, code: string, documents: Documents): Located | undefined {
  const response = responses && memberAt(responses, code);
  const end = response && documents.follow(response);
  return end?.ok === true ? memberAt(end.value, 'content') : undefined;
}

/** Undefined as well where an answer may be something else than JSON. */
function jsonSchemaIn(content: Located, drafts: SchemaDrafts): SchemaMembers | undefined {
  const types = isMembers(content.value) ? Object.keys(content.value) : [];
  const json = types.find((type) => isJson(type));
  const media = json === undefined ? undefined : memberAt(content, json);
  const schema = media && memberAt(media, 'schema');
  if (schema === undefined) return undefined;
  const drafted = drafts.draft(schema);
  const whole = drafts.resolve(drafted.schema);
  if (drafted.broken !== undefined || whole.broken !== undefined || typeof whole.schema === 'boolean')
    return undefined;
  if (whole.schema['type'] !== 'object') return undefined;
  const definitions = drafts.definitionsOf([whole.schema], MAX_SIZE);
  if (!definitions.ok) return undefined;
  return {
    ...whole.schema,
    ...(Object.keys(definitions.value).length > 0 && { $defs: definitions.value }),
  };
}

export function isJson(mediaType: string): boolean {
  return /^(application\/json|[^/]+\/[^/]+\+json)$/.test(bare(mediaType));
}

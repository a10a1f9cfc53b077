import { HINTS } from '@assay-mcp/kit/hint';
import { isJsonObject } from '@assay-mcp/kit/json-object';

/** Why official clients reject every list that holds this definition of a tool, as the end of a sentence. */
export function findDefinitionFault(tool: unknown): string | undefined {
  if (!isJsonObject(tool)) return 'it is not an object';
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  if (typeof name !== 'string') return 'its name is not a string';
  for (const [key, text] of Object.entries({ title, description }))
    if (text !== undefined && typeof text !== 'string') return `its ${key} is not a string`;
  const fault =
    findSchemaFault('inputSchema', inputSchema) ??
    (outputSchema === undefined ? undefined : findSchemaFault('outputSchema', outputSchema));
  if (fault !== undefined || annotations === undefined) return fault;
  if (!isJsonObject(annotations)) return 'its annotations are not an object';
  const wrong = HINTS.find((hint) => !['undefined', 'boolean'].includes(typeof annotations[hint]));
  return wrong === undefined ? undefined : `its ${wrong} is neither true nor false`;
}

function findSchemaFault(key: string, schema: unknown): string | undefined {
  if (schema === undefined) return `its ${key} is absent`;
  if (!isJsonObject(schema)) return `its ${key} is not an object`;
  if (schema['type'] === undefined) return `its ${key} has no "type": "object"`;
  return schema['type'] === 'object' ? undefined : `the type of its ${key} is not "object"`;
}

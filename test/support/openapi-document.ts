import type { JsonObject } from './json.ts';

/** A document with these paths; `more` overrides its other members. */
export function documentOf(paths: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    servers: [{ url: 'http://127.0.0.1:1' }],
    paths,
    ...more,
  };
}

/** A document with one operation, by default `GET /x`. */
export function operationOf(operation: JsonObject, more: JsonObject = {}): JsonObject {
  const { path = '/x', method = 'get', ...rest } = operation;
  return documentOf(
    { [String(path)]: { [String(method)]: { operationId: 'op', responses: {}, ...rest } } },
    more,
  );
}

/** A document with one operation that takes a JSON body of this schema. */
export function bodyOperation(
  schema: JsonObject | boolean,
  more: JsonObject = {},
  type = 'application/json',
): JsonObject {
  return operationOf(
    { method: 'post', requestBody: { required: true, content: { [type]: { schema } } } },
    more,
  );
}

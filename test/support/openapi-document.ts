import type { JsonObject } from './json.ts';

/** A document of the given paths; what is beside them takes the place of what it has by itself. */
export function documentOf(paths: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    servers: [{ url: 'http://127.0.0.1:1' }],
    paths,
    ...more,
  };
}

/** A document of one operation, which is `GET /x` where nothing else is said. */
export function operationOf(operation: JsonObject, more: JsonObject = {}): JsonObject {
  const { path = '/x', method = 'get', ...rest } = operation;
  return documentOf(
    { [String(path)]: { [String(method)]: { operationId: 'op', responses: {}, ...rest } } },
    more,
  );
}

/** A document of one operation that takes such a body in JSON. */
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

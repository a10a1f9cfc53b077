import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, type Json, type JsonObject } from './json.ts';
import { tempDir } from './paths.ts';
import { bodyOf, serveWeb } from './web-server.ts';

/** Operations of a document, keyed by method and path: `GET /pets`. */
export type Operations = Readonly<Record<string, JsonObject>>;

/** A loopback API with an OpenAPI document that a test can change: as a file, and at a URL of the API. */
export interface DocumentedApi {
  readonly origin: string;
  readonly url: string;
  readonly path: string;
  /** All requests except those for the document: `GET /pets?limit=2`, with credentials and body. */
  readonly seen: readonly { readonly line: string; readonly key: string | undefined; readonly body: Json }[];
  /** How often the document was fetched. */
  fetches(): number;
  have(operations: Operations, more?: JsonObject): void;
  /** Replaces the document with any text. */
  write(text: string): void;
  /** Answers requests for the document with this status; 200 sends the document. */
  answerWith(status: number): void;
}

export async function documentedApi(operations: Operations, more: JsonObject = {}): Promise<DocumentedApi> {
  const seen: DocumentedApi['seen'][number][] = [];
  const path = join(tempDir(), 'pets.json');
  let text = '';
  let status = 200;
  let fetches = 0;
  const port = await serveWeb((request, response) => {
    void (async () => {
      const { method = '', url = '' } = request;
      if (url === '/v1/pets.json') {
        fetches += 1;
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
        return;
      }
      const sent = await bodyOf(request);
      const line = `${method} ${url}`;
      seen.push({ line, key: request.headers.authorization, body: sent === '' ? null : parseJson(sent) });
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ did: line }));
    })();
  });
  const origin = `http://127.0.0.1:${port}`;
  const write = (now: string): void => {
    text = now;
    // Concurrent readers see either the old or the new file.
    writeFileSync(`${path}.new`, now);
    renameSync(`${path}.new`, path);
  };
  const have = (now: Operations, rest: JsonObject = {}): void =>
    write(JSON.stringify(documentOf(origin, now, rest)));
  have(operations, more);
  return {
    origin,
    url: `${origin}/v1/pets.json`,
    path,
    seen,
    fetches: () => fetches,
    have,
    write,
    answerWith: (now) => {
      status = now;
    },
  };
}

/** A document with these operations, each with a response. */
export function documentOf(origin: string, operations: Operations, more: JsonObject = {}): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [line, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = line.split(' ');
    (paths[path] ??= {})[method.toLowerCase()] = {
      responses: { 200: { description: 'Done.' } },
      ...operation,
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    servers: [{ url: origin }],
    paths,
    ...more,
  };
}

const LIMIT = { name: 'limit', in: 'query', schema: { type: 'integer' } };
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const NAMED = {
  required: true,
  content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
};

/** One operation of each kind, and one that cannot become a tool. */
export const PETS: Operations = {
  'GET /pets': { operationId: 'list_pets', summary: 'List the pets', parameters: [LIMIT] },
  'POST /pets': { operationId: 'add_pet', summary: 'Add a pet', requestBody: NAMED },
  'DELETE /pets/{id}': { operationId: 'drop_pet', summary: 'Drop a pet', parameters: [ID] },
  'TRACE /pets': { operationId: 'trace_pets' },
};

export const LOOPBACK = { ASSAY_HTTP_ALLOW_LOOPBACK: 'true' } as const;

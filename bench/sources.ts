// The cost of tools that Assay builds: calls of a REST tool, and the import of a large OpenAPI document.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callsInPairs, type CallPair } from './call-pairs.ts';
import type { LoadProcess } from './load-process.ts';
import type { Plan } from './plan.ts';
import { median } from './statistics.ts';
import { builtMain, type Place, untilEchoes } from './targets.ts';

const OPERATION_COUNT = 1_000;
const SCHEMA_COUNT = 200;
const IMPORTS = 5;

export interface SourceCost {
  /** A REST tool, compared with a server behind a plain reverse proxy. */
  readonly rest: readonly CallPair[];
  readonly operations: number;
  /** Duration of the whole command. */
  readonly importP50Ms: number;
}

/** Rejects on a wrong answer. */
export async function measureSources(
  place: Place,
  bench: { readonly load: LoadProcess; readonly plan: Plan },
): Promise<SourceCost> {
  const api = await place.peer('rest-echo.ts', []);
  const echo = await place.echo(10);
  const ceiling = await place.peer('ceiling.ts', [echo.endpoint]);
  const tools = { echo: { url: api.endpoint.replace(/\/mcp$/, '/echo'), method: 'POST' } };
  const assay = await place.assay('sources', { tools, settings: { 'http.allowLoopback': true } });
  await untilEchoes({ endpoint: assay.endpoint, proxy: assay.running, behind: [] }, 'modern', 'echo');
  return {
    rest: await callsInPairs(assay.endpoint, ceiling.endpoint, bench),
    operations: OPERATION_COUNT,
    importP50Ms: await importP50Ms(place),
  };
}

async function importP50Ms(place: Place): Promise<number> {
  const document = join(place.scratch, 'large.json');
  writeFileSync(document, JSON.stringify(largeDocument()));
  const times: number[] = [];
  for (let round = 0; round < IMPORTS; round += 1) {
    const home = join(place.scratch, `import-${String(round)}`);
    const startedMs = performance.now();
    const running = place.node([builtMain(), 'openapi', document, '--home', home]);
    const [made] = await running.saying(/\d+ tools made/);
    times.push(performance.now() - startedMs);
    if (made !== `${String(OPERATION_COUNT)} tools made`) throw new Error(`the import made ${made}`);
  }
  return median(times) ?? NaN;
}

/** Operations with all methods, whose bodies and responses share schemas that refer to each other. */
function largeDocument(): object {
  const paths = Object.fromEntries(
    Array.from({ length: OPERATION_COUNT / 4 }, (_, at) => [`/things${String(at)}/{id}`, pathOf(at)]),
  );
  const schemas = Object.fromEntries(
    Array.from({ length: SCHEMA_COUNT }, (_, at) => [`Thing${String(at)}`, schemaOf(at)]),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Large', version: '1' },
    servers: [{ url: 'https://api.example.com/v1' }],
    paths,
    components: { schemas },
  };
}

function pathOf(at: number): object {
  const thing = { $ref: `#/components/schemas/Thing${String(at % SCHEMA_COUNT)}` };
  const content = { 'application/json': { schema: thing } };
  const responses = { 200: { description: 'It.', content } };
  const name = String(at);
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }];
  const query = [{ name: 'expand', in: 'query', schema: { type: 'array', items: { type: 'string' } } }];
  return {
    parameters,
    get: { operationId: `getThing${name}`, summary: 'Reads a thing', parameters: query, responses },
    put: { operationId: `putThing${name}`, summary: 'Writes a thing', requestBody: { content }, responses },
    post: { operationId: `postThing${name}`, summary: 'Makes a thing', requestBody: { content }, responses },
    delete: { operationId: `deleteThing${name}`, summary: 'Deletes a thing', responses },
  };
}

function schemaOf(at: number): object {
  const next = { $ref: `#/components/schemas/Thing${String((at + 1) % 10)}` };
  const texts = Array.from({ length: 12 }, (_, place): readonly [string, object] => [
    `field${String(place)}`,
    { type: 'string', description: 'A field of a thing, with a sentence that says what it is for.' },
  ]);
  return { type: 'object', properties: { ...Object.fromEntries(texts), next }, required: ['field0'] };
}

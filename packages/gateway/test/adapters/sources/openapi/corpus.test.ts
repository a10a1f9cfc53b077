// Real-world documents, with their peculiarities.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  MAX_VALUES,
  formatParseFault,
  parseText,
} from '../../../../src/adapters/sources/openapi/parse-document.ts';
import { at, type Json, type JsonObject } from '../../../../../../test/support/json.ts';
import { documentOf } from '../../../../../../test/support/openapi-document.ts';
import { openSource, toolsOf } from '../../../../../../test/support/openapi-source.ts';
import { ROOT, writeText } from '../../../../../../test/support/paths.ts';

const FOLDER = join(ROOT, 'node_modules', '@readme', 'oas-examples');
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const files = globSync('3.[01]/{json,yaml}/**/*.{json,yaml}', { cwd: FOLDER }).sort();

/** This many operations that share large schemas, each of which refers to the following ones. */
function largeDocument(operations: number, schemas: number): Json {
  const text = 'What this member is, told at some length. '.repeat(5);
  const member = (index: number): Json =>
    index % 3 === 0
      ? { $ref: `#/components/schemas/S${(index + 1) % schemas}` }
      : { type: 'string', description: text, maxLength: index };
  const schema = (index: number): Json => ({
    type: 'object',
    description: text,
    required: ['m1'],
    properties: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, member(index + at)])),
  });
  const body = (index: number): Json => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/S${index % schemas}` } } },
  });
  return documentOf(
    Object.fromEntries(
      Array.from({ length: operations }, (_, index) => [
        `/things/${index}/{id}`,
        {
          post: {
            operationId: `make_${index}`,
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
            requestBody: body(index),
            responses: { '200': { description: 'Fine.', ...(body(index + 1) as JsonObject) } },
          },
        },
      ]),
    ),
    {
      components: {
        schemas: Object.fromEntries(Array.from({ length: schemas }, (_, at) => [`S${at}`, schema(at)])),
      },
    },
  );
}

describe('a real-world document', () => {
  it.each(files)('%s: each operation becomes a tool', async (file) => {
    const path = join(FOLDER, file);
    const { tools, skipped } = await toolsOf(openSource(path, { baseUrl: 'http://127.0.0.1:1/' }));
    expect(skipped).toEqual([]);
    expect(tools.length).toBe(await operationsIn(path));
    expect(new Set(tools.map(({ definition }) => definition.name)).size).toBe(tools.length);
    const ajv = new Ajv2020({ strict: false, logger: false });
    for (const { definition } of tools) {
      expect(definition.name).toMatch(/^[A-Za-z0-9_-]{1,61}$/);
      // The JSON version of the document has the same schemas.
      if (files.includes(file.replaceAll('yaml', 'json')) && file.endsWith('.yaml')) continue;
      ajv.compile(definition.inputSchema);
      if (definition.outputSchema !== undefined) ajv.compile(definition.outputSchema);
    }
  });
});

describe('a large document', () => {
  it('is read completely, and not parsed again while its text is unchanged', async () => {
    const text = JSON.stringify(largeDocument(1_000, 40));
    const source = openSource(writeText(text, 'api.json'));
    const { tools, skipped } = await toolsOf(source);
    expect([tools.length, skipped]).toEqual([1_000, []]);
    const { inputSchema } = tools[7]!.definition;
    expect(Object.keys(inputSchema['$defs'] as object).length).toBeGreaterThan(10);
    expect(Object.keys(inputSchema['properties'] as object)).toHaveLength(21);
    expect((await toolsOf(source)).tools).toBe(tools);
  });
});

async function operationsIn(path: string): Promise<number> {
  const parsed = await parseText(readFileSync(path, 'utf8'), 'file:///x', MAX_VALUES);
  if (!parsed.ok) throw new Error(formatParseFault(parsed.error));
  const paths = at(parsed.value.value as Json, 'paths') ?? {};
  return Object.values(paths).reduce<number>((sum, item: Json) => {
    const reference = at(item, '$ref');
    const name =
      typeof reference === 'string' ? reference.replace('#/paths/', '').replaceAll('~1', '/') : undefined;
    const meant = name === undefined ? item : at(paths, name);
    return sum + METHODS.filter((method) => at(meant, method) !== undefined).length;
  }, 0);
}

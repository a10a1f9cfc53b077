// Documents that others wrote, with what real ones have in them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../../../src/adapters/sources/openapi/parse-document.ts';
import { at, type Json } from '../../../support/json.ts';
import { openSource, toolsOf } from '../../../support/openapi-source.ts';
import { ROOT } from '../../../support/place.ts';

const FOLDER = join(ROOT, 'node_modules', '@readme', 'oas-examples');
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const files = globSync('3.[01]/{json,yaml}/**/*.{json,yaml}', { cwd: FOLDER }).sort();

/** Files there that are parts of documents. */
const PARTS: readonly string[] = [];

describe('a document that others wrote', () => {
  it.each(files.filter((file) => !PARTS.includes(file)))(
    '%s: each operation is a tool or says why not',
    async (file) => {
      const path = join(FOLDER, file);
      const { tools, skipped } = await toolsOf(openSource(path, { baseUrl: 'http://127.0.0.1:1/' }));
      expect(tools.length + skipped.length).toBe(await operationsIn(path));
      expect(new Set(tools.map(({ definition }) => definition.name)).size).toBe(tools.length);
      const ajv = new Ajv2020({ strict: false, logger: false });
      for (const { definition } of tools) {
        expect(definition.name).toMatch(/^[A-Za-z0-9_-]{1,61}$/);
        ajv.compile(definition.inputSchema);
        if (definition.outputSchema !== undefined) ajv.compile(definition.outputSchema);
      }
      if (skipped.length > 0) console.log(file, tools.length, skipped);
    },
  );
});

async function operationsIn(path: string): Promise<number> {
  const parsed = await parseDocument(readFileSync(path, 'utf8'), 'file:///x');
  if (!parsed.ok) throw new Error(parsed.error);
  const paths = at(parsed.value as Json, 'paths') ?? {};
  return Object.values(paths).flatMap((item: Json) =>
    METHODS.filter((method) => at(item, method) !== undefined),
  ).length;
}

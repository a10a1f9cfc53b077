// Documents broken on purpose or at random, and malicious arguments.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ok } from '@assay-mcp/kit/result';
import type { HttpCall, HttpPort } from '../../../../src/adapters/sources/http/open-http.ts';
import type { BuiltInTool } from '../../../../src/adapters/sources/built-in-tool.ts';
import { rounds } from '../../../../../../test/support/campaign.ts';
import { parseJson, type Json } from '../../../../../../test/support/json.ts';
import { documentOf } from '../../../../../../test/support/openapi-document.ts';
import { callTool, openSource } from '../../../../../../test/support/openapi-source.ts';
import { scaledMs } from '../../../../../../test/support/slow-machine.ts';
import { ROOT } from '../../../../../../test/support/paths.ts';

const FOLDER = join(ROOT, 'node_modules', '@readme', 'oas-examples');
const bases = [
  '3.0/json/petstore',
  '3.0/json/schema-circular',
  '3.0/json/security',
  '3.1/json/train-travel',
  '3.1/json/schema-types',
].map((name) => parseJson(readFileSync(join(FOLDER, `${name}.json`), 'utf8')));
const texts = ['3.0/yaml/petstore', '3.1/yaml/train-travel'].map((name) =>
  readFileSync(join(FOLDER, `${name}.yaml`), 'utf8'),
);

/** Values that are likely to break a reader. */
const POISON: readonly Json[] = [
  null,
  true,
  0,
  -1,
  '',
  '..',
  [],
  {},
  [null],
  [[]],
  { $ref: '#' },
  { $ref: '#/paths' },
  { $ref: '#/components/schemas/Pet' },
  { $ref: 'http://[' },
  { $ref: 1 },
  { allOf: [{ $ref: '#/components/schemas/Pet' }, { $ref: '#' }] },
  { type: 'object', properties: { __proto__: null, constructor: {} } },
  parseJson('{"__proto__":{"type":"string"}}'),
];

interface Change {
  readonly at: number;
  readonly kind: 'poison' | 'remove' | 'copy' | 'rename';
  readonly what: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('poison', 'remove', 'copy', 'rename'),
  what: fc.nat(),
});

type Holder = Json[] | Record<string, Json>;

/** Every member that can be changed, as its holder and key. */
function placesIn(value: Json): readonly (readonly [Holder, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder; // our own copy
  return Object.entries(holder).flatMap(([key, member]) => [[holder, key] as const, ...placesIn(member)]);
}

function changed(document: Json, changes: readonly Change[]): Json {
  const copy = structuredClone(document);
  for (const { at, kind, what } of changes) {
    const places = placesIn(copy);
    const [holder, key] = places[at % places.length] ?? [{}, ''];
    const [from, other] = places[what % places.length] ?? [{}, ''];
    const members = holder as Record<string, Json>;
    if (kind === 'poison') members[key] = structuredClone(POISON[what % POISON.length]!);
    if (kind === 'copy') members[key] = structuredClone((from as Record<string, Json>)[other]!);
    if (kind === 'remove') Reflect.deleteProperty(members, key);
    if (kind === 'rename' && !Array.isArray(holder)) {
      members[other] = members[key]!;
      Reflect.deleteProperty(members, key);
    }
  }
  return copy;
}

/** Records every request and answers it. */
function openRecorder(): HttpPort & { readonly calls: HttpCall[] } {
  const calls: HttpCall[] = [];
  return {
    calls,
    send: (call) => {
      calls.push(call);
      return Promise.resolve(
        ok({ status: 200, headers: {}, body: Buffer.from('{}'), isCut: false, isPublic: false }),
      );
    },
    close: () => Promise.resolve(),
  };
}

async function readText(text: string, http: HttpPort): Promise<readonly BuiltInTool[]> {
  const source = openSource('/api/api.json', {
    http,
    baseUrl: 'https://api.example/base',
    readFile: () => Promise.resolve(ok(text)),
  });
  const startMs = performance.now();
  const read = await source.read(AbortSignal.timeout(10_000));
  expect(performance.now() - startMs).toBeLessThan(scaledMs(5_000));
  await source.close();
  if (read.ok) return read.value.tools;
  expect(read.error.code).not.toBe('READING_FAILED');
  return [];
}

const jsonValue = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;

describe('any document', () => {
  it('yields working tools or an error phrase, and never throws or hangs', async () => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bases),
        fc.array(change, { minLength: 1, maxLength: 8 }),
        async (base, changes) => {
          const tools = await readText(JSON.stringify(changed(base, changes)), openRecorder());
          expect(new Set(tools.map(({ definition }) => definition.name)).size).toBe(tools.length);
          for (const { definition } of tools) {
            expect(definition.name).toMatch(/^[A-Za-z0-9_-]{1,61}$/);
            for (const schema of [definition.inputSchema, definition.outputSchema ?? {}]) {
              const validate = ajv.compile(schema);
              validate(deepValue);
              ajv.removeSchema(schema);
            }
          }
        },
      ),
      { numRuns: rounds({ short: 40, long: 1_000 }) },
    );
  });

  it('yields tools or an error phrase even if its YAML is broken', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...texts),
        fc.array(
          fc.tuple(
            fc.nat(),
            fc.constantFrom('', '\t', '&a ', '*a ', '<<: ', '- ', ': ', '{', '"', '\n', '!!set ', '\ud800'),
          ),
        ),
        async (text, edits) => {
          let broken = text;
          for (const [at, what] of edits) {
            const place = at % broken.length;
            broken = broken.slice(0, place) + what + broken.slice(place + 1);
          }
          await readText(broken, openRecorder());
        },
      ),
      { numRuns: rounds({ short: 15, long: 200 }) },
    );
  });
});

/** Checking this would never end if a schema referred back to itself for the same value. */
const deepValue = { body: { a: [{}] }, parent: { parent: {} } };

describe('any arguments', () => {
  const places = ['path', 'query', 'header', 'cookie'];
  const styles = ['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];
  const parameters = places.flatMap((place) =>
    styles.flatMap((style) =>
      [true, false].map((explode) => ({ name: `${place}_${style}_${explode}`, in: place, style, explode })),
    ),
  );
  const paths = Object.fromEntries(
    parameters.map((parameter) => [
      `/a/${parameter.in === 'path' ? `{${parameter.name}}` : parameter.name}/end`,
      { get: { parameters: [parameter] } },
    ]),
  );

  it('end up only where their parameter belongs, or are not sent', async () => {
    const http = openRecorder();
    const tools = await readText(JSON.stringify(documentOf(paths)), http);
    expect(tools.length).toBe(18);
    const hostile = fc.oneof(
      fc.constantFrom('..', '.', '../..', '/', '?', '#', '\\', '%2e', '\r\n', '@evil', ':80', '//evil'),
      fc.string({ unit: 'binary' }),
      jsonValue,
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...tools), hostile, async (tool, value) => {
        const [name = ''] = Object.keys(tool.definition.inputSchema['properties'] as object);
        const result = await callTool(tool, { [name]: value });
        const sent = http.calls.splice(0);
        expect(sent.length).toBe(result.isError === true ? 0 : 1);
        for (const { url, headers } of sent) {
          expect(url.origin).toBe('https://api.example');
          expect(url.pathname).toMatch(/^\/base\/a\/[^/]+\/end$/);
          expect(url.hash).toBe('');
          if (!name.startsWith('query')) expect(url.search).toBe('');
          for (const [, one] of headers) expect(one).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
        }
      }),
      { numRuns: rounds({ short: 300, long: 5_000 }) },
    );
  });
});

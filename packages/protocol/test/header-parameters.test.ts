import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findHeaderParameters, readHeaderParameters } from '../src/header-parameters.ts';

type Json = unknown;

const annotated = (name: Json, type: Json = 'string'): Json => ({ type, 'x-mcp-header': name });
const schema = (properties: Json, more: object = {}): Json => ({ type: 'object', properties, ...more });

/** The headers of a schema with the paths of their parameters, or the position that makes it invalid. */
function read(inputSchema: Json): Json {
  const found = readHeaderParameters(inputSchema);
  if (!found.ok) return found.error.at.join('/');
  return found.value?.all.map(({ header, path }) => [header, path.join('/')]) ?? [];
}

describe("a tool's header parameters", () => {
  const check = (inputSchema: Json, expected: Json): void => {
    expect([inputSchema, read(inputSchema)]).toEqual([inputSchema, expected]);
  };

  it('are the annotated ones, at any depth below "properties"', () => {
    check(schema({ a: annotated('A'), b: { type: 'string' } }), [['Mcp-Param-A', 'a']]);
    check(schema({ o: schema({ p: schema({ q: annotated('Q', 'integer') }) }) }), [['Mcp-Param-Q', 'o/p/q']]);
    check(schema({ a: annotated('A', 'boolean'), b: annotated("!#$%&'*+-.^_`|~9") }), [
      ['Mcp-Param-A', 'a'],
      ["Mcp-Param-!#$%&'*+-.^_`|~9", 'b'],
    ]);
    for (const none of [undefined, null, true, [], {}, schema({}), schema([]), schema({ a: true })])
      check(none, []);
  });

  it('may be called like the annotation itself, or like a member of Object.prototype', () => {
    check(schema({ 'x-mcp-header': { type: 'string' } }), []);
    check(schema({ 'x-mcp-header': annotated('X'), constructor: annotated('C') }), [
      ['Mcp-Param-X', 'x-mcp-header'],
      ['Mcp-Param-C', 'constructor'],
    ]);
    check(JSON.parse('{"properties":{"__proto__":{"type":"string","x-mcp-header":"P"}}}'), [
      ['Mcp-Param-P', '__proto__'],
    ]);
  });

  it('make the tool invalid with an invalid name', () => {
    for (const name of [
      '',
      null,
      7,
      true,
      {},
      ['A'],
      'a b',
      'a:b',
      'Région',
      'a\tb',
      'a\nb',
      'a\u0000',
      '"a"',
      'a/b',
    ])
      check(schema({ a: annotated(name) }), 'properties/a/x-mcp-header');
  });

  it('make the tool invalid with a type that has no single text form, or without a type', () => {
    for (const type of ['number', 'object', 'array', 'null', null, ['string', 'null'], ['string'], 7])
      check(schema({ a: annotated('A', type) }), 'properties/a/x-mcp-header');
    check(schema({ a: { 'x-mcp-header': 'A' } }), 'properties/a/x-mcp-header');
  });

  it('make the tool invalid with a duplicate name, in any case and at any depth', () => {
    check(schema({ a: annotated('Region'), b: annotated('Region') }), 'properties/b/x-mcp-header');
    check(
      schema({ a: annotated('Region'), o: schema({ b: annotated('rEGION') }) }),
      'properties/o/properties/b/x-mcp-header',
    );
  });

  it('make the tool invalid below anything but "properties"', () => {
    const one = annotated('A');
    for (const keyword of [
      'items',
      'additionalProperties',
      'not',
      'if',
      'then',
      'else',
      'contains',
      'propertyNames',
      'unevaluatedProperties',
      'unevaluatedItems',
      'contentSchema',
      'additionalItems',
    ]) {
      check(schema({ a: { [keyword]: one } }), `properties/a/${keyword}/x-mcp-header`);
      check(
        schema({ a: { [keyword]: schema({ b: one }) } }),
        `properties/a/${keyword}/properties/b/x-mcp-header`,
      );
    }
    for (const keyword of ['oneOf', 'anyOf', 'allOf', 'prefixItems', 'items'])
      check(schema({}, { [keyword]: [{}, one] }), `${keyword}/1/x-mcp-header`);
    for (const keyword of ['$defs', 'definitions', 'patternProperties', 'dependentSchemas', 'dependencies'])
      check(schema({}, { [keyword]: { x: one } }), `${keyword}/x/x-mcp-header`);
    check({ ...(one as object) }, 'x-mcp-header');
  });

  it('are not found in defaults, examples and constants: these are not schemas', () => {
    for (const keyword of ['default', 'const', 'examples', 'enum', 'x-vendor', 'required'])
      check(schema({ a: { type: 'string', [keyword]: [annotated('')] } }), []);
  });

  it('are not searched below the maximum depth of a listed schema', () => {
    let deep: Json = annotated('A');
    for (let depth = 0; depth < 5_000; depth += 1) deep = schema({ a: deep });
    expect(readHeaderParameters(deep)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('256') as string },
    });
  });

  it("are found however the definition's keys are escaped", () => {
    for (const key of ['x-mcp-header', 'x\\u002dmcp\\u002Dheader', '\\u0078-mcp-header']) {
      const definition = `{"name":"a","inputSchema":{"type":"object","properties":{"r":{"type":"string","${key}":"R"}}}}`;
      expect(findHeaderParameters(Buffer.from(definition))?.all).toEqual([
        { header: 'Mcp-Param-R', field: 'mcp-param-r', path: ['r'] },
      ]);
    }
    expect(findHeaderParameters(Buffer.from('{"name":"a","inputSchema":{}}'))).toBeUndefined();
    expect(findHeaderParameters(Buffer.from('{"name":"\\u00e9","inputSchema":null}'))).toBeUndefined();
  });
});

describe('any schema', () => {
  const name = fc.oneof(fc.constantFrom('A', 'a', 'B', 'C', 'D', 'E', 'é', ''), fc.string({ maxLength: 3 }));
  const { any } = fc.letrec<{ any: Json }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.record(
        { type: fc.constantFrom('string', 'integer', 'boolean', 'number'), 'x-mcp-header': name },
        { requiredKeys: ['type'] },
      ),
      fc.record(
        {
          type: fc.constant('object'),
          properties: fc.dictionary(fc.constantFrom('p', 'q', 'r'), tie('any'), { maxKeys: 3 }),
          items: tie('any'),
          anyOf: fc.array(tie('any'), { maxLength: 2 }),
          $defs: fc.dictionary(fc.constantFrom('x', 'y'), tie('any'), { maxKeys: 2 }),
          default: tie('any'),
        },
        { requiredKeys: ['type'] },
      ),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  }));

  const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  /** The rules, written independently: all annotations, and whether each is valid where it is. */
  const annotations = (
    node: Json,
    isReached: boolean,
    isRoot: boolean,
  ): readonly { readonly name: Json; readonly isFine: boolean }[] => {
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return [];
    const { properties, items, anyOf, $defs } = node as Record<string, Json>;
    const own = Object.hasOwn(node, 'x-mcp-header')
      ? [
          {
            name: (node as Record<string, Json>)['x-mcp-header'],
            isFine:
              isReached &&
              !isRoot &&
              ['string', 'integer', 'boolean'].includes((node as { type?: string }).type ?? ''),
          },
        ]
      : [];
    const values = (part: Json): readonly Json[] =>
      typeof part === 'object' && part !== null && !Array.isArray(part) ? Object.values(part) : [];
    return [
      ...own,
      ...values(properties).flatMap((inner) => annotations(inner, isReached, false)),
      ...[...(Array.isArray(items) ? (items as Json[]) : [items])].flatMap((inner) =>
        annotations(inner, false, false),
      ),
      ...[...(Array.isArray(anyOf) ? (anyOf as Json[]) : [anyOf])].flatMap((inner) =>
        annotations(inner, false, false),
      ),
      ...values($defs).flatMap((inner) => annotations(inner, false, false)),
    ];
  };

  it('is accepted exactly if each annotation is valid and no two are equal', () => {
    fc.assert(
      fc.property(any, (given) => {
        const all = annotations(given, true, true);
        const names = all.map((one) => (typeof one.name === 'string' ? one.name.toLowerCase() : one.name));
        const isFine =
          all.every((one) => one.isFine && typeof one.name === 'string' && TOKEN.test(one.name)) &&
          new Set(names).size === names.length;
        const found = readHeaderParameters(given);
        expect(found.ok).toBe(isFine);
        if (found.ok) expect(found.value?.all.length ?? 0).toBe(all.length);
      }),
      { numRuns: 2_000 },
    );
  });
});

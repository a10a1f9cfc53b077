import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findCompileFault } from '../src/compilable.ts';
import { rounds } from '../../../test/support/campaign.ts';

type Schema = Readonly<Record<string, unknown>>;

const RUNS = rounds({ short: 800, long: 20_000 });

// Ajv warns about unknown formats.
beforeAll(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** The error of SDK 1.x's validator when its client receives the schema. */
function thrown(schema: Schema): string | undefined {
  try {
    new AjvJsonSchemaValidator().getValidator(schema);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Checks the fault, as "path message", and that Ajv throws exactly if there is one. */
function check(members: Schema, expected: string | undefined): void {
  const schema = { type: 'object', ...members };
  const fault = findCompileFault(schema);
  expect({
    fault: fault && `${fault.at.join('.')} ${fault.message}`,
    throws: thrown(schema) !== undefined,
  }).toEqual({
    fault: expected,
    throws: expected !== undefined,
  });
}

const a = (schema: unknown): Schema => ({ properties: { a: schema } });

describe('a schema that Ajv cannot compile', () => {
  it('has a pattern that is not a regular expression with the flag "u"', () => {
    check(a({ type: 'string', pattern: '^[\\w.-]+$' }), undefined);
    check(a({ pattern: '\\-' }), 'properties.a.pattern is not a regular expression with the flag "u"');
    check(
      { patternProperties: { '(': false } },
      'patternProperties is not a regular expression with the flag "u"',
    );
  });
  it('has types that JSON does not have', () => {
    check(a({ type: ['string', 'null'] }), undefined);
    check(a({ type: 'strin' }), 'properties.a.type names no JSON type');
    check(a({ type: ['string', 'date'] }), 'properties.a.type names no JSON type');
    check(a({ type: null }), 'properties.a.type has a value of the wrong type');
  });
  it('uses keywords of OpenAPI 3.0 or an older draft', () => {
    check(a({ type: 'string', nullable: true }), undefined);
    check(a({ $ref: '#/$defs/x', nullable: true }), 'properties.a.$ref names nothing in this schema');
    check({ ...a({ allOf: [{}], nullable: true }) }, 'properties.a.nullable stands without a type');
    check(a({ type: 'string', required: true }), 'properties.a.required has a value of the wrong type');
    check(
      a({ minimum: 0, exclusiveMinimum: true }),
      'properties.a.exclusiveMinimum has a value of the wrong type',
    );
    check({ $defs: { x: { id: 'x', type: 'string' } } }, undefined);
    check(
      { $defs: { x: { id: 'x', type: 'string' } }, ...a({ $ref: '#/$defs/x' }) },
      'properties.a.$ref.id has a value of the wrong type',
    );
  });
  it('has keywords with invalid values', () => {
    check(a({ enum: [] }), 'properties.a.enum is empty');
    check(a({ items: null }), 'properties.a.items has a value of the wrong type');
    check(a(null), 'properties.a is null');
    check(a(5), undefined);
    check(a({ format: 'no-such-format' }), undefined);
    check({ anyOf: [{}, { type: 5 }] }, undefined);
    check({ oneOf: [{}, { type: 5 }] }, 'oneOf.1.type names no JSON type');
    check({ if: { type: 5 } }, undefined);
    check({ if: { type: 5 }, then: { type: 'object' } }, 'if.type names no JSON type');
    check(a({ formatMaximum: '1' }), 'properties.a.formatMaximum needs a format with an order');
    check({ unknown: { type: 5 }, $defs: { x: { type: 5 } } }, undefined);
  });
  it('has references to nothing, or circular ones', () => {
    const $defs = {
      x: { type: 'string' },
      bad: { type: 'x' },
      'a/b%': {},
      loop: { $ref: '#/$defs/pool' },
      pool: { $ref: '#/$defs/loop' },
    };
    check({ $defs, ...a({ $ref: '#/$defs/x' }) }, undefined);
    check({ $defs, ...a({ $ref: '#/$defs/a~1b%25' }) }, undefined);
    check(a({ $ref: '#' }), undefined);
    check(
      { $defs: { tree: { properties: { left: { $ref: '#/$defs/tree' } } } }, ...a({ $ref: '#/$defs/tree' }) },
      undefined,
    );
    check({ $defs, ...a({ $ref: '#/$defs/none' }) }, 'properties.a.$ref names nothing in this schema');
    check({ $defs, ...a({ $ref: '#/$defs/%' }) }, 'properties.a.$ref names nothing in this schema');
    check({ $defs, ...a({ $ref: 'https://e.org/x' }) }, 'properties.a.$ref names nothing in this schema');
    check({ $defs, ...a({ $ref: '#/$defs/bad' }) }, 'properties.a.$ref.type names no JSON type');
    check({ $defs, ...a({ $ref: '#/$defs/loop' }) }, 'properties.a.$ref leads back to itself');
    check({ $defs: { x: { $anchor: 'y' } }, ...a({ $ref: '#y' }) }, undefined);
    check({ $defs: { x: { $anchor: '1' } } }, '$defs.x.$anchor is not a valid and unique name');
    check({ $id: 'https://e.org/s.json', $defs, ...a({ $ref: '#/$defs/x' }) }, undefined);
  });
  it('may be invalid at any depth', () => {
    const deep = {
      allOf: [
        { items: [{ not: { additionalProperties: { dependencies: { k: { contains: { type: 5 } } } } } }] },
      ],
    };
    check(
      a(deep),
      'properties.a.allOf.0.items.0.not.additionalProperties.dependencies.k.contains.type names no JSON type',
    );
  });
});

it('a nested id counts as a fault, although Ajv may accept it', () => {
  expect(findCompileFault({ type: 'object', ...a({ $id: 'x', type: 'string' }) })).toEqual({
    at: ['properties', 'a', '$id'],
    message: 'is nested',
  });
});

describe('random schemas', () => {
  it('have a fault if Ajv refuses them, and otherwise only by rules known to be stricter', () => {
    let refused = 0;
    let compiled = 0;
    fc.assert(
      fc.property(randomSchema(), (schema) => {
        const [fault, error] = [findCompileFault(schema), thrown(schema)];
        if (error !== undefined) {
          refused += 1;
          expect(fault, error).toBeDefined();
        } else if (fault !== undefined && !isKnownStrictness(fault.message, JSON.stringify(schema))) {
          throw new Error(`Ajv takes it, but ${fault.at.join('.')} ${fault.message}`);
        } else compiled += 1;
      }),
      { numRuns: RUNS },
    );
    expect(Math.min(refused, compiled)).toBeGreaterThan(RUNS / 20);
  });
});

/** Ids depend on what else a client has seen; the rest is invalid but compiles in Ajv. */
function isKnownStrictness(message: string, text: string): boolean {
  return STRICTNESS.has(message) || text.includes('$id');
}

const STRICTNESS: ReadonlySet<string> = new Set([
  'is null',
  'is set',
  'holds something else than strings',
  'leads back to itself',
  'needs a format with an order',
]);

function randomSchema(): fc.Arbitrary<Schema> {
  const scalar = fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1.5,
    '',
    'x',
    [],
    {},
    ['x'],
    [1],
    Infinity,
  );
  const { schema } = fc.letrec<{ schema: unknown; map: unknown; list: unknown }>((tie) => {
    const sub = tie('schema');
    const orJunk = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
      fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: scalar });
    const some = (
      keys: readonly string[],
      value: fc.Arbitrary<unknown>,
    ): Record<string, fc.Arbitrary<unknown>> => Object.fromEntries(keys.map((key) => [key, orJunk(value)]));
    const model = {
      ...some(
        ['type'],
        fc.constantFrom<unknown>('string', 'object', 'array', 'null', ['string', 'null'], [], 'integer'),
      ),
      ...some(['nullable', 'uniqueItems'], fc.boolean()),
      ...some(
        ['$ref'],
        fc.constantFrom(
          '#',
          '#/',
          '#/$defs/x',
          '#/$defs/y',
          '#/properties/x',
          '#/items',
          '#x',
          '#y',
          '#/$defs/x/not',
          '#/allOf/0',
        ),
      ),
      ...some(['pattern'], fc.constantFrom('a', '\\d+', '\\-', '(', '[', '\\p{L}')),
      ...some(['format', 'formatMaximum'], fc.constantFrom('date', 'date-time', 'uri', 'nope', 'int32')),
      ...some(['minimum', 'maxLength', 'exclusiveMaximum', 'multipleOf', 'minItems'], fc.integer()),
      ...some(['required'], fc.constant(['x'])),
      ...some(['enum'], fc.array(scalar, { maxLength: 2 })),
      ...some(['const', 'default', 'title', '$comment', 'examples'], scalar),
      ...some(
        [
          'not',
          'if',
          'then',
          'else',
          'contains',
          'propertyNames',
          'additionalProperties',
          'additionalItems',
          'vendor',
        ],
        sub,
      ),
      ...some(['items'], fc.oneof(sub, tie('list'))),
      ...some(['anyOf', 'oneOf', 'allOf'], tie('list')),
      ...some(['properties', 'patternProperties', 'dependencies', '$defs', 'definitions'], tie('map')),
      ...some(['$anchor', '$dynamicAnchor'], fc.constantFrom('x', 'y', 'z1', '1')),
    };
    const keys = Object.keys(model) as (keyof typeof model)[];
    const few = fc
      .subarray(keys, { minLength: 0, maxLength: 3 })
      .chain((chosen) => fc.record(Object.fromEntries(chosen.map((key) => [key, model[key]!]))));
    return {
      schema: fc.oneof({ maxDepth: 4, depthIdentifier: 'schema' }, scalar, few),
      list: fc.array(sub, { maxLength: 2, depthIdentifier: 'schema' }),
      map: fc.dictionary(fc.constantFrom('x', 'y', '__proto__', 'a/b'), sub, {
        maxKeys: 2,
        depthIdentifier: 'schema',
      }),
    };
  });
  // SDK 1.x checks the root before it compiles: `properties` contains objects, `required` strings.
  const ofObjects = fc.dictionary(
    fc.constantFrom('x', 'y'),
    schema.filter((one) => typeof one === 'object' && one !== null),
    { maxKeys: 2 },
  );
  return fc
    .tuple(
      schema,
      schema,
      fc.option(ofObjects, { nil: undefined }),
      fc.constantFrom('', 'https://e.org/x', 'x', undefined, undefined, undefined),
    )
    .map(([root, def, properties, $id]) => ({
      ...(typeof root === 'object' && !Array.isArray(root) ? root : {}),
      $defs: { x: def, y: { type: 'string' } },
      type: 'object',
      required: ['x'],
      properties: properties ?? {},
      ...($id === undefined ? {} : { $id }),
    }));
}

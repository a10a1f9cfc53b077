import { describe, expect, it } from 'vitest';
import { findCompileFault } from '../src/compilable.ts';
import type { ListedKind } from '../src/definition-rules.ts';
import { checkListable, type Listable } from '../src/listable.ts';

type Json = Readonly<Record<string, unknown>>;

const KINDS: readonly ListedKind[] = ['tool', 'prompt', 'resource', 'resourceTemplate'];

/** Schemas `d0` to `d<count>`, each a reference to the next; the last one is a string. */
function chain(count: number, link: (ref: string) => unknown): Record<string, unknown> {
  const entries = Array.from({ length: count }, (_, index) => [`d${index}`, link(`#/$defs/d${index + 1}`)]);
  return { ...(Object.fromEntries(entries) as Json), [`d${count}`]: { type: 'string' } };
}

/** Builds references that count how often they are read. */
function counted(counter: { reads: number }): (ref: string) => unknown {
  return (ref) => ({
    get $ref() {
      counter.reads += 1;
      return ref;
    },
  });
}

function verdict(outputSchema: Json): Listable {
  return checkListable('tool', 'legacy', { name: 'a', inputSchema: { type: 'object' }, outputSchema });
}

const withoutSchema = (reason: string): Listable => ({
  kind: 'without',
  paths: [['outputSchema']],
  reasons: [reason],
});

describe('a long chain of references', () => {
  it.each([
    ['references alone', 9_000, (ref: string) => ({ $ref: ref })],
    ['schemas with a reference inside', 3_000, (ref: string) => ({ properties: { x: { $ref: ref } } })],
    ['references with siblings', 9_000, (ref: string) => ({ $ref: ref, minimum: 0 })],
  ])('makes the tool lose its output schema, and does not crash the process: %s', (_what, count, link) => {
    const $defs = chain(count, link);
    const found = verdict({ type: 'object', $defs, properties: { a: { $ref: '#/$defs/d0' } } });
    if (found.kind !== 'without') throw new Error(`It is ${found.kind}`);
    expect(found.paths).toEqual([['outputSchema']]);
    expect(found.reasons.join()).toMatch(
      /^outputSchema\.properties\.a\.\$ref[\w.$]* leads more than 256 steps down$/,
    );
  });

  it('is followed once, even if entered at every link', () => {
    const counter = { reads: 0 };
    const count = 4_000;
    const $defs = chain(count, counted(counter));
    const entries = Array.from({ length: count }, (_, index) => [
      `p${index}`,
      { $ref: `#/$defs/d${count - 1 - index}` },
    ]);
    expect(
      findCompileFault({ type: 'object', $defs, properties: Object.fromEntries(entries) as Json }),
    ).toBeUndefined();
    expect(counter.reads).toBeLessThan(20 * count);
  });

  it('is followed once, even if circular', () => {
    const counter = { reads: 0 };
    const $defs = { ...chain(4_000, counted(counter)), d4000: { $ref: '#/$defs/d0' } };
    expect(verdict({ type: 'object', $defs, properties: { a: { $ref: '#/$defs/d0' } } })).toEqual(
      withoutSchema('outputSchema.properties.a.$ref leads back to itself'),
    );
    expect(counter.reads).toBeLessThan(20 * 4_000);
  });

  it('is accepted if clients can compile it', () => {
    const $defs = chain(80, (ref) => ({ properties: { x: { $ref: ref } } }));
    expect(verdict({ type: 'object', $defs, properties: { a: { $ref: '#/$defs/d0' } } })).toEqual({
      kind: 'whole',
    });
  });
});

describe('a large schema', () => {
  const properties = (count: number, schema: unknown): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));

  it('makes the tool lose its output schema if it contains more than 10,000 schemas', () => {
    expect(verdict({ type: 'object', properties: properties(9_000, { type: 'string' }) })).toEqual({
      kind: 'whole',
    });
    expect(
      verdict(JSON.parse(JSON.stringify({ type: 'object', properties: properties(10_001, {}) })) as Json),
    ).toEqual(withoutSchema('outputSchema holds more than 10000 schemas'));
  });

  it('has its keys read only a few times, even if many references name it', () => {
    let scans = 0;
    const target = new Proxy(properties(50, 1), {
      ownKeys: (all) => {
        scans += 1;
        return Reflect.ownKeys(all);
      },
    });
    const $defs = { x: target, y: { $ref: '#/$defs/x' } };
    const refs = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [
        `p${index}`,
        { $ref: `#/$defs/${index % 2 ? 'x' : 'y'}` },
      ]),
    ) as Json;
    expect(findCompileFault({ type: 'object', $defs, properties: refs })).toBeUndefined();
    expect(scans).toBeLessThan(20);
  });

  it('loses all its properties at once if more than 100 are invalid', () => {
    const tool = (count: number): unknown => ({
      name: 'a',
      inputSchema: { type: 'object', properties: properties(count, true) },
    });
    const found = checkListable('tool', 'legacy', tool(100));
    expect(found.kind === 'without' && found.paths.length).toBe(100);
    expect(checkListable('tool', 'legacy', tool(200_000))).toEqual({
      kind: 'without',
      paths: [['inputSchema', 'properties']],
      reasons: ['inputSchema.properties holds more than 100 members that are bad'],
    });
  });
});

describe('a definition as deep as the scan allows', () => {
  const KEYS = ['properties', 'a', 'not', 'items', 'allOf', 'annotations', '_meta', 'icons', '\u001b[2J'];

  it('is checked without an exception, and the reasons are short', () => {
    for (const kind of KINDS)
      for (const key of KEYS)
        for (const bottom of [null, Infinity, { $ref: '#' }, 'x'])
          for (const wrap of [(inner: unknown) => ({ [key]: inner }), (inner: unknown) => [inner]]) {
            let deep: unknown = bottom;
            for (let depth = 0; depth < 253; depth += 1) deep = wrap(deep);
            const schema = { type: 'object', [key]: deep };
            const found = checkListable(kind, 'legacy', {
              name: 'a',
              uri: 'a:b',
              uriTemplate: 'a:b',
              inputSchema: { type: 'object' },
              outputSchema: schema,
              _meta: schema,
              icons: deep,
            });
            if (found.kind === 'without')
              for (const reason of found.reasons) expect(reason.length).toBeLessThan(400);
          }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListedKind } from '../src/definition-rules.ts';
import { foldKey, findTwinFault } from '../src/definition-twins.ts';

function fault(text: string, kind: ListedKind = 'tool'): string | undefined {
  return findTwinFault(kind, text, JSON.parse(text));
}

describe('a definition', () => {
  it('is ambiguous with a duplicate key, at any depth and however it is escaped', () => {
    expect(fault('{"name":"t","description":"EVIL","description":"Echoes."}')).toBe(
      'the definition holds the key "description" twice',
    );
    expect(fault('{"name":"t","inputSchema":{},"input\\u0053chema":{"type":"object"}}')).toBe(
      'the definition holds the key "inputSchema" twice',
    );
    expect(
      fault('{"name":"t","inputSchema":{"properties":{"a":{"type":"string" , "type" :"number"}}}}'),
    ).toBe('inputSchema.properties.a holds the key "type" twice');
    expect(fault('{"name":"t","_meta":[0,{"x":[{"y":1,"y":2}]}]}')).toBe(
      '_meta[1].x[0] holds the key "y" twice',
    );
    expect(fault('{"name":"t","annotations":{"readOnlyHint":true,"readOnlyHint":false}}')).toBe(
      'annotations holds the key "readOnlyHint" twice',
    );
    expect(fault('{"__proto__":1,"name":"t","__proto__":2}')).toBe(
      'the definition holds the key "__proto__" twice',
    );
  });

  it('is ambiguous to readers that ignore case if it has two spellings of a relevant key', () => {
    const variants = (one: string, other: string): string =>
      `holds the keys ${one} and ${other}, which some readers take for one`;
    expect(fault('{"name":"t","Name":"u"}')).toBe(`the definition ${variants('"name"', '"Name"')}`);
    expect(fault('{"De\\u017fcription":"EVIL","description":"x"}')).toBe(
      `the definition ${variants('"Deſcription"', '"description"')}`,
    );
    expect(fault('{"INPUTSCHEMA":{},"inputSchema":{"type":"object","TYPE":"array"}}')).toBe(
      `the definition ${variants('"INPUTSCHEMA"', '"inputSchema"')}`,
    );
    expect(fault('{"inputSchema":{"type":"object","TYPE":"array"}}')).toBe(
      `inputSchema ${variants('"type"', '"TYPE"')}`,
    );
    expect(fault('{"annotations":{"readOnlyHint":false,"ReadOnlyHint":true}}')).toBe(
      `annotations ${variants('"readOnlyHint"', '"ReadOnlyHint"')}`,
    );
    expect(fault('{"uri":"a:b","URI":"c:d"}', 'resource')).toBe(
      `the definition ${variants('"uri"', '"URI"')}`,
    );
    expect(fault('{"name":"p","arguments":[{"name":"a"},{"name":"b","NAME":"c"}]}', 'prompt')).toBe(
      `arguments[1] ${variants('"name"', '"NAME"')}`,
    );
    expect(foldKey('\u212Ain\u017F')).toBe('kins');
  });

  it('may have a key in several objects, a single spelling, and case variants of keys that are not read', () => {
    for (const text of [
      '{"name":"t","annotations":{"ReadOnlyHint":true}}',
      '{"name":"t","x":1,"X":2,"_meta":{"a":1,"A":2}}',
      '{"name":"t","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"ID":{"type":"string"}}}}',
      '{"name":"name","title":"name","description":"{\\"a\\":1,\\"a\\":2}"}',
      '[{"a":1},{"a":2}]',
      '"a"',
    ])
      expect(fault(text), text).toBeUndefined();
  });
});

type Tree =
  null | number | string | readonly Tree[] | { readonly members: readonly (readonly [string, Tree])[] };

const KEY = fc.constantFrom('a', 'b', 'é', 'name', '"', '\\', '');
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.constantFrom(null, 1, '{"a":1,', '\\"', ':'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.array(fc.tuple(KEY, tie('tree')), { maxLength: 3 }).map((members) => ({ members })),
  ),
}));

function written(value: Tree, isEscaped: boolean): string {
  if (Array.isArray(value))
    return ` [ ${(value as readonly Tree[]).map((one) => written(one, isEscaped)).join(' , ')} ] `;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const { members } = value as { readonly members: readonly (readonly [string, Tree])[] };
  const keyText = (key: string): string =>
    isEscaped
      ? `"${Array.from(key, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(key);
  return `{${members.map(([key, inner]) => `${keyText(key)} : ${written(inner, isEscaped)}`).join(',')}}`;
}

function hasTwin(value: Tree): boolean {
  if (Array.isArray(value)) return (value as readonly Tree[]).some(hasTwin);
  if (typeof value !== 'object' || value === null) return false;
  const { members } = value as { readonly members: readonly (readonly [string, Tree])[] };
  return (
    new Set(members.map(([key]) => key)).size < members.length || members.some(([, inner]) => hasTwin(inner))
  );
}

it('a duplicate key is found at any depth, and nothing else is reported as one', () => {
  fc.assert(
    fc.property(tree, fc.boolean(), (value, isEscaped) => {
      expect(fault(`{"x":${written(value, isEscaped)}}`) !== undefined).toBe(hasTwin(value));
    }),
    { numRuns: 2_000 },
  );
});

import { describe, expect, it } from 'vitest';
import { hashDefinition } from '@assay-mcp/kit/digest';
import {
  compareDefinitions,
  computeSeverity,
  type Drift,
  type DriftSeverity,
} from '../../../src/core/hints/drift.ts';
import { formatRisk } from '../../../src/core/hints/drift-text.ts';

function definition(value: unknown): { readonly digest: string; readonly text: string } {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { text, digest: hashDefinition(text) };
}

const SEEN = { nowMs: 5, isMade: false };
const TOOL = { name: 't', description: 'Reads.', inputSchema: { type: 'object' } };

function risks(drift: Drift | undefined): readonly string[] | undefined {
  return drift?.risks.map((risk) => ('hint' in risk ? `${risk.code} ${risk.hint}` : risk.code));
}

/** Its severity, and the reasons. */
function judged(before: unknown, after: unknown, seen = SEEN): readonly [DriftSeverity, ...string[]] {
  const drift = compareDefinitions(definition(before), definition(after), seen);
  if (drift === undefined) throw new Error('there is no drift');
  return [computeSeverity(drift, 'flag'), ...(risks(drift) ?? [])];
}

function annotated(annotations: unknown): unknown {
  return { ...TOOL, annotations };
}

function taking(schema: unknown): unknown {
  return { ...TOOL, inputSchema: schema };
}

const TEXTS = {
  type: 'object',
  title: 'Arguments',
  $comment: 'x',
  properties: { path: { type: 'string', description: 'Below /home/a' }, description: { type: 'string' } },
  $defs: { one: { items: { anyOf: [{ title: 'A', type: 'string' }] } } },
};
const OTHER_TEXTS = {
  type: 'object',
  properties: { path: { type: 'string', description: 'Below /home/b' }, description: { type: 'string' } },
  $defs: { one: { items: { anyOf: [{ title: 'B', type: 'string' }] } } },
};

describe('a changed definition', () => {
  it('is described field by field, before and after, with the time', () => {
    const after = annotated({ openWorldHint: true });
    expect(compareDefinitions(definition(TOOL), definition(after), SEEN)).toEqual({
      digest: definition(after).digest,
      sinceMs: 5,
      changes: [{ path: 'annotations', after: '{"openWorldHint":true}' }],
      risks: [],
    });
  });

  it('has no drift if only white space or member order differs', () => {
    const text = '{ "inputSchema": {"type":"object"}, "description":"Reads.", "name":"t" }';
    expect(compareDefinitions(definition(TOOL), definition(text), SEEN)).toBeUndefined();
  });

  const RAISED = (...hints: readonly string[]): readonly [DriftSeverity, ...string[]] => [
    'dangerous',
    ...hints.map((hint) => `hint_raised ${hint}`),
  ];
  it.each<[what: string, before: unknown, after: unknown, expected: readonly [DriftSeverity, ...string[]]]>([
    ['a description needs review', TOOL, { ...TOOL, description: 'x' }, ['review', 'description']],
    ['a title needs review', TOOL, { ...TOOL, title: 'T' }, ['review', 'title']],
    ['the title among annotations needs review', TOOL, annotated({ title: 'Read' }), ['review', 'title']],
    ['icons need review', TOOL, { ...TOOL, icons: [{ src: 'x' }] }, ['review', 'icons']],
    ['_meta needs review', TOOL, { ...TOOL, _meta: { a: 1 } }, ['review', 'meta']],
    [
      'an output schema needs review',
      TOOL,
      { ...TOOL, outputSchema: { type: 'object' } },
      ['review', 'output_schema'],
    ],
    [
      'texts within the input schema need review',
      taking(TEXTS),
      taking(OTHER_TEXTS),
      ['review', 'schema_text'],
    ],
    [
      'a changed input schema is dangerous',
      TOOL,
      taking({ type: 'object', properties: { path: {} } }),
      ['dangerous', 'input_schema'],
    ],
    [
      'an argument named "description" is not text',
      taking({ properties: { description: { type: 'string' } } }),
      taking({ properties: { description: { type: 'number' } } }),
      ['dangerous', 'input_schema'],
    ],
    [
      'a default value is not text',
      taking({ properties: { a: { default: { description: 'x' } } } }),
      taking({ properties: { a: { default: { description: 'y' } } } }),
      ['dangerous', 'input_schema'],
    ],
    ['a changed name is dangerous', TOOL, { ...TOOL, name: 'u' }, ['dangerous', 'name']],
    [
      'readOnlyHint turned false is dangerous, as are the hints it implied',
      annotated({ readOnlyHint: true }),
      annotated({ readOnlyHint: false }),
      RAISED('readOnlyHint', 'destructiveHint', 'idempotentHint'),
    ],
    [
      'a removed readOnlyHint is dangerous',
      annotated({ readOnlyHint: true, destructiveHint: false, idempotentHint: true }),
      annotated({ destructiveHint: false, idempotentHint: true }),
      RAISED('readOnlyHint'),
    ],
    [
      'destructiveHint turned true is dangerous',
      annotated({ destructiveHint: false }),
      annotated({ destructiveHint: true }),
      RAISED('destructiveHint'),
    ],
    [
      'idempotentHint turned false is dangerous',
      annotated({ idempotentHint: true }),
      annotated({ idempotentHint: false }),
      RAISED('idempotentHint'),
    ],
    [
      'openWorldHint turned true is dangerous',
      annotated({ openWorldHint: false }),
      annotated({ openWorldHint: true }),
      RAISED('openWorldHint'),
    ],
    [
      'destructiveHint next to a readOnlyHint it contradicts is dangerous',
      annotated({ readOnlyHint: true }),
      annotated({ readOnlyHint: true, destructiveHint: true }),
      RAISED('readOnlyHint', 'destructiveHint', 'idempotentHint'),
    ],
    [
      'hints that look safer are dangerous',
      annotated({ destructiveHint: true }),
      annotated({ destructiveHint: false, idempotentHint: true }),
      ['dangerous', 'hint_lowered destructiveHint', 'hint_lowered idempotentHint'],
    ],
    [
      'readOnlyHint turned true is dangerous, as are the hints it implies',
      TOOL,
      annotated({ readOnlyHint: true }),
      [
        'dangerous',
        'hint_lowered readOnlyHint',
        'hint_lowered destructiveHint',
        'hint_lowered idempotentHint',
      ],
    ],
    ['ReadOnlyHint counts as a hint', TOOL, annotated({ ReadOnlyHint: true }), ['dangerous', 'hint_like']],
    [
      'read_only_hint counts as a hint',
      TOOL,
      annotated({ read_only_hint: true }),
      ['dangerous', 'hint_like'],
    ],
    [
      'a hint that is not a boolean counts as a hint',
      TOOL,
      annotated({ readOnlyHint: 'yes' }),
      ['dangerous', 'hint_like'],
    ],
    ['an explicit default is harmless', TOOL, annotated({ destructiveHint: true }), ['harmless']],
    ['an unknown member is harmless', TOOL, { ...TOOL, 'x-vendor': 1 }, ['harmless']],
    ['unreadable JSON is dangerous', TOOL, 'no JSON', ['dangerous', 'unreadable']],
    [
      'a duplicate member is dangerous',
      TOOL,
      '{"name":"t","description":"EVIL","description":"Reads.","inputSchema":{"type":"object"}}',
      ['dangerous', 'ambiguous'],
    ],
  ])('is judged by its severity: %s', (_what, before, after, expected) => {
    expect(judged(before, after)).toEqual(expected);
  });

  it('suspends nothing if only its text changed, unless the setting says so', () => {
    const drift = compareDefinitions(definition(TOOL), definition({ ...TOOL, description: 'x' }), SEEN)!;
    expect([computeSeverity(drift, 'flag'), computeSeverity(drift, 'suspend')]).toEqual([
      'review',
      'dangerous',
    ]);
    const meta = compareDefinitions(definition(TOOL), definition({ ...TOOL, _meta: {} }), SEEN)!;
    expect(computeSeverity(meta, 'suspend')).toBe('harmless');
  });

  it('is described briefly, however much changed', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, at]));
    const after = { ...TOOL, annotations: many, description: 'x'.repeat(1e6) };
    const drift = compareDefinitions(definition(TOOL), definition(after), SEEN);
    expect(JSON.stringify(drift).length).toBeLessThan(20_000);
    expect(risks(drift)).toEqual(['description']);
  });

  it('is described briefly, however long the texts and paths are', () => {
    const tool = (text: string): unknown => ({
      ...TOOL,
      ...Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`k${at}`, text.repeat(5_000)])),
      ['p'.repeat(100_000)]: text,
    });
    const drift = compareDefinitions(definition(tool('a')), definition(tool('b')), SEEN)!;
    expect(drift.changes.length).toBe(91);
    expect(JSON.stringify(drift).length).toBeLessThan(75_000);
    // The first ones with their texts, the others without.
    expect(drift.changes[0]?.after).toBe(`"${'b'.repeat(3_999)}…`);
    expect(drift.changes[89]).toEqual({ path: 'k9' });
    expect(drift.changes[90]).toEqual({ path: `${'p'.repeat(500)}…`, before: '"a"', after: '"b"' });
  });

  it('counts as dangerous if it is too deep to compare', () => {
    const deep = `{"name":"t","inputSchema":${'{"items":'.repeat(50_000)}{}${'}'.repeat(50_000)}}`;
    expect(judged(TOOL, deep)).toEqual(['dangerous', 'unreadable']);
  });

  const sending = (facts: unknown): unknown => ({ ...TOOL, source: facts });
  const MADE = { nowMs: 5, isMade: true };

  it('is dangerous if its request changed and Assay builds the tool, and only then', () => {
    const [deletes, reads] = [sending({ method: 'DELETE' }), sending({ method: 'GET' })];
    expect(judged(deletes, reads, MADE)).toEqual([
      'dangerous',
      'hint_lowered readOnlyHint',
      'hint_lowered destructiveHint',
      'request',
    ]);
    expect(judged(reads, deletes, MADE)).toEqual([
      'dangerous',
      'hint_raised readOnlyHint',
      'hint_raised destructiveHint',
      'request',
    ]);
    expect(judged(deletes, reads)).toEqual(['harmless']);
  });

  it('is dangerous if its target changed, but has no drift if the operator changed that', () => {
    const [here, there] = [sending({ method: 'GET', target: 'a' }), sending({ method: 'GET', target: 'b' })];
    expect(judged(here, there, MADE)).toEqual(['dangerous', 'target']);
    const chosen = { ...MADE, isTargetChosen: true };
    expect(compareDefinitions(definition(here), definition(there), chosen)).toBeUndefined();
    const other = { ...(there as object), inputSchema: {} };
    expect(risks(compareDefinitions(definition(here), definition(other), chosen))).toEqual(['input_schema']);
  });

  it('has a phrase for each risk', () => {
    const drift = compareDefinitions(
      definition(annotated({ readOnlyHint: true })),
      definition({ ...TOOL, description: 'x' }),
      SEEN,
    );
    expect(drift?.risks.map(formatRisk)).toEqual([
      'it declares itself more dangerous: readOnlyHint is false now',
      'it declares itself more dangerous: destructiveHint is true now',
      'it declares itself more dangerous: idempotentHint is false now',
      'its description was rewritten',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { digestOfDefinition } from '../../../src/core/digest.ts';
import { ANOTHER_DOING, driftOf } from '../../../src/core/hints/drift.ts';

function definition(value: unknown): { readonly digest: string; readonly text: string } {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { text, digest: digestOfDefinition(text) };
}

const SEEN = { nowMs: 5, isMade: false };
const TOOL = { name: 't', description: 'Reads.', inputSchema: { type: 'object' } };

function dangers(before: unknown, after: unknown): readonly string[] | undefined {
  return driftOf(definition(before), definition(after), SEEN)?.dangers;
}

function annotated(annotations: unknown): unknown {
  return { ...TOOL, annotations };
}

describe('a definition that changed', () => {
  it('is told field by field, before and after, with the time', () => {
    const drift = driftOf(
      definition(TOOL),
      definition({ ...TOOL, annotations: { openWorldHint: true } }),
      SEEN,
    );
    expect(drift).toEqual({
      digest: definition({ ...TOOL, annotations: { openWorldHint: true } }).digest,
      sinceMs: 5,
      changes: [{ path: 'annotations', after: '{"openWorldHint":true}' }],
      dangers: [],
    });
  });

  it('is none where only whitespace or the order of members differs', () => {
    const text = '{ "inputSchema": {"type":"object"}, "description":"Reads.", "name":"t" }';
    expect(driftOf(definition(TOOL), definition(text), SEEN)).toBeUndefined();
  });

  it.each([
    [
      'is dangerous by a new description',
      TOOL,
      { ...TOOL, description: 'x' },
      ['its description was rewritten'],
    ],
    ['is dangerous by a new title', TOOL, annotated({ title: 'Read' }), ['its title was rewritten']],
    [
      'is dangerous by another input schema',
      TOOL,
      { ...TOOL, inputSchema: { type: 'object', properties: { path: {} } } },
      ['its input schema was rewritten'],
    ],
    [
      'is dangerous by an output schema',
      TOOL,
      { ...TOOL, outputSchema: { type: 'object' } },
      ['its output schema was rewritten'],
    ],
    [
      'is dangerous where it looks safer',
      annotated({ destructiveHint: true }),
      annotated({ destructiveHint: false, idempotentHint: true }),
      ['it looks safer: destructiveHint is false now', 'it looks safer: idempotentHint is true now'],
    ],
    [
      'is dangerous where it came to say that it only reads, with all that follows from it',
      TOOL,
      annotated({ readOnlyHint: true }),
      [
        'it looks safer: readOnlyHint is true now',
        'it looks safer: destructiveHint is false now',
        'it looks safer: idempotentHint is true now',
      ],
    ],
    [
      'is harmless where it looks less safe',
      annotated({ readOnlyHint: true }),
      annotated({ readOnlyHint: false }),
      [],
    ],
    ['is harmless where it says what was assumed', TOOL, annotated({ destructiveHint: true }), []],
    ['is harmless in what only people and programs read', TOOL, { ...TOOL, _meta: { a: 1 }, icons: [] }, []],
    ['is no safer for a hint that is no boolean', TOOL, annotated({ readOnlyHint: 'maybe' }), []],
    [
      'is dangerous in all where it cannot be read',
      TOOL,
      'no JSON',
      [
        'its title was rewritten',
        'its description was rewritten',
        'its input schema was rewritten',
        'its output schema was rewritten',
      ],
    ],
  ])('%s', (_name, before, after, expected) => {
    expect(dangers(before, after)).toEqual(expected);
  });

  it('is kept short, however much changed', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, at]));
    const drift = driftOf(
      definition(TOOL),
      definition({ ...TOOL, annotations: many, description: 'x'.repeat(1e6) }),
      SEEN,
    );
    expect(JSON.stringify(drift).length).toBeLessThan(20_000);
    expect(drift?.dangers).toEqual(['its description was rewritten']);
  });

  it('is dangerous by another request, and more so by one that looks safer, where Assay makes the tool itself and nowhere else', () => {
    const sending = (method: string): unknown => ({ ...TOOL, _meta: { 'assay/http': { method } } });
    const [deletes, reads] = [definition(sending('DELETE')), definition(sending('GET'))];
    expect(driftOf(deletes, reads, { nowMs: 5, isMade: true })?.dangers).toEqual([
      'it looks safer: readOnlyHint is true now',
      'it looks safer: destructiveHint is false now',
      ANOTHER_DOING,
    ]);
    expect(driftOf(reads, deletes, { nowMs: 5, isMade: true })?.dangers).toEqual([ANOTHER_DOING]);
    expect(driftOf(deletes, reads, SEEN)?.dangers).toEqual([]);
  });

  it('of a server that names a request of its own counts by what it declares', () => {
    const meta = { 'assay/http': { method: 'GET' } };
    const before = definition({ ...TOOL, _meta: meta });
    const after = definition({ ...TOOL, _meta: meta, annotations: { readOnlyHint: true } });
    expect(driftOf(before, after, SEEN)?.dangers).toContain('it looks safer: readOnlyHint is true now');
  });
});

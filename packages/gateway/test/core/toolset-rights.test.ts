import { describe, expect, it } from 'vitest';
import {
  acceptNotes,
  applyOperatorChange,
  mayModelChange,
  pinTools,
  addToolNotes,
  addToolsetTools,
  type ModelRights,
  type Toolset,
  type ToolsetMaker,
} from '../../src/core/toolset.ts';
import type { Note } from '../../src/core/notes.ts';

const TOOL = { namespacedName: 'linear.search' };
const NOTE: Note = { name: 'a', note: 'A.', author: 'anna', by: 'model', writtenMs: 1, isHeld: true };
const toolsetBy = (maker: ToolsetMaker | undefined): Toolset => ({
  name: 'triage',
  createdMs: 1_790_000_000_000,
  changedMs: 1_790_000_000_000,
  maker,
  tools: [TOOL],
  toolNotes: [{ namespacedName: TOOL.namespacedName, notes: [NOTE] }],
});

describe('a model', () => {
  it.each<[string, ToolsetMaker | undefined, Readonly<Record<ModelRights, boolean>>]>([
    ['without a recorded maker', undefined, { none: false, own: false, all: true }],
    [
      'created by the operator boss',
      { by: 'operator', subject: 'boss' },
      { none: false, own: false, all: true },
    ],
    ['created by anna over REST', { by: 'operator', subject: 'anna' }, { none: false, own: true, all: true }],
    ["created by anna's model", { by: 'model', subject: 'anna' }, { none: false, own: true, all: true }],
    ["created by bob's model", { by: 'model', subject: 'bob' }, { none: false, own: true, all: true }],
  ])('acting for anna may change a toolset only as the setting allows: %s', (_, maker, expected) => {
    for (const rights of ['none', 'own', 'all'] as const)
      expect(mayModelChange(toolsetBy(maker), 'anna', rights)).toBe(expected[rights]);
  });

  it('without a token does not count as an operator without one', () => {
    expect(mayModelChange(toolsetBy({ by: 'operator', subject: 'local' }), 'local', 'own')).toBe(false);
    expect(mayModelChange(toolsetBy({ by: 'model', subject: 'local' }), 'local', 'own')).toBe(true);
  });
});

describe("a model's toolset", () => {
  const before = toolsetBy({ by: 'model', subject: 'anna' });
  const value = (result: ReturnType<typeof addToolsetTools>): Toolset => {
    if (!result.ok) throw new Error(result.error.code);
    return result.value;
  };
  const held = { ...TOOL, held: { refId: 'r', digest: 'd', text: '{}' } };
  const noted = addToolNotes(before, TOOL.namespacedName, [{ ...NOTE, name: 'b', by: 'operator' }]);

  it.each<[string, Toolset]>([
    ['another name', { ...before, name: 'sorting' }],
    ['another description', { ...before, description: 'Sorts.' }],
    ['another tool', value(addToolsetTools(before, [{ namespacedName: 'linear.read' }]))],
    ['no tools', { ...before, tools: [] }],
    ['a note of the operator', noted.ok ? noted.value.toolset : before],
  ])('becomes the operator’s through an edit: %s', (_, after) => {
    expect(applyOperatorChange(before, after, 'boss').maker).toEqual({ by: 'operator', subject: 'boss' });
  });

  it.each<[string, Toolset]>([
    ['an accepted definition', value(pinTools(before, [held]))],
    ['an accepted note', acceptNotes(before)],
    ['a rejected note', { ...before, toolNotes: [] }],
  ])('stays the model’s through a review: %s', (_, after) => {
    expect(after).not.toEqual(before);
    expect(applyOperatorChange(before, after, 'boss')).toBe(after);
  });
});

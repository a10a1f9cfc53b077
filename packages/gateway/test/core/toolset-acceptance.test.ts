import { expect, it } from 'vitest';
import type { Note } from '../../src/core/notes.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { parseToolRef } from '../../src/core/tool-ref.ts';
import { acceptNotes, type Toolset, pinTools } from '../../src/core/toolset.ts';

const held: Note = { name: 'a', note: 'A.', author: 'ci', by: 'model', writtenMs: 1, isHeld: true };
const DEV: Toolset = {
  name: 'dev',
  createdMs: 1,
  changedMs: 2,
  tools: [{ namespacedName: 's.a' }, { namespacedName: 's.b' }],
  toolNotes: [
    { namespacedName: 's.a', notes: [held, { ...held, name: 'b' }] },
    { namespacedName: 's.b', notes: [held, { ...held, name: 'read', isHeld: false }] },
  ],
};

it('held notes are accepted, and keep their authors', () => {
  const accepted = { ...held, isHeld: false };
  const expected = {
    ...DEV,
    toolNotes: [
      { namespacedName: 's.a', notes: [accepted, { ...accepted, name: 'b' }] },
      { namespacedName: 's.b', notes: [accepted, { ...accepted, name: 'read' }] },
    ],
  };
  expect(acceptNotes(DEV)).toEqual(expected);
});

it('a toolset without held notes is unchanged, so that nothing is saved', () => {
  const accepted = acceptNotes(DEV);
  expect(acceptNotes(accepted)).toBe(accepted);
});

it('a tool is pinned to another definition in place', () => {
  const tool = { namespacedName: 's.a', held: { refId: 'r', digest: 'd', text: '{}' } };
  expect(pinTools(DEV, [tool])).toEqual(ok({ ...DEV, tools: [tool, { namespacedName: 's.b' }] }));
});

it('a tool removed in the meantime is not added again by being accepted', () => {
  const tool = { namespacedName: 's.c', held: { refId: 'r', digest: 'd', text: '{}' } };
  expect(pinTools(DEV, [tool])).toEqual(err({ code: 'TOOL_NOT_IN_TOOLSET', tool: 's.c', toolset: 'dev' }));
});

it.each([
  ['0123456789abcdef0123456789abcdef', { refId: '0123456789abcdef0123456789abcdef' }],
  ['0123456789ABCDEF0123456789ABCDEF', { namespacedName: '0123456789ABCDEF0123456789ABCDEF' }],
  ['0123456789abcdef', { namespacedName: '0123456789abcdef' }],
  ['git.status', { namespacedName: 'git.status' }],
])('the reference %s is read as %o', (text, ref) => {
  expect(parseToolRef(text)).toEqual(ref);
});

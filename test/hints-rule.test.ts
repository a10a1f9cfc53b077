import { Linter } from 'eslint';
import { expect, it } from 'vitest';
import { toolHints } from '../scripts/hints-rule.ts';

const WHOLE = `{ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }`;
const EACH = `{
  // One.
  readOnlyHint: true,
  // Two.
  destructiveHint: false,
  // Three.
  idempotentHint: true,
  // Four.
  openWorldHint: true,
}`;

function faultsIn(annotations: string, each = false): readonly (string | undefined)[] {
  const code = `export const tool = {\n  ${annotations}\n};`;
  const messages = new Linter().verify(code, {
    plugins: { assay: { rules: { hints: toolHints } } },
    rules: { 'assay/hints': ['error', { each }] },
  });
  return messages.map(({ messageId }) => messageId);
}

it('every tool of Assay must explain its hints in a comment', () => {
  expect(faultsIn(`// It reads.\n annotations: ${WHOLE}`)).toEqual([]);
  expect(faultsIn(`annotations: ${WHOLE}`)).toEqual(['reason', 'reason', 'reason', 'reason']);
});

it('a shared comment is not enough if each hint needs its own', () => {
  expect(faultsIn(`annotations: ${EACH}`, true)).toEqual([]);
  expect(faultsIn(`// It reads.\n annotations: ${WHOLE}`, true)).toHaveLength(4);
  expect(faultsIn(`annotations: ${EACH.replace('// Three.\n', '')}`, true)).toEqual(['reason']);
});

it('hints cannot be omitted or computed', () => {
  const without = EACH.replace(/ {2}\/\/ Two\.\n.*\n/, '');
  expect(faultsIn(`annotations: ${without}`, true)).toEqual(['missing']);
  expect(
    faultsIn(`annotations: ${EACH.replace('idempotentHint: true', 'idempotentHint: yes')}`, true),
  ).toEqual(['value']);
});

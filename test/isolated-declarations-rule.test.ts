import { Linter } from 'eslint';
import { expect, it } from 'vitest';
import tseslint from 'typescript-eslint';
import { isolatedDeclarations } from '../scripts/isolated-declarations-rule.ts';

function faultsIn(code: string): readonly (readonly [line: number, text: string])[] {
  const messages = new Linter().verify(
    code,
    {
      files: ['**/*.ts'],
      languageOptions: { parser: tseslint.parser },
      plugins: { types: { rules: { isolated: isolatedDeclarations } } },
      rules: { 'types/isolated': 'error' },
    },
    'module.ts',
  );
  return messages.map(({ line, message }) => [line, message]);
}

it('what a module exports must have its type written out', () => {
  const inferred = 'import { make } from "./make.ts";\nexport const made = make();\n';
  expect(faultsIn(inferred)).toEqual([[2, expect.stringContaining('--isolatedDeclarations')]]);
  expect(faultsIn('export function twice(x: number) {\n  return make(x);\n}\n')).toHaveLength(1);
});

it('written types, literals and what is not exported are accepted', () => {
  const written =
    'export const made: Made = make();\nexport const MAX = 3;\nconst own = make();\nown.use();\n';
  expect(faultsIn(written)).toEqual([]);
});

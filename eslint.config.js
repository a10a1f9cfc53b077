import { globSync, readFileSync } from 'node:fs';
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { toolHints } from './scripts/hints-rule.ts';
import { isolatedDeclarations } from './scripts/isolated-declarations-rule.ts';

const TYPED = ['**/*.ts', '**/*.tsx'];
const UNTYPED = ['**/*.js', '**/*.mjs', '**/*.cjs'];
const CONFIGS = [
  '*.config.js',
  'packages/admin/vite.config.mjs',
  '*.config.ts',
  'test/fixtures/failing-run/vitest.config.ts',
];

// Whatever this Node offers globally is known to plain JavaScript; in TypeScript the compiler sees to that.
const nodeGlobals = Object.fromEntries(
  Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly']),
);

const tablesOfData = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: import.meta.dirname })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => readFileSync(new URL(file, import.meta.url), 'utf8').startsWith('// A table of data: '));

const noDefaultExport = {
  selector: ':matches(ExportDefaultDeclaration, ExportSpecifier[exported.name="default"])',
  message: 'Export it by its name, so that it is called the same wherever it is imported.',
};

const IS_NO = String.raw`/(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b)/`;
const plainNames = [
  {
    selector: 'ExportNamedDeclaration > FunctionDeclaration > Identifier.id[name=/^(?!oneOf$).*Of$/]',
    message: 'Name the function by a verb: getDigest(tool), toTokenJson(token), findMember(json, name).',
  },
  { selector: `Literal[value=${IS_NO}]`, message: 'Say what is wrong with "not": it is not a list.' },
  {
    selector: `TemplateElement[value.raw=${IS_NO}]`,
    message: 'Say what is wrong with "not": it is not a list.',
  },
];

const MATCHES = '/^(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|replace|replaceAll|split)$/';
const TEXTS = '/^(?:formatCause|formatRefusal|getRemedy)$/';
const OF_CAUSES = '/^(?:cause|firstCause|says|remedy)$/';
const noMatchedSentence = [
  `CallExpression[callee.property.name=${MATCHES}][callee.object.callee.name=${TEXTS}]`,
  `CallExpression[callee.property.name=${MATCHES}][callee.object.property.name=${OF_CAUSES}]`,
  `CallExpression[callee.property.name=${MATCHES}][callee.object.name=${OF_CAUSES}]`,
  `CallExpression[callee.property.name=/^(?:test|exec)$/] > :matches(Identifier[name=${OF_CAUSES}], MemberExpression[property.name=${OF_CAUSES}], CallExpression[callee.name=${TEXTS}])`,
  `BinaryExpression[operator=/^[!=]==$/] > CallExpression[callee.name=${TEXTS}]`,
].map((selector) => ({
  selector,
  message: 'Read its code: sentences are for people, and may change.',
}));

export default defineConfig(
  globalIgnores([
    '**/dist/',
    '**/node_modules/',
    'examples/scratch/',
    'examples/home/',
    'bench/results/',
    '.study/',
    'test/study/fixtures/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error' } },
  js.configs.recommended,
  { rules: { eqeqeq: 'error', 'no-console': 'error', 'no-restricted-syntax': ['error', noDefaultExport] } },
  {
    files: TYPED,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-import-type-side-effects': 'error',
      // `() => close()` and `return refuse(…)` of a void function read well; only a void taken for a value is a mistake.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-inferrable-types': 'off', // The type of every export is written out, also of `MAX: number = 3`.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    files: ['packages/*/src/**/*.{ts,tsx}'],
    ignores: ['packages/admin/**'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport, ...plainNames, ...noMatchedSentence],
      'max-lines': ['error', { max: 500 }],
      'max-lines-per-function': ['error', { max: 60 }],
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
    },
  },
  {
    // The compiler can check it only for a whole program, and the types of schemas are inferred (docs/adr/0089).
    files: ['**/*.ts'],
    ignores: ['packages/gateway/src/api/**', 'packages/admin/**', '**/*.d.ts'],
    plugins: { types: { rules: { 'isolated-declarations': isolatedDeclarations } } },
    rules: { 'types/isolated-declarations': 'error' },
  },
  {
    files: ['packages/admin/src/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport, ...plainNames],
      'max-lines': ['error', { max: 500 }],
    },
  },
  {
    files: [
      'packages/codebase/src/**/*.ts',
      'packages/gateway/src/gateway/services/configuration-tools/**/*.ts',
    ],
    plugins: { assay: { rules: { 'tool-hints': toolHints } } },
    rules: { 'assay/tool-hints': 'error' },
  },
  { files: ['packages/codebase/src/**/*.ts'], rules: { 'assay/tool-hints': ['error', { each: true }] } },
  tablesOfData.length === 0 ? [] : { files: tablesOfData, rules: { 'max-lines': 'off' } },
  {
    files: ['packages/kit/src/platform/terminal/print.ts', 'scripts/**', 'bench/**', '{,packages/*/}test/**'],
    rules: { 'no-console': 'off' },
  },
  { files: CONFIGS, rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['{,packages/*/}test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off', // A missing value fails the test just there.
      '@typescript-eslint/no-unsafe-assignment': 'off', // vitest types `expect.any(…)` as any.
      '@typescript-eslint/no-base-to-string': 'off', // Fixtures show what they were sent, also where it is wrong.
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/require-await': 'off', // Small servers answer at once where real ones wait.
    },
  },
  {
    // Tests and benchmarks speak to old transports on purpose, as peers out there do.
    files: ['{,packages/*/}test/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-deprecated': 'off' },
  },
  { files: UNTYPED, languageOptions: { globals: nodeGlobals } },
);

import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable, toPrintableLines } from '@assay-mcp/kit/printable';
import type { SymbolAnswer, SymbolDefinition, SymbolUses } from './symbol-answer.ts';

/** The answer as text for models: the definitions, then the uses by file, each line with its number. */
export function formatSymbol(answer: SymbolAnswer, project: string): string {
  const { definitions, uses, tests, notes, missing, is_complete: isComplete } = answer;
  const { use_count: useCount, use_file_count: useFiles, definition_count: definitionCount } = answer;
  const { test_use_count: testCount, test_file_count: testFiles } = answer;
  const least = isComplete ? '' : 'at least ';
  const counts = [
    formatCount(definitionCount, 'definition'),
    `${least}${formatCount(useCount, 'use')} in ${formatCount(useFiles, 'file')}`,
    `${formatCount(testCount, 'use')} in ${formatCount(testFiles, 'test file')}`,
  ];
  const [first] = definitions;
  const parent = definitions.every((one) => one.parent === first?.parent) ? (first?.parent ?? null) : null;
  const name = parent === null ? answer.symbol : `${parent}.${answer.symbol}`;
  return [
    `${toPrintable(name)} in project ${project}: ${counts.join(', ')}.`,
    ...notes.map(toPrintable),
    ...(missing === null ? [] : formatMissing(missing)),
    ...definitions.flatMap(formatDefinition),
    ...describeRest(definitionCount - definitions.length, 'definition'),
    ...(useCount + testCount === 0 ? [] : [USES]),
    ...uses.flatMap(formatFileUses),
    ...describeRest(useFiles - uses.length, 'file'),
    ...(testCount === 0 ? [] : ['Tests:']),
    ...tests.flatMap(formatFileUses),
    ...describeRest(testFiles - tests.length, 'test file'),
  ].join('\n');
}

const USES = 'Uses (found by the name as a whole word, not resolved):';

function formatMissing({ message, similar }: NonNullable<SymbolAnswer['missing']>): readonly string[] {
  const near = similar.map(
    ({ symbol, file_path: path, start_line: line }) =>
      `${toPrintable(symbol)} (${toPrintable(path)}:${line})`,
  );
  return [toPrintable(message), ...(near.length === 0 ? [] : [`Similar: ${near.join(', ')}.`])];
}

function describeRest(count: number, what: string): readonly string[] {
  return count > 0 ? [`and ${formatCount(count, `more ${what}`)}`] : [];
}

export function formatDefinition(definition: SymbolDefinition): readonly string[] {
  const { start_line: start, end_line: end, kind, symbol, parent, doc, signature, code } = definition;
  const name = parent === null ? symbol : `${parent}.${symbol}`;
  const first = definition.code_start_line ?? start;
  return [
    `${formatPlace(definition)}:${start}-${end} ${toPrintable(`${kind} ${name}`)}${formatNote(definition)}`,
    ...(signature === undefined ? [] : [`  ${toPrintable(signature)}`]),
    ...(doc === undefined ? [] : [`  ${toPrintable(doc)}`]),
    ...(code === undefined
      ? []
      : code.split('\n').map((line, index) => `${first + index}\t${toPrintableLines(line)}`)),
  ];
}

export function formatFileUses(file: SymbolUses): readonly string[] {
  return [
    `${formatPlace(file)} (${file.count})${formatNote(file)}`,
    ...file.lines.map(({ line, text, within }) => {
      const place = within === undefined ? '' : `  [in ${toPrintable(within)}]`;
      return `${line}\t${toPrintableLines(text)}${place}`;
    }),
  ];
}

function formatPlace({ file_path: path, repository }: Pick<SymbolUses, 'file_path' | 'repository'>): string {
  return toPrintable(repository === undefined ? path : `${repository}: ${path}`);
}

function formatNote({ state }: Pick<SymbolUses, 'state'>): string {
  return state === undefined ? '' : `  [${NOTES[state]}]`;
}

const NOTES = { stale: 'changed since it was indexed', missing: 'no longer there' } as const;

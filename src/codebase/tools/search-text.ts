import { formatCount } from '../../core/counted.ts';
import { toPrintable } from '../../core/printable.ts';
import type { CodeAnswer } from '../codebase.ts';
import type { SearchResult } from '../search/assemble-results.ts';

/** The text of a search for models: each result with its location, name and lines. */
export function formatSearch(query: string, project: string, answer: CodeAnswer): string {
  const { results, mode, truncation, diagnosis } = answer;
  const found = formatCount(results.length, 'result');
  return [
    `${found} for ${toPrintable(JSON.stringify(query))} in project ${project} (${mode} search).`,
    ...answer.notes,
    ...(diagnosis === null ? [] : [diagnosis.message]),
    ...results.map(resultText),
    ...(truncation === null ? [] : [truncation.message]),
  ].join('\n\n');
}

function resultText(result: SearchResult, index: number): string {
  const { file_path: path, start_line: start, end_line: end, kind, symbol, parent, content } = result;
  const name = [parent, symbol].filter((part) => part !== null).join('.');
  const what = name === '' ? kind : `${kind} ${name}`;
  const score = result.similarity_score.toFixed(2);
  return `${index + 1}. ${toPrintable(path)}:${start}-${end}  ${toPrintable(what)}  (${score})\n${fenced(content)}`;
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

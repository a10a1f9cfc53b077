import type { Outcome } from './run-conformance.ts';

const HEAD = ['way', 'set', 'passed', 'failed', 'in baseline', 'lines that fit nothing'];

/** The outcomes as a table for a terminal. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ way, set, passed, unexpected, excused, stale }) =>
    [way, set, passed, unexpected.length, excused.length, stale.length].map(String),
  );
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[HEAD, ...rows].map(line).join('\n')}\n`;
}

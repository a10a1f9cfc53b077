// One table, drawn for a terminal or for Markdown. The first column is text, the others align right.

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function drawBox({ title, head, rows }: Table): string {
  const widths = widthsOf(head, rows);
  const rule = (left: string, middle: string, right: string): string =>
    left + widths.map((width) => '─'.repeat(width + 2)).join(middle) + right;
  const line = (cells: readonly string[]): string =>
    `│${widths.map((width, column) => ` ${aligned(cells, column, width)} `).join('│')}│`;
  return [
    title,
    rule('┌', '┬', '┐'),
    line(head),
    rule('├', '┼', '┤'),
    ...rows.map(line),
    rule('└', '┴', '┘'),
  ].join('\n');
}

export function drawMarkdown({ title, head, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [`## ${title}`, '', line(head), line(rule), ...rows.map(line)].join('\n');
}

function widthsOf(head: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return head.map((_, column) => Math.max(...[head, ...rows].map((cells) => (cells[column] ?? '').length)));
}

function aligned(cells: readonly string[], column: number, width: number): string {
  const cell = cells[column] ?? '';
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

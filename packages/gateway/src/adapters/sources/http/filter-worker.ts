import type { Result } from '@assay-mcp/kit/result';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import type { FromTaskProcess } from '@assay-mcp/kit/platform/task-process';
import { applyFilter, type FilterFault, type FilterTask } from './filter.ts';

export type FilterResult = Result<string, FilterFault>;

const tell = (message: FromTaskProcess): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

// The sender limits its lines.
const lines = new LineSplitter(Number.POSITIVE_INFINITY, {
  line: (line) => {
    const task = JSON.parse(line.toString()) as FilterTask; // `FilterProcesses` wrote it
    const result: FilterResult = applyFilter(task);
    tell({ kind: 'done', result });
  },
  tooLong: () => undefined,
});
process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
tell({ kind: 'ready' });

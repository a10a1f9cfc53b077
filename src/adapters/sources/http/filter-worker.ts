import type { Result } from '../../../core/result.ts';
import { LineSplitter } from '../../../platform/lines.ts';
import { applyFilter, type FilterFault, type FilterTask } from './filter.ts';

/** One line per message: tasks come in, results go out. The first line out says that the process is ready. */
export type FromFilterWorker =
  { readonly kind: 'ready' } | { readonly kind: 'done'; readonly result: FilterResult };
export type FilterResult = Result<string, FilterFault>;

const tell = (message: FromFilterWorker): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

// The sender limits its lines.
const lines = new LineSplitter(Number.POSITIVE_INFINITY, {
  line: (line) => {
    const task = JSON.parse(line.toString()) as FilterTask; // `FilterProcess` wrote it
    tell({ kind: 'done', result: applyFilter(task) });
  },
  tooLong: () => undefined,
});
process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
tell({ kind: 'ready' });

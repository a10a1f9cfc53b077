import process from 'node:process';
import type { FromTaskProcess } from '@assay-mcp/kit/platform/task-process';
import { compareContent } from './compare-content.ts';
import { TASK_HEADER_BYTES, readTaskSizes } from './comparison-task.ts';

// Compares contents that a server wrote, one pair after the other, in a process without rights.

const tell = (message: FromTaskProcess): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

let chunks: Buffer[] = [];
let length = 0;
process.stdin.on('data', (chunk: Buffer) => {
  chunks.push(chunk);
  length += chunk.length;
  if (length < TASK_HEADER_BYTES) return;
  const [first = chunk] = chunks;
  // The first chunk nearly always has the whole header.
  const header = first.length < TASK_HEADER_BYTES ? Buffer.concat(chunks) : first;
  const { before, after } = readTaskSizes(header);
  if (length < TASK_HEADER_BYTES + before + after) return;
  const contents = Buffer.concat(chunks).subarray(TASK_HEADER_BYTES);
  chunks = [];
  length = 0;
  tell({ kind: 'done', result: compareContent(contents.subarray(0, before), contents.subarray(before)) });
});
tell({ kind: 'ready' });

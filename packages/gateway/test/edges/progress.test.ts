import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import { until } from '../../../../test/support/endings.ts';

function openTerminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY, columns: 30 });
  let text = '';
  stream.on('data', (chunk: string) => (text += chunk));
  return { stream, text: () => text };
}

it('the progress of long work is shown on one line of the terminal, and then cleared', async () => {
  const { stream, text } = openTerminal(true);
  const done = await withProgress(
    'starting a server with a very long name',
    async () => until('the line is there', () => (text() === '' ? undefined : 'done')),
    { stream, afterMs: 0 },
  );
  expect(done).toBe('done');
  expect(text()).toBe('\r\u001B[2Kstarting a server with a very\r\u001B[2K');
});

it('no progress is shown if stderr is not a terminal, or the work is short', async () => {
  const [piped, terminal] = [openTerminal(false), openTerminal(true)];
  await withProgress('working', () => Promise.resolve(), { stream: terminal.stream, afterMs: 60_000 });
  await withProgress('working', () => until('a turn', () => true), { stream: piped.stream, afterMs: 0 });
  expect([piped.text(), terminal.text()]).toEqual(['', '']);
});

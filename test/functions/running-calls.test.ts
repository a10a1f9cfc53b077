// Calls that arrive together, before either has begun.
import { expect, it } from 'vitest';
import type { FromRunner } from '../../src/core/sources/function-messages.ts';
import { exportedTools, type ReadTool } from '../../src/functions/exported-tools.ts';
import { RunningCalls } from '../../src/functions/running-calls.ts';

const told: (FromRunner | { readonly kind: 'done'; readonly id: number; readonly result: string })[] = [];
const running = new RunningCalls({
  folder: import.meta.dirname,
  writeZod: undefined,
  host: {
    send: (message) => told.push(message),
    sendDone: (id, result) => told.push({ kind: 'done', id, result }),
    exit: (code) => {
      throw new Error(`exited with ${code}`);
    },
  },
});

function toolThat(run: () => unknown): ReadTool {
  const { tools } = exportedTools({ default: [{ name: 'one', run }] }, undefined);
  const tool = tools.get('one');
  if (tool === undefined) throw new Error('not a tool');
  return tool;
}

it('each is the last one begun while its function runs, so that it is blamed if it blocks', async () => {
  const last = (): unknown => told.filter(({ kind }) => kind === 'begun').at(-1);
  const seen: unknown[] = [];
  const tool = toolThat(() => seen.push(last()));
  await Promise.all([running.run(1, tool, '{}'), running.run(2, tool, '{}')]);
  expect(seen).toEqual([
    { kind: 'begun', id: 1 },
    { kind: 'begun', id: 2 },
  ]);
});

it('one that is cancelled before its function is called is not run', async () => {
  let isRun = false;
  const ended = running.run(
    3,
    toolThat(() => (isRun = true)),
    '{}',
  );
  running.cancel(3);
  await ended;
  expect(isRun).toBe(false);
  expect(told.at(-1)).toMatchObject({ kind: 'done', id: 3 });
});

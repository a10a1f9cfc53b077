// Calls that arrive together, before either has begun.
import { expect, it } from 'vitest';
import type { FromRunner } from '../src/function-messages.ts';
import { readExportedTools, type ReadTool } from '../src/exported-tools.ts';
import { RunningCalls } from '../src/running-calls.ts';

const sent: (FromRunner | { readonly kind: 'done'; readonly id: number; readonly result: string })[] = [];
const running = new RunningCalls({
  folder: import.meta.dirname,
  writeZod: undefined,
  host: {
    send: (message) => sent.push(message),
    sendDone: (id, result) => sent.push({ kind: 'done', id, result }),
    exit: (code) => {
      throw new Error(`exited with ${code}`);
    },
  },
});

function toolThat(run: () => unknown): ReadTool {
  const { tools } = readExportedTools({ default: [{ name: 'one', run }] }, undefined);
  const tool = tools.get('one');
  if (tool === undefined) throw new Error('not a tool');
  return tool;
}

it('each call is the last one reported as begun while its function runs, to identify one that blocks', async () => {
  const last = (): unknown => sent.filter(({ kind }) => kind === 'begun').at(-1);
  const seen: unknown[] = [];
  const tool = toolThat(() => seen.push(last()));
  await Promise.all([running.run(1, tool, '{}'), running.run(2, tool, '{}')]);
  expect(seen).toEqual([
    { kind: 'begun', id: 1 },
    { kind: 'begun', id: 2 },
  ]);
});

it('a call that is cancelled before its function is called does not run it', async () => {
  let isRun = false;
  const ended = running.run(
    3,
    toolThat(() => (isRun = true)),
    '{}',
  );
  running.cancel(3);
  await ended;
  expect(isRun).toBe(false);
  expect(sent.at(-1)).toMatchObject({ kind: 'done', id: 3 });
});

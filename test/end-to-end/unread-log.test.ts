import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { cleanEnv } from '../support/assay.ts';
import { endLater, kill, killLater, sleep, until } from '../support/endings.ts';
import { at, listAt, parseJson, type Json } from '../support/json.ts';
import { initializeOf } from '../support/legacy.ts';
import { fixture, MAIN, tempDir, writeConfig } from '../support/paths.ts';

/** Tools of the servers below. */
const TOOL_COUNT = 15;

/** `assay stdio` whose stderr is not read until `readLog` is called. */
function openUnread() {
  // Together they may log far more than the pipe and the buffer can hold.
  const shouters = ['a', 'b', 'c', 'd'].map((name) => [name, fixture('shouter')] as const);
  const config = writeConfig({ ...Object.fromEntries(shouters), plain: fixture('plain') });
  const child = spawn(process.execPath, [MAIN, 'stdio', '--all', '--config', config, '--home', tempDir()], {
    env: cleanEnv({ ASSAY_LOG_LEVEL: 'debug' }),
    stdio: 'pipe',
  });
  const { pid = 0 } = child;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  killLater(pid);
  endLater(async () => {
    kill(pid, 'SIGTERM');
    await ended;
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.on('error', () => undefined);
  let last = 0;
  return {
    ended,
    closeStdin: () => child.stdin.end(),
    initialize: () => child.stdin.write(`${initializeOf('2025-11-25', {}, 'init')}\n`),
    ask: (method: string): Promise<Json> => {
      const id = ++last;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: {} })}\n`);
      return until(`the answer to ${method}`, () =>
        output
          .split('\n')
          .slice(0, -1)
          .map(parseJson)
          .find((message) => at(message, 'id') === id),
      );
    },
    /** Returns the lines that report a loss. All are read as they arrive: there are too many to read repeatedly. */
    readLog: (): (() => readonly Json[]) => {
      const losses: Json[] = [];
      let rest = '';
      child.stderr.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines.map(parseJson))
          if (String(at(line, 'msg')).includes('were dropped')) losses.push(line);
      });
      return () => losses;
    },
  };
}

describe('assay stdio with an unread stderr that a server fills', () => {
  it('keeps responding, and reports dropped lines once its stderr is read', async () => {
    const assay = openUnread();
    assay.initialize();
    await until(
      'its servers are there',
      async () =>
        listAt(await assay.ask('tools/list'), 'result', 'tools').length === TOOL_COUNT ? true : undefined,
      60_000,
    );
    // In this time, far more is written than the pipe and the buffer can hold.
    for (let time = 0; time < 20; time += 1) {
      expect(at(await assay.ask('tools/list'), 'result', 'tools')).toHaveLength(TOOL_COUNT);
      await sleep(100);
    }
    const losses = assay.readLog();
    const loss = await until('the loss is told', () => losses()[0], 30_000);
    expect(loss).toMatchObject({
      level: 40,
      msg: 'log lines were dropped because they were not read in time',
    });
    expect(Number(at(loss, 'dropped'))).toBeGreaterThan(0);
  });

  it('exits when its client closes stdin', async () => {
    const assay = openUnread();
    assay.initialize();
    await assay.ask('tools/list');
    await sleep(1_000);
    assay.closeStdin();
    expect(await assay.ended).toBe(0);
  });
});

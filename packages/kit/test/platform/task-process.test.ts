import { execPath } from 'node:process';
import { expect, it } from 'vitest';
import { PLAIN_LAUNCHER } from '../../src/platform/launcher.ts';
import { TaskProcess } from '../../src/platform/task-process.ts';
import { endLater } from '../../../../test/support/endings.ts';

/** A process that is ready, and whenever it gets something begins to send this every 20 ms. */
function startTalking(message: string): TaskProcess {
  const script = `
    const send = (text) => process.stdout.write(text + '\\n');
    process.stdin.once('data', () => setInterval(() => send(${JSON.stringify(message)}), 20));
    send('{"kind":"ready"}');`;
  const child = PLAIN_LAUNCHER.launch({ command: execPath, args: ['-e', script], cwd: '/', env: {} });
  const process = new TaskProcess(child);
  endLater(() => process.close());
  return process;
}

it.each(['{"kind":"ready"}', '{"kind":"other"}', '{}'])(
  'a process that keeps sending %s gets no more time for its task',
  async (message) => {
    const outcome = await startTalking(message).run([Buffer.from('task\n')], 300);
    expect(outcome).toEqual({ kind: 'fault', fault: { code: 'too_slow', limitMs: 300 } });
  },
);

it('a process that sends something else than messages is ended', async () => {
  const outcome = await startTalking('not JSON').run([Buffer.from('task\n')], 60_000);
  expect(outcome).toMatchObject({ kind: 'fault', fault: { code: 'process_ended' } });
});

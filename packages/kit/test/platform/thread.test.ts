import { expect, it } from 'vitest';
import { Thread } from '../../src/platform/thread.ts';
import { endLater, until } from '../../../../test/support/endings.ts';

const SCRIPT = new URL('../../../../test/fixtures/thread.ts', import.meta.url);

interface Watched {
  readonly thread: Thread;
  readonly messages: unknown[];
  readonly losses: string[];
}

function start(): Watched {
  const messages: unknown[] = [];
  const losses: string[] = [];
  const thread = new Thread({
    script: SCRIPT,
    given: 'given',
    youngMiB: 4,
    onMessage: (message) => messages.push(message),
    onLost: (cause) => losses.push(cause),
  });
  endLater(() => thread.end());
  return { thread, messages, losses };
}

it('calls are answered one after the other, in order', async () => {
  const { thread } = start();
  const calls = [
    thread.call('late', [50]),
    thread.call('a', []),
    thread.call('late', [10]),
    thread.call('b', []),
  ];
  expect(await Promise.all(calls)).toEqual(
    ['late', 'a', 'late', 'b'].map((method, at) => ({ kind: 'answered', value: ['given', method, at + 1] })),
  );
});

it('an exception in the script rejects its call, and the next call is answered', async () => {
  const { thread } = start();
  await expect(thread.call('throw', [])).rejects.toThrow('a bug');
  expect(await thread.call('a', [])).toMatchObject({ kind: 'answered' });
});

it('unsolicited messages from the script are received', async () => {
  const { thread, messages } = start();
  await thread.call('say', [{ a: 1 }]);
  expect(messages).toEqual([{ a: 1 }]);
});

it.each([
  ['exit', 'its thread ended (7)'],
  ['fail', 'its thread failed: outside of a call'],
])('when the thread ends by %s, pending and later calls fail with the cause', async (way, cause) => {
  const { thread, losses } = start();
  const [, waiting] = [thread.call(way, []), thread.call('hang', [])];
  expect(await waiting).toEqual({ kind: 'lost', cause, wasSent: true });
  expect(await thread.call('a', [])).toEqual({ kind: 'lost', cause, wasSent: false });
  expect(losses).toEqual([cause]);
});

it('ending the thread fails pending calls, but is not reported as a loss', async () => {
  const { thread, losses } = start();
  const waiting = thread.call('hang', []);
  await thread.end();
  await until('it is lost', () => waiting);
  expect(await waiting).toMatchObject({ kind: 'lost' });
  expect(losses).toEqual([]);
});

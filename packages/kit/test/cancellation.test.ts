import { describe, expect, it } from 'vitest';
import { Cancellation } from '../src/cancellation.ts';

it('a cancellation is reported once, with the first reason', () => {
  const cancellation = new Cancellation();
  let calls = 0;
  cancellation.addListener(() => (calls += 1));
  expect([cancellation.isCancelled, cancellation.reason, calls]).toEqual([false, undefined, 0]);
  cancellation.cancel('first');
  cancellation.cancel('second');
  expect([cancellation.isCancelled, cancellation.reason, calls]).toEqual([true, 'first', 1]);
});
it('a cancellation without a reason has none, even if a later one gives one', () => {
  const cancellation = new Cancellation();
  cancellation.cancel();
  cancellation.cancel('late');
  expect([cancellation.isCancelled, cancellation.reason]).toEqual([true, undefined]);
});
it('every listener is called except removed ones, however many there are', () => {
  const calls: string[] = [];
  const cancellation = new Cancellation();
  const [first, second, third] = ['first', 'second', 'third'].map((name) => () => calls.push(name));
  for (const listener of [first, second, third]) cancellation.addListener(() => listener?.());
  const removed = (): void => void calls.push('removed');
  cancellation.addListener(removed);
  cancellation.removeListener(removed);
  cancellation.cancel();
  const other = new Cancellation();
  other.addListener(removed);
  other.removeListener(removed);
  other.addListener(() => calls.push('fourth'));
  other.cancel();
  expect(calls).toEqual(['first', 'second', 'third', 'fourth']);
});
it('a listener sees the cancelled state, and may cancel again without being called again', () => {
  const cancellation = new Cancellation();
  const calls: boolean[] = [];
  cancellation.addListener(() => {
    calls.push(cancellation.isCancelled);
    cancellation.cancel('again');
  });
  cancellation.cancel('once');
  expect([calls, cancellation.reason]).toEqual([[true], 'once']);
});
it('a listener added afterwards is not called: check isCancelled first', () => {
  const cancellation = new Cancellation();
  cancellation.cancel();
  let calls = 0;
  cancellation.addListener(() => (calls += 1));
  cancellation.cancel();
  expect(calls).toBe(0);
});

describe('a listener added for the duration of a promise', () => {
  it('is called on cancellation, and immediately if already cancelled', async () => {
    const cancellation = new Cancellation();
    const calls: string[] = [];
    const { promise, resolve } = Promise.withResolvers<string>();
    const during = cancellation.during(() => calls.push('before'), promise);
    cancellation.cancel();
    const late = cancellation.during(() => calls.push('at once'), promise);
    resolve('settled');
    expect([await during, await late, calls]).toEqual(['settled', 'settled', ['before', 'at once']]);
  });

  it('is not called after the promise has settled', async () => {
    const cancellation = new Cancellation();
    let calls = 0;
    await cancellation.during(() => (calls += 1), Promise.resolve());
    await cancellation.during(() => (calls += 1), Promise.reject(new Error('x'))).catch(() => undefined);
    cancellation.cancel();
    expect(calls).toBe(0);
  });
});

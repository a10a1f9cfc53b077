import { expect, it } from 'vitest';
import { StartQueue, type StartTurn } from '../../src/core/start-queue.ts';

/** A queue with two slots, and the names of what was started. */
function queueOfTwo(): {
  readonly started: string[];
  readonly enter: (name: string, isUrgent?: boolean) => StartTurn;
} {
  const queue = new StartQueue(2);
  const started: string[] = [];
  return { started, enter: (name, isUrgent = false) => queue.enter(() => started.push(name), isUrgent) };
}

it('starts as many as there are slots, and the next one when one has ended', () => {
  const { started, enter } = queueOfTwo();
  const [a] = ['a', 'b', 'c', 'd'].map((name) => enter(name));
  expect(started).toEqual(['a', 'b']);
  a?.end();
  a?.end();
  expect(started).toEqual(['a', 'b', 'c']);
});

it('starts what a call waits for first, in order of arrival, also if that is known only later', () => {
  const { started, enter } = queueOfTwo();
  const [a, , , , e] = ['a', 'b', 'c', 'd', 'e'].map((name) => enter(name));
  e?.prioritize();
  enter('f', true);
  e?.prioritize();
  a?.end();
  expect(started).toEqual(['a', 'b', 'e']);
  e?.end();
  expect(started).toEqual(['a', 'b', 'e', 'f']);
});

it('skips what left the queue, which frees no slot', () => {
  const { started, enter } = queueOfTwo();
  const [a, , c] = ['a', 'b', 'c', 'd', 'e'].map((name) => enter(name));
  c?.end();
  expect(started).toEqual(['a', 'b']);
  a?.prioritize();
  a?.end();
  expect(started).toEqual(['a', 'b', 'd']);
});

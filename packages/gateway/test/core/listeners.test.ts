import { expect, it } from 'vitest';
import { Listeners } from '../../src/core/listeners.ts';

it('each subscription is called, in order, until it is removed', () => {
  const listeners = new Listeners<[string]>();
  const calls: string[] = [];
  const listen = (text: string): void => void calls.push(text);
  const first = listeners.add(listen);
  listeners.add(listen);
  listeners.notify('a');
  first();
  first();
  listeners.notify('b');
  expect([calls, listeners.size]).toEqual([['a', 'a', 'b'], 1]);
  listeners.clear();
  listeners.notify('c');
  expect([calls, listeners.size]).toEqual([['a', 'a', 'b'], 0]);
});

it('a listener that is added or removed by another does not hear of the same event', () => {
  const listeners = new Listeners();
  const calls: string[] = [];
  listeners.add(() => {
    calls.push('first');
    removeSecond();
    if (calls.length === 1) listeners.add(() => void calls.push('added'));
  });
  const removeSecond = listeners.add(() => void calls.push('second'));
  listeners.notify();
  expect(calls).toEqual(['first']);
  listeners.notify();
  expect(calls).toEqual(['first', 'first', 'added']);
});

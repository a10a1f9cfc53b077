import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSignedTaskIds } from '../../../src/adapters/auth/task-ids.ts';

const KEY = Buffer.alloc(32, 1);
const ids = createSignedTaskIds([KEY]);

describe('a wrapped task id', () => {
  it('resolves to its server and the inner id for the subject it was made for, and for nobody else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (inner, server, subject) => {
        const wrapped = ids.wrap(server, subject, inner);
        expect(ids.unwrap(wrapped, subject)).toEqual({ server, inner });
        expect(ids.unwrap(wrapped, `${subject}.`)).toBeUndefined();
        expect(wrapped).toMatch(/^[\w-]+\.[\w-]{22}$/);
      }),
    );
  });

  it("survives a lone surrogate in the server's id", () => {
    expect(ids.unwrap(ids.wrap('a', 'me', 'x\ud800'), 'me')).toEqual({ server: 'a', inner: 'x\ud800' });
  });

  it('is stable, the same in every process with the key, and unique per task', () => {
    const wrapped = ids.wrap('a', 'me', 'task-1');
    expect(createSignedTaskIds([Buffer.alloc(32, 1)]).wrap('a', 'me', 'task-1')).toBe(wrapped);
    const others = [
      ids.wrap('b', 'me', 'task-1'),
      ids.wrap('a', 'you', 'task-1'),
      ids.wrap('a', 'me', 'task-2'),
    ];
    expect(new Set([wrapped, ...others]).size).toBe(4);
    expect(createSignedTaskIds([Buffer.alloc(32, 2)]).wrap('a', 'me', 'task-1')).not.toBe(wrapped);
  });

  it('is made with one key and accepted with several', () => {
    const other = Buffer.alloc(32, 2);
    const wrapped = ids.wrap('a', 'me', 't');
    expect(createSignedTaskIds([other, KEY]).unwrap(wrapped, 'me')).toEqual({ server: 'a', inner: 't' });
    expect(createSignedTaskIds([other]).unwrap(wrapped, 'me')).toBeUndefined();
  });

  it('is rejected if it was truncated, extended, altered or invented', () => {
    const wrapped = ids.wrap('server', 'me', 'task-1');
    for (let at = 0; at < wrapped.length; at += 1) {
      expect(ids.unwrap(wrapped.slice(0, at), 'me')).toBeUndefined();
      for (const letter of ['A', 'B', '.', ' ', '\ud800'])
        if (wrapped[at] !== letter)
          expect(ids.unwrap(wrapped.slice(0, at) + letter + wrapped.slice(at + 1), 'me')).toBeUndefined();
    }
    const [text = '', tag = ''] = wrapped.split('.');
    for (const made of [
      `${wrapped}A`,
      `${wrapped}=`,
      ` ${wrapped}`,
      `${text}=.${tag}`,
      '',
      '.',
      `.${tag}`,
      'task-1',
    ])
      expect(ids.unwrap(made, 'me')).toBeUndefined();
  });

  it('has one spelling, although base64 allows several for the same bytes', () => {
    const wrapped = ids.wrap('server', 'me', 'task-1');
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      const spelled = wrapped.slice(0, -1) + last;
      expect(ids.unwrap(spelled, 'me') !== undefined).toBe(spelled === wrapped);
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signedTaskIds } from '../../../src/adapters/auth/task-ids.ts';

const KEY = Buffer.alloc(32, 1);
const ids = signedTaskIds([KEY]);

describe('a wrapped task id', () => {
  it('gives back its server and the inner id to the subject that it was made for, and to nobody else', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (inner, server, subject) => {
        const wrapped = ids.wrap(server, subject, inner);
        expect(ids.unwrap(wrapped, subject)).toEqual({ server, inner });
        expect(ids.unwrap(wrapped, `${subject}.`)).toBeUndefined();
        expect(wrapped).toMatch(/^[\w-]+\.[\w-]{22}$/);
      }),
    );
  });

  it('comes back whole also where a server wrote half of a surrogate pair', () => {
    expect(ids.unwrap(ids.wrap('a', 'me', 'x\ud800'), 'me')).toEqual({ server: 'a', inner: 'x\ud800' });
  });

  it('is the same each time, in each process that has the key, and never that of another task', () => {
    const wrapped = ids.wrap('a', 'me', 'task-1');
    expect(signedTaskIds([Buffer.alloc(32, 1)]).wrap('a', 'me', 'task-1')).toBe(wrapped);
    const others = [
      ids.wrap('b', 'me', 'task-1'),
      ids.wrap('a', 'you', 'task-1'),
      ids.wrap('a', 'me', 'task-2'),
    ];
    expect(new Set([wrapped, ...others]).size).toBe(4);
    expect(signedTaskIds([Buffer.alloc(32, 2)]).wrap('a', 'me', 'task-1')).not.toBe(wrapped);
  });

  it('is made by one key and known under several', () => {
    const other = Buffer.alloc(32, 2);
    const wrapped = ids.wrap('a', 'me', 't');
    expect(signedTaskIds([other, KEY]).unwrap(wrapped, 'me')).toEqual({ server: 'a', inner: 't' });
    expect(signedTaskIds([other]).unwrap(wrapped, 'me')).toBeUndefined();
  });

  it('that was cut, lengthened, changed in one letter or made up is none', () => {
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

  it('has one spelling, though base64 has several for the same bytes', () => {
    const wrapped = ids.wrap('server', 'me', 'task-1');
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      const spelled = wrapped.slice(0, -1) + last;
      expect(ids.unwrap(spelled, 'me') !== undefined).toBe(spelled === wrapped);
    }
  });
});

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acquireLock, readLock } from '../../src/platform/process-lock.ts';
import { tempDir } from '../../../../test/support/paths.ts';

const path = (): string => join(tempDir(), 'run', 'some.lock');

it('is held by one alone, and free again when released', async () => {
  const file = path();
  const first = await acquireLock(file, { socket: '/a' });
  expect(await acquireLock(file, {})).toMatchObject({
    kind: 'held',
    by: { pid: process.pid, details: { socket: '/a' } },
  });
  expect(readLock(file)).toMatchObject({ pid: process.pid, details: { socket: '/a' } });
  if (first.kind !== 'acquired') throw new Error(first.kind);
  expect(await first.lock.update({ socket: '/b' })).toBe(true);
  expect(readLock(file)).toMatchObject({ details: { socket: '/b' } });
  expect(first.lock.isHeld()).toBe(true);
  first.lock.release();
  expect([readLock(file), first.lock.isHeld()]).toEqual([undefined, false]);
  expect((await acquireLock(file, {})).kind).toBe('acquired');
  // The former holder neither changes nor removes the file of the new one.
  expect(await first.lock.update({ socket: '/c' })).toBe(false);
  expect(first.lock.isHeld()).toBe(false);
  first.lock.release();
  expect(readLock(file)).toMatchObject({ details: {} });
});

it.each([
  ['nothing', ''],
  ['a dead process', JSON.stringify({ pid: 2 ** 22 + 1, started: 'x', nonce: 'x' })],
  [
    'an earlier process with the id of a running one',
    JSON.stringify({ pid: process.pid, started: 'x 1', nonce: 'x' }),
  ],
  ['another program', 'hello'],
])('takes over the file of %s', async (_, text) => {
  const file = path();
  mkdirSync(join(file, '..'));
  writeFileSync(file, text);
  expect(readLock(file)).toBeUndefined();
  expect((await acquireLock(file, {})).kind).toBe('acquired');
  expect(readdirSync(join(file, '..'))).toEqual(['some.lock']);
});

it('says why it cannot create the file', async () => {
  const file = path();
  mkdirSync(file, { recursive: true });
  expect(await acquireLock(file, {})).toEqual({
    kind: 'failed',
    reason: expect.stringContaining('') as string,
  });
});

/** Each child tries once to take over the stale file, holds what it got until told to end, and reports. */
it('of many processes that find a stale file at once, one alone acquires it', async () => {
  const program = new URL('../../../../test/fixtures/lock-taker.mjs', import.meta.url);
  const takers = Array.from({ length: 4 }, () =>
    fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
  );
  const ended = Promise.race(takers.map((taker) => once(taker, 'exit'))).then(() => {
    throw new Error('a taker has ended');
  });
  ended.catch(() => undefined);
  const answers = async (path: string): Promise<readonly unknown[]> => {
    const answered = takers.map((taker) => once(taker, 'message'));
    for (const taker of takers) taker.send(path);
    const kinds = (await Promise.race([Promise.all(answered), ended])) as readonly (readonly unknown[])[];
    return kinds.map(([kind]) => kind);
  };
  try {
    for (let round = 0; round < 25; round += 1) {
      const file = path();
      mkdirSync(join(file, '..'));
      writeFileSync(file, JSON.stringify({ pid: 2 ** 22 + 1, started: 'x', nonce: String(round) }));
      const kinds = await answers(file);
      expect([round, kinds.toSorted()]).toEqual([round, ['acquired', 'held', 'held', 'held']]);
      expect(takers.map(({ pid }) => pid)).toContain(
        (JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number }).pid,
      );
    }
  } finally {
    for (const taker of takers) taker.kill();
  }
});

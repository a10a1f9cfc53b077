import { describe, expect, it } from 'vitest';
import { copyPieces, ReplaySpace, type KeptEvent } from '../../src/edges/mcp/replay.ts';

const MAX = 10_000;
const SIZE = 1_000;

/** Keeps events of one size, and tracks which of them remain. */
function keeper(space: ReplaySpace, subject = 'a') {
  const replay = space.open(subject);
  const remaining: number[] = [];
  let next = 0;
  return {
    replay,
    remaining: (): readonly number[] => remaining,
    keep: (): KeptEvent => {
      const number = next++;
      remaining.push(number);
      return replay.keep(Buffer.alloc(SIZE), () => remaining.splice(remaining.indexOf(number), 1));
    },
  };
}

describe('the replay buffers of sessions', () => {
  it('are limited per session, and the oldest events are evicted first', () => {
    const space = new ReplaySpace(MAX);
    const one = keeper(space);
    for (let time = 0; time < 100; time += 1) one.keep();
    expect(one.remaining()).toEqual([93, 94, 95, 96, 97, 98, 99]);
    expect(space.bytes).toBeLessThanOrEqual(MAX);
  });

  it('are limited in total to 16 times that, and the oldest events of all sessions are evicted first', () => {
    const space = new ReplaySpace(MAX);
    const sessions = Array.from({ length: 40 }, () => keeper(space));
    for (let time = 0; time < 7; time += 1) {
      for (const session of sessions) session.keep();
      expect(space.bytes).toBeLessThanOrEqual(16 * MAX);
    }
    const left = sessions.map((session) => session.remaining());
    expect(new Set(left.flat())).toEqual(new Set([3, 4, 5, 6]));
    expect(space.bytes).toBe(left.flat().length * (SIZE + 256));
  });

  it('lose events of the subject that keeps most, never of one that keeps less', () => {
    const space = new ReplaySpace(MAX);
    const modest = keeper(space, 'modest');
    for (let time = 0; time < 3; time += 1) modest.keep();
    const greedy = Array.from({ length: 40 }, () => keeper(space, 'greedy'));
    for (let time = 0; time < 7; time += 1) for (const session of greedy) session.keep();
    expect(modest.remaining()).toEqual([0, 1, 2]);
    expect(space.bytes).toBeLessThanOrEqual(16 * MAX);
  });

  it('have no room for an event larger than the limit, or for any event once the session has ended', () => {
    const { replay, keep } = keeper(new ReplaySpace(MAX));
    expect([MAX - 256, MAX - 255].map((length) => replay.hasRoomFor(length))).toEqual([true, false]);
    keep();
    replay.close();
    expect(replay.hasRoomFor(0)).toBe(false);
  });

  it('free each event once, even if it is dropped twice, and all events of a session that ends', () => {
    const space = new ReplaySpace(MAX);
    const [one, other] = [keeper(space), keeper(space)];
    const events = [one.keep(), one.keep(), one.keep()];
    other.keep();
    for (const event of [events[1], events[1], events[0], events[2]])
      if (event !== undefined) one.replay.drop(event);
    expect(space.bytes).toBe(SIZE + 256);
    other.replay.close();
    expect(space.bytes).toBe(0);
  });

  it('do not retain the chunks that they copy from', () => {
    const chunk = Buffer.alloc(65_536, 'x');
    const copy = copyPieces([chunk.subarray(0, 3), chunk.subarray(10, 12)]);
    expect([copy.toString(), copy.buffer.byteLength]).toEqual(['xxxxx', 5]);
  });
});

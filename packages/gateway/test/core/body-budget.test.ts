import { describe, expect, it } from 'vitest';
import { BodyBudget, computeBodyBudget, type BodyReservation } from '../../src/core/body-budget.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

describe('the budget for bodies', () => {
  it.each([
    ['an eighth of the memory', { 'limits.bodyBytes': 1 }, 4 * GiB, GiB / 2],
    ['at most 1 GiB', { 'limits.bodyBytes': 1 }, 64 * GiB, GiB],
    ['enough for one message', { bodiesBytes: 20 * MiB, 'limits.bodyBytes': 64 * MiB }, GiB, 64 * MiB],
    ['enough for one bundle', { bodiesBytes: 1, 'limits.bodyBytes': 1 }, GiB, 16 * MiB],
  ])('is %s', (_, limits, memory, expected) => {
    expect(computeBodyBudget(limits, memory)).toBe(expected);
  });
});

/** Bodies by name, with the order in which they were evicted. */
function ledger(limitBytes: number): {
  readonly budget: BodyBudget;
  readonly evicted: string[];
  readonly add: (name: string, declaredBytes?: number) => BodyReservation | undefined;
} {
  const budget = new BodyBudget(limitBytes);
  const evicted: string[] = [];
  const add = (name: string, declaredBytes?: number): BodyReservation | undefined =>
    budget.reserve(name.replace(/\d/g, ''), { declaredBytes, maxBytes: 64 * MiB }, () => evicted.push(name));
  return { budget, evicted, add };
}

describe('when the budget for bodies is full', () => {
  it('the subject with the largest share loses its youngest unfinished body', () => {
    const { budget, evicted, add } = ledger(100 * MiB);
    for (let at = 1; at <= 7; at += 1) add(`a${at}`, 10 * MiB);
    add('b1', 20 * MiB);
    expect(add('c1', 30 * MiB)).toBeDefined();
    expect(evicted).toEqual(['a7', 'a6']);
    expect(budget.bytes).toBe(100 * MiB);
  });

  it('a body in progress is kept, and the next largest share gives way', () => {
    const { evicted, add } = ledger(100 * MiB);
    add('a1', 50 * MiB)?.finish();
    add('b1', 50 * MiB);
    expect(add('c1', 10 * MiB)).toBeDefined();
    expect(evicted).toEqual(['b1']);
  });

  it('a new body is refused if its subject would then have as much as the others', () => {
    const { evicted, add } = ledger(100 * MiB);
    add('a1', 50 * MiB);
    add('b1', 40 * MiB);
    expect(add('b2', 10 * MiB)).toBeDefined();
    expect(add('c1', 50 * MiB)).toBeUndefined();
    expect(add('a2', 10 * MiB)).toBeUndefined();
    expect(evicted).toEqual([]);
  });

  it('one subject leaves a quarter to others, even with bodies in progress', () => {
    const { evicted, add } = ledger(100 * MiB);
    let admitted = 0;
    while (add('a', 10 * MiB)?.finish() !== undefined || admitted < 7) admitted += 1;
    expect(add('a', 10 * MiB)).toBeUndefined();
    expect(add('b', 20 * MiB)).toBeDefined();
    expect(evicted).toEqual([]);
  });

  it('a single body may have all of it', () => {
    const { add } = ledger(100 * MiB);
    expect(add('a1', 100 * MiB)).toBeDefined();
  });
});

describe('a body of unknown length', () => {
  it('reserves memory in steps of 1 MiB, up to the maximum of a message', () => {
    const { budget, add } = ledger(100 * MiB);
    const body = add('a1');
    expect(budget.bytes).toBe(MiB);
    expect([body?.holds(MiB + 1), budget.bytes]).toEqual([true, 2 * MiB]);
    expect([body?.holds(5 * MiB), budget.bytes]).toEqual([true, 5 * MiB]);
    expect([body?.holds(64 * MiB), budget.bytes]).toEqual([true, 64 * MiB]);
    body?.release();
    body?.release();
    expect(budget.bytes).toBe(0);
  });

  it('takes memory from a subject that has more, and none from one that has as much', () => {
    const { evicted, add } = ledger(10 * MiB);
    add('a1', 6 * MiB);
    add('a2', MiB);
    const growing = add('b1', undefined);
    growing?.holds(3 * MiB);
    expect(growing?.holds(4 * MiB)).toBe(true);
    expect(evicted).toEqual(['a2']);
    growing?.holds(5 * MiB);
    expect(evicted).toEqual(['a2', 'a1']);
  });

  it('gives way itself if it is the youngest of the largest share', () => {
    const { budget, evicted, add } = ledger(10 * MiB);
    add('b1', 4 * MiB);
    const growing = add('a1');
    growing?.holds(6 * MiB);
    expect(growing?.holds(7 * MiB)).toBe(false);
    expect(growing?.holds(7 * MiB)).toBe(false);
    expect([evicted, budget.bytes]).toEqual([['a1'], 4 * MiB]);
  });

  it('never exceeds the budget, whatever the order of events', () => {
    let seed = 1;
    const random = (max: number): number => (seed = (seed * 48_271) % 2_147_483_647) % max;
    const { budget, add } = ledger(64 * MiB);
    const open: { body: BodyReservation; arrived: number }[] = [];
    for (let step = 0; step < 20_000; step += 1) {
      const one = open[random(Math.max(open.length, 1))];
      const action = random(4);
      if (one === undefined || action === 0) {
        const body = add('abcdef'.charAt(random(6)), random(2) === 0 ? random(20 * MiB) : undefined);
        if (body !== undefined) open.push({ body, arrived: 0 });
      } else if (action === 1) {
        one.arrived = Math.min(64 * MiB, one.arrived + random(3 * MiB));
        one.body.holds(one.arrived);
      } else if (action === 2) one.body.finish();
      else {
        one.body.release();
        open.splice(open.indexOf(one), 1);
      }
      expect(budget.bytes).toBeLessThanOrEqual(64 * MiB);
    }
    for (const { body } of open) body.release();
    expect(budget.bytes).toBe(0);
  });
});

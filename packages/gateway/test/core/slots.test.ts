import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Slots } from '../../src/core/slots.ts';

describe('slots', () => {
  it('return an item under its assigned id until it is deleted', () => {
    const slots = new Slots<string>();
    const [a = -1, b = -1] = [slots.add('a'), slots.add('b')];
    expect([slots.get(a), slots.get(b), slots.all()]).toEqual(['a', 'b', ['a', 'b']]);
    slots.delete(a);
    expect([slots.get(a), slots.get(b), slots.all()]).toEqual([undefined, 'b', ['b']]);
  });

  it('know no id that they did not assign', () => {
    const slots = new Slots<string>();
    const id = slots.add('a') ?? -1;
    for (const other of [0, -1, id + 1, id + 65_536, id - 65_536, id + 0.5, NaN, Infinity, 2 ** 60]) {
      slots.delete(other);
      expect([other, slots.get(other)]).toEqual([other, undefined]);
    }
    expect(slots.get(id)).toBe('a');
  });

  it('do not resolve the id of an earlier item in the same slot', () => {
    const slots = new Slots<string>();
    const before = slots.add('a') ?? -1;
    slots.delete(before);
    const after = slots.add('b') ?? -1;
    slots.delete(before);
    expect([slots.get(before), slots.get(after)]).toEqual([undefined, 'b']);
  });

  it('hold 65,536 items, and accept more only after a deletion', () => {
    const slots = new Slots<number>();
    const ids = Array.from({ length: 65_536 }, (_, index) => slots.add(index) ?? -1);
    expect(new Set(ids).size).toBe(65_536);
    expect([slots.add(1), slots.add(2)]).toEqual([undefined, undefined]);
    slots.delete(ids[7] ?? -1);
    expect(slots.get(slots.add(1) ?? -1)).toBe(1);
    expect(slots.add(2)).toBeUndefined();
  });

  it('behave like a Map under random operations, and never assign an id twice', () => {
    const step = fc.oneof(fc.record({ add: fc.string() }), fc.record({ remove: fc.nat({ max: 20 }) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const slots = new Slots<string>();
        const map = new Map<number, string>();
        const given: number[] = [];
        for (const one of steps) {
          if ('add' in one) {
            const id = slots.add(one.add) ?? -1;
            given.push(id);
            map.set(id, one.add);
          } else {
            const id = given[one.remove] ?? -1;
            slots.delete(id);
            map.delete(id);
          }
        }
        expect(given.map((id) => slots.get(id))).toEqual(given.map((id) => map.get(id)));
        expect([...slots.all()].sort()).toEqual([...map.values()].sort());
        expect(new Set(given).size).toBe(given.length);
      }),
      { numRuns: 300 },
    );
  });
});

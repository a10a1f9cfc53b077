import { expect, it } from 'vitest';
import { type Fault, toField, readTextAt } from '../src/json-position.ts';
import { flag, list, object, oneOf, openObject, optional, type Reader } from '../src/json-reader.ts';

interface Rule {
  readonly effect: 'allow' | 'refuse';
  readonly names: readonly string[];
  readonly isOn?: boolean | undefined;
}

const rule = object<Rule>({
  effect: oneOf(['allow', 'refuse']),
  names: list(readTextAt),
  isOn: optional(flag),
});

function faultsOf(read: Reader<unknown>, value: unknown): readonly (readonly [string, string])[] {
  const faults: Fault[] = [];
  read({ value, pointer: '', faults });
  return faults.map(({ pointer, reason }) => [pointer, reason]);
}

it('a value is read without members that are absent', () => {
  const faults: Fault[] = [];
  const value = { effect: 'refuse', names: ['a'] };
  expect(rule({ value, pointer: '', faults })).toStrictEqual(value);
  expect(faults).toEqual([]);
});

it('all faults are reported at once, each with its JSON pointer', () => {
  const value = [
    { effect: 'deny', names: ['a', 1], isOn: 1 },
    { effect: 'allow' },
    5,
    { 'a/b~': 0, name: [] },
  ];
  expect(faultsOf(list(rule), value)).toEqual([
    ['/0/effect', 'it must be one of allow, refuse'],
    ['/0/names/1', 'it must be a string'],
    ['/0/isOn', 'it must be true or false'],
    ['/1/names', 'it is missing'],
    ['/2', 'it must be an object'],
    ['/3/a~1b~0', 'there is no such member; known are effect, names, isOn'],
    ['/3/name', 'there is no such member; did you mean "names"?'],
    ['/3/effect', 'it is missing'],
    ['/3/names', 'it is missing'],
  ]);
});

it('members that are inherited do not count, and others of an open object are left out', () => {
  const inherited: unknown = JSON.parse('{"__proto__": {"isOn": true}, "other": 1}');
  const faults: Fault[] = [];
  const read = openObject<{ readonly isOn: boolean }>({ isOn: flag });
  expect(read({ value: inherited, pointer: '', faults })).toEqual({ isOn: false });
  expect(faults).toEqual([{ pointer: '/isOn', reason: 'it is missing' }]);
});

it('a pointer is shown as a field with dots', () => {
  expect([toField(''), toField('/toolsets/0/a~1b~0')]).toEqual(['', 'toolsets.0.a/b~']);
});

it('a hundred unknown members are reported and compared with the known ones, not any number of them', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`name${at}`, 1]));
  const read = list(object<{ readonly isOn: boolean | undefined }>({ isOn: optional(flag) }));
  expect(faultsOf(read, [many, many])).toHaveLength(100);
});

import { describe, expect, it } from 'vitest';
import { checkStops } from '../../src/core/check-policy.ts';
import { compilePolicy } from '../../src/core/policy/compile-policy.ts';
import { computeStopId } from '../../src/core/record-ids.ts';
import { readRecord } from '../../src/core/read-record.ts';
import { compileStops, findStopReasonFault, type Stop } from '../../src/core/stops.ts';
import { callerWith, claimsOf, DEFAULT_PREFERENCES, shownDecision, toolWith } from './policy/tools.ts';

const BY = { by: 'ada', atMs: 0 };
const ALL: Stop = { target: { kind: 'all_calls' }, ...BY };
const SERVER: Stop = { target: { kind: 'server', server: 's' }, ...BY };
const TOOL: Stop = { target: { kind: 'tool', server: 's', tool: 't' }, ...BY };

describe('compileStops', () => {
  it('finds the widest stop of a request', () => {
    expect(compileStops([TOOL])('s', 't')).toBe(TOOL);
    expect(compileStops([TOOL])('s', 'u')).toBeUndefined();
    expect(compileStops([TOOL])('s')).toBeUndefined();
    expect(compileStops([TOOL])('t', 's')).toBeUndefined();
    expect(compileStops([TOOL, SERVER])('s', 't')).toBe(SERVER);
    expect(compileStops([SERVER])('s')).toBe(SERVER);
    expect(compileStops([SERVER, ALL])('other')).toBe(ALL);
    expect(compileStops([])('s', 't')).toBeUndefined();
  });

  it('does not mix up names that contain dots', () => {
    const dotted: Stop = { target: { kind: 'tool', server: 'a.b', tool: 'c' }, ...BY };
    expect(compileStops([dotted])('a', 'b.c')).toBeUndefined();
    expect(computeStopId(dotted.target)).not.toBe(computeStopId({ kind: 'tool', server: 'a', tool: 'b.c' }));
  });
});

describe('a decision', () => {
  const tool = toolWith(claimsOf({ readOnlyHint: true }, 'override'));
  const own = toolWith([], { server: undefined });

  it('is to refuse what is stopped, whatever allows it; the tools of Assay itself go on', () => {
    const allow = { effect: 'allow', name: 'all' } as const;
    const preferences = { ...DEFAULT_PREFERENCES, autoApproveReadOnly: true };
    for (const stops of [[ALL], [SERVER], [TOOL]]) {
      const policy = compilePolicy({ preferences, rules: [allow], stops });
      expect(shownDecision(policy.decide({ ...callerWith(), tool }))).toBe('refuse: stopped');
      expect(policy.decide({ ...callerWith(), tool: own })?.kind).not.toBe('refuse');
    }
    const other = compilePolicy({ preferences, rules: [], stops: [SERVER] });
    expect(other.decide({ ...callerWith(), tool: toolWith([], { server: 'z' }) })?.kind).not.toBe('refuse');
  });
});

it('a reason is one bounded line of visible text', () => {
  expect(findStopReasonFault('It deletes issues.')).toBeUndefined();
  for (const fault of ['', '  ', 'a\nb', 'a\u001b[31m', 'a\u202eb', 'x'.repeat(301)])
    expect(findStopReasonFault(fault), fault).toMatch(/^it /);
});

it('a record of a later version is not read: a stop in it must not be taken for its absence', () => {
  expect(readRecord({ kind: 'stops', version: 1, body: { stops: [TOOL] } }).ok).toBe(true);
  expect(readRecord({ kind: 'stops', version: 2, body: { stops: [] } }).ok).toBe(false);
  const unknown = { target: { kind: 'tag', tag: 'x' }, ...BY };
  expect(readRecord({ kind: 'stops', version: 1, body: { stops: [unknown] } }).ok).toBe(false);
});

it('doctor names each stop and how to end it', () => {
  expect(checkStops([ALL, TOOL]).map(({ about, level }) => [about, level])).toEqual([
    ['all calls', 'warning'],
    ['s.t', 'warning'],
  ]);
});

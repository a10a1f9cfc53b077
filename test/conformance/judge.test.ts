import { describe, expect, it } from 'vitest';
import { brokenScenario, readChecks, type Check } from './checks.ts';
import { failuresIn, judge, lostBetween, type BaselineLine } from './judge.ts';

const HERE = { way: 'through', set: '2026-07-28' } as const;

describe("a scenario's report", () => {
  const read = (...statuses: readonly string[]): readonly Check[] =>
    readChecks(
      's',
      JSON.stringify(statuses.map((status) => ({ id: 'c', status, description: `was ${status}` }))),
    );

  it('has one check for all occurrences of an id, with the worst status', () => {
    expect(read('SUCCESS', 'FAILURE', 'SUCCESS')).toEqual([
      { scenario: 's', id: 'c', verdict: 'failed', passes: 2, said: 'was FAILURE' },
    ]);
  });

  it('fails with a warning', () => {
    expect(read('WARNING')).toEqual([
      { scenario: 's', id: 'c', verdict: 'failed', passes: 0, said: 'was WARNING' },
    ]);
  });

  it('has not passed if the suite only informs, or skips', () => {
    expect(read('INFO', 'SKIPPED')).toEqual([
      { scenario: 's', id: 'c', verdict: 'unsaid', passes: 0, said: 'was INFO; was SKIPPED' },
    ]);
  });

  it('has passed if the suite informs and succeeds', () => {
    expect(read('INFO', 'SUCCESS')).toEqual([
      { scenario: 's', id: 'c', verdict: 'passed', passes: 1, said: 'was INFO' },
    ]);
  });
});

describe('a check that passes directly', () => {
  const passed: Check = { scenario: 's', id: 'c', verdict: 'passed', passes: 2, said: '' };
  const check = (through: readonly Check[], said: string | undefined): void => {
    expect(lostBetween([passed], through)).toEqual(
      said === undefined ? [] : [{ scenario: 's', check: 'c', said }],
    );
  };

  it('is not lost if it passes as often', () => {
    check([passed], undefined);
  });

  it('is lost if it fails', () => {
    check([{ ...passed, verdict: 'failed', said: 'no' }], 'no');
  });

  it('is lost if it is not reported, and the other failures of its scenario are shown', () => {
    check([{ ...passed, scenario: 'other' }], 'It is not reported.');
    check([{ ...passed, id: 'd', verdict: 'failed', said: 'no' }], 'It is not reported. d: no');
  });

  it('is lost if the suite reaches no verdict', () => {
    check([{ ...passed, verdict: 'unsaid', said: 'why' }], 'It comes to no verdict: why');
  });

  it('is lost if it passes less often', () => {
    check([{ ...passed, passes: 1 }], 'It passes 1 times instead of 2.');
  });

  it('is required, but not one that fails directly', () => {
    const failed: Check = { ...passed, verdict: 'failed' };
    expect(lostBetween([failed, brokenScenario('t', 'why')], [])).toEqual([]);
    expect(failuresIn([failed, brokenScenario('t', 'why'), passed])).toEqual([
      { scenario: 's', check: 'c', said: '' },
      { scenario: 't', check: 'scenario-ends', said: 'why' },
    ]);
  });
});

describe('the baseline', () => {
  const line = (more: Partial<BaselineLine>): BaselineLine => ({
    ways: ['through'],
    sets: ['2026-07-28'],
    scenario: 's',
    checks: ['c'],
    reason: 'because',
    ...more,
  });
  const lost = { scenario: 's', check: 'c', said: 'no' };
  const stale = { scenario: 's', check: 'c', reason: 'because' };

  it('excuses what it names', () => {
    expect(judge([lost], [line({})], HERE)).toEqual({ unexpected: [], excused: [lost], stale: [] });
  });

  it('excuses nothing under another mode or suite', () => {
    const lines = [line({ ways: ['direct'] }), line({ sets: ['2025-11-25'] })];
    expect(judge([lost], lines, HERE)).toEqual({ unexpected: [lost], excused: [], stale: [] });
  });

  it('excuses all checks with the prefix before a star, or all checks with only a star', () => {
    const lines = [line({ scenario: 'auth/*', checks: ['*'] })];
    const inside = { ...lost, scenario: 'auth/x' };
    const outside = { ...lost, scenario: 'author' };
    expect(judge([inside, outside], lines, HERE)).toEqual({
      unexpected: [outside],
      excused: [inside],
      stale: [],
    });
  });

  it('may not name a check that passes or does not exist', () => {
    expect(judge([], [line({})], HERE)).toEqual({ unexpected: [], excused: [], stale: [stale] });
    expect(judge([lost], [line({ checks: ['c', 'd'] })], HERE)).toEqual({
      unexpected: [],
      excused: [lost],
      stale: [{ ...stale, check: 'd' }],
    });
  });
});

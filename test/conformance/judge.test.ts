import { describe, expect, it } from 'vitest';
import { brokenScenario, readChecks, type Check } from './checks.ts';
import { failuresIn, judge, lostBetween, type BaselineLine } from './judge.ts';

const HERE = { way: 'through', set: '2026-07-28' } as const;

describe('what the suite wrote of a scenario', () => {
  const read = (...statuses: readonly string[]): readonly Check[] =>
    readChecks(
      's',
      JSON.stringify(statuses.map((status) => ({ id: 'c', status, description: `was ${status}` }))),
    );

  it('is one check for all occurrences of an id, as bad as the worst of them', () => {
    expect(read('SUCCESS', 'FAILURE', 'SUCCESS')).toEqual([
      { scenario: 's', id: 'c', verdict: 'failed', passes: 2, said: 'was FAILURE' },
    ]);
  });

  it('fails with a warning', () => {
    expect(read('WARNING')).toEqual([
      { scenario: 's', id: 'c', verdict: 'failed', passes: 0, said: 'was WARNING' },
    ]);
  });

  it('has not passed where the suite only informs, or skips', () => {
    expect(read('INFO', 'SKIPPED')).toEqual([
      { scenario: 's', id: 'c', verdict: 'unsaid', passes: 0, said: 'was INFO; was SKIPPED' },
    ]);
  });

  it('has passed where it informs beside a success', () => {
    expect(read('INFO', 'SUCCESS')).toEqual([
      { scenario: 's', id: 'c', verdict: 'passed', passes: 1, said: 'was INFO' },
    ]);
  });
});

describe('a check that passes directly is lost', () => {
  const passed: Check = { scenario: 's', id: 'c', verdict: 'passed', passes: 2, said: '' };
  const check = (through: readonly Check[], said: string | undefined): void => {
    expect(lostBetween([passed], through)).toEqual(
      said === undefined ? [] : [{ scenario: 's', check: 'c', said }],
    );
  };

  it('not where it passes as often', () => {
    check([passed], undefined);
  });

  it('where it fails', () => {
    check([{ ...passed, verdict: 'failed', said: 'no' }], 'no');
  });

  it('where it is not reported, and then what else failed in its scenario is told', () => {
    check([{ ...passed, scenario: 'other' }], 'It is not reported.');
    check([{ ...passed, id: 'd', verdict: 'failed', said: 'no' }], 'It is not reported. d: no');
  });

  it('where the suite comes to no verdict', () => {
    check([{ ...passed, verdict: 'unsaid', said: 'why' }], 'It comes to no verdict: why');
  });

  it('where it passes less often', () => {
    check([{ ...passed, passes: 1 }], 'It passes 1 times instead of 2.');
  });

  it('and one that fails directly is not', () => {
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

  it('excuses nothing in another way or set', () => {
    const lines = [line({ ways: ['direct'] }), line({ sets: ['2025-11-25'] })];
    expect(judge([lost], lines, HERE)).toEqual({ unexpected: [lost], excused: [], stale: [] });
  });

  it('excuses all that begins as it says before a star, and all checks with a star alone', () => {
    const lines = [line({ scenario: 'auth/*', checks: ['*'] })];
    const inside = { ...lost, scenario: 'auth/x' };
    const outside = { ...lost, scenario: 'author' };
    expect(judge([inside, outside], lines, HERE)).toEqual({
      unexpected: [outside],
      excused: [inside],
      stale: [],
    });
  });

  it('may not name what passes, or is nowhere', () => {
    expect(judge([], [line({})], HERE)).toEqual({ unexpected: [], excused: [], stale: [stale] });
    expect(judge([lost], [line({ checks: ['c', 'd'] })], HERE)).toEqual({
      unexpected: [],
      excused: [lost],
      stale: [{ ...stale, check: 'd' }],
    });
  });
});

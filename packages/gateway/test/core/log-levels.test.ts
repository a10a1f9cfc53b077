import { expect, it } from 'vitest';
import { isSevereEnough, chooseWiderLevel } from '../../src/core/log-levels.ts';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

it('a message is sent to subscribers of its level or a less severe one', () => {
  for (const [severity, level] of LEVELS.entries())
    expect([level, LEVELS.filter((minLevel) => isSevereEnough(level, minLevel))]).toEqual([
      level,
      LEVELS.slice(0, severity + 1),
    ]);
});
it('a message without a level, or with an unknown one, is always sent', () => {
  for (const level of [undefined, '', 'trace', 'DEBUG', 'warn'])
    expect([level, isSevereEnough(level, 'emergency')]).toEqual([level, true]);
});
it('the less severe of two requested levels covers both', () => {
  for (const [severity, level] of LEVELS.entries())
    for (const [minLevel, other] of LEVELS.entries())
      expect(chooseWiderLevel(level, other)).toBe(LEVELS[Math.min(severity, minLevel)]);
});

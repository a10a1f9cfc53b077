import { expect, it } from 'vitest';
import {
  countFindings,
  sortFindings,
  computeOutcome,
  type Check,
  type Finding,
  type Level,
} from '../../src/core/finding.ts';

function finding(check: Check, level: Level, about = 'x'): Finding {
  const base = { check, about, message: 'It is so.' };
  return level === 'ok' ? { ...base, level } : { ...base, level, remedy: 'Mend it.' };
}

it('findings are sorted by check, the worst of each check first, then in the order they were found', () => {
  const found = [
    finding('disk', 'problem'),
    finding('config', 'ok', 'first'),
    finding('config', 'note'),
    finding('config', 'ok', 'second'),
    finding('servers', 'warning'),
    finding('servers', 'problem'),
    finding('node', 'ok'),
  ];
  expect(sortFindings(found).map(({ check, level, about }) => `${check} ${level} ${about}`)).toEqual([
    'config note x',
    'config ok first',
    'config ok second',
    'node ok x',
    'servers problem x',
    'servers warning x',
    'disk problem x',
  ]);
});

it('findings are counted by level', () => {
  const found = [finding('disk', 'warning'), finding('names', 'warning'), finding('disk', 'ok')];
  expect([countFindings(found, 'warning'), countFindings(found, 'problem')]).toEqual([2, 0]);
});

it.each<[readonly Level[], boolean, boolean, string]>([
  [[], true, false, 'done'],
  [['ok', 'note'], true, false, 'done'],
  [['ok', 'note'], true, true, 'done'],
  [['warning'], true, false, 'done'],
  [['warning'], true, true, 'failed'],
  [['problem', 'ok'], true, false, 'failed'],
  [['problem'], false, false, 'config'],
  [['ok'], false, true, 'config'],
])('%j with a usable config: %s, strict: %s, exits with %s', (levels, hasUsableConfig, isStrict, outcome) => {
  const findings = levels.map((level) => finding('disk', level));
  expect(computeOutcome({ findings, hasUsableConfig }, isStrict)).toBe(outcome);
});

import { expect, it } from 'vitest';
import { checkPolicy } from '../../src/core/check-policy.ts';
import type { PolicyRule } from '../../src/core/policy/rule.ts';

const RULES: readonly PolicyRule[] = [
  { effect: 'refuse', token: ['ci*'] },
  { effect: 'ask', name: 'mail', token: ['anna', 'bob'], server: ['gmail'] },
  { effect: 'refuse', token: ['ci', 'loc*'] },
  { effect: 'allow', token: ['anna'] },
  { effect: 'refuse', server: ['shell'] },
];

it('rules by token that a client evades by sending none are found, unless every client needs one', () => {
  expect(checkPolicy({ rules: RULES, isOpen: true })).toEqual([
    {
      check: 'config',
      level: 'warning',
      about: 'policy',
      message:
        'Clients may call without a token, so whoever holds one evades these rules by not sending it: "#1", "mail".',
      remedy: 'Set "mcp.access" to "token", or add "local" to the tokens of these rules.',
    },
  ]);
  expect(checkPolicy({ rules: RULES, isOpen: false })).toEqual([]);
  expect(checkPolicy({ rules: RULES.slice(2), isOpen: true })).toEqual([]);
});

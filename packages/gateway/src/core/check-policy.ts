import type { Finding } from './finding.ts';
import { type PolicyRule, getRuleName } from './policy/rule.ts';
import { LOCAL_USER } from './subject.ts';
import { matchesGlob } from './tool-filter.ts';

export interface PolicyFacts {
  /** The rules of the config file. */
  readonly rules: readonly PolicyRule[];
  /** Whether clients may come without a token. */
  readonly isOpen: boolean;
}

/** Reports rules that a client evades by sending no token. */
export function checkPolicy({ rules, isOpen }: PolicyFacts): readonly Finding[] {
  if (!isOpen) return [];
  const evaded = rules.flatMap((rule, index) =>
    isEvaded(rule) ? [JSON.stringify(getRuleName(rule, index))] : [],
  );
  if (evaded.length === 0) return [];
  return [
    {
      check: 'config',
      level: 'warning',
      about: 'policy',
      message: `Clients may call without a token, so whoever holds one evades these rules by not sending it: ${evaded.join(', ')}.`,
      remedy: `Set "mcp.access" to "token", or add "${LOCAL_USER.subject}" to the tokens of these rules.`,
    },
  ];
}

/** A rule that allows grants nothing to a client without a token. */
function isEvaded({ effect, token }: PolicyRule): boolean {
  return effect !== 'allow' && token?.some((pattern) => matchesGlob(pattern, LOCAL_USER.subject)) === false;
}

import type { PolicyRule } from '../../../gateway/src/api/policy-rule.ts';
import type { Hint } from '../../../gateway/src/api/hint.ts';
import { ApiError } from './api.ts';
import { HINT_LABELS } from './tools.ts';

export const CONDITIONS = ['tool', 'server', 'tag', 'toolset', 'token'] as const;

export type Condition = (typeof CONDITIONS)[number];

export const HINT_NAMES = Object.keys(HINT_LABELS) as readonly Hint[];

/** A rule in the form. */
export interface RuleDraft {
  readonly effect: PolicyRule['effect'];
  readonly name: string;
  readonly because: string;
  /** One pattern per line. */
  readonly patterns: Readonly<Record<Condition, string>>;
  readonly hints: Readonly<Partial<Record<Hint, boolean>>>;
}

export function toRuleDraft(rule: PolicyRule): RuleDraft {
  const { effect, name = '', because = '', hints = {} } = rule;
  const lines = (condition: Condition): string => (rule[condition] ?? []).join('\n');
  const patterns = {
    ...{ tool: lines('tool'), server: lines('server'), tag: lines('tag') },
    ...{ toolset: lines('toolset'), token: lines('token') },
  };
  return { effect, name, because, patterns, hints };
}

/** Omits empty fields. */
export function toRule({ effect, name, because, patterns, hints }: RuleDraft): PolicyRule {
  const conditions = CONDITIONS.flatMap((condition) => {
    const lines = patterns[condition].split('\n').map((line) => line.trim());
    const given = lines.filter((line) => line !== '');
    return given.length === 0 ? [] : [[condition, given] as const];
  });
  return {
    effect,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(because.trim() !== '' && { because: because.trim() }),
    ...Object.fromEntries(conditions),
    ...(Object.keys(hints).length > 0 && { hints }),
  };
}

/** `tool *.delete_*`, `destructive yes`. */
export function listConditions(rule: PolicyRule): readonly (readonly [what: string, value: string])[] {
  const patterns = CONDITIONS.flatMap((condition) => {
    const given = rule[condition];
    return given === undefined ? [] : [[condition, given.join(', ')] as const];
  });
  const hints = HINT_NAMES.flatMap((hint) => {
    const wanted = rule.hints?.[hint];
    return wanted === undefined ? [] : [[HINT_LABELS[hint].toLowerCase(), wanted ? 'yes' : 'no'] as const];
  });
  return [...patterns, ...hints];
}

export function isSameRule(one: PolicyRule, other: PolicyRule): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Errors by member of the edited rule: the other rules are already accepted. */
export function findRuleFaults(error: unknown): ReadonlyMap<string, string> {
  const faults = error instanceof ApiError ? error.fields : [];
  return new Map(
    faults.flatMap(({ pointer = '', detail }) => {
      const [, member] = /^\/rules\/\d+\/(\w+)/.exec(pointer) ?? [];
      return member === undefined ? [] : [[member, detail] as const];
    }),
  );
}

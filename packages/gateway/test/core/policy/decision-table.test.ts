import { describe, expect, it } from 'vitest';
import { type Confirm, CONFIRMS } from '../../../src/core/confirm.ts';
import { type DeclaredHints, type Hint, HINTS } from '@assay-mcp/kit/hint';
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import {
  type Effect,
  NO_LABELS,
  type PolicyPreferences,
  type PolicyTool,
  type SessionLabel,
} from '../../../src/core/policy/policy.ts';
import type { PolicyRule } from '../../../src/core/policy/rule.ts';
import {
  ALL_HINTS,
  callerWith,
  cautionOf,
  claimsOf,
  DEFAULT_PREFERENCES,
  shownDecision,
  type Source,
  toolWith,
} from './tools.ts';

const EFFECTS: readonly Effect[] = ['allow', 'ask', 'refuse'];
const FLAGS = [true, false] as const;

const ALL_PREFERENCES: readonly PolicyPreferences[] = FLAGS.flatMap((autoApproveReadOnly) =>
  FLAGS.flatMap((alwaysConfirmDestructive) =>
    (['worst_case', 'ask', 'refuse'] as const).flatMap((unannotated) =>
      CONFIRMS.flatMap((confirm) =>
        EFFECTS.map((outbound) => ({
          ...DEFAULT_PREFERENCES,
          ...{ autoApproveReadOnly, alwaysConfirmDestructive, unannotated, confirm, outbound },
        })),
      ),
    ),
  ),
);

const BOTH: ReadonlySet<SessionLabel> = new Set(['saw-untrusted', 'saw-private']);

interface Case {
  readonly hints: DeclaredHints;
  readonly isTrusted: boolean;
  readonly confirm: Confirm | undefined;
  readonly preferences: PolicyPreferences;
  readonly isLabelled: boolean;
  readonly rule: Effect | undefined;
}

/**
 * The same table, written as minimum levels: what a call requires at least, whatever allows it, and what it
 * requires without a minimum. From 0, allowed, to 3, refused.
 */
function expected({ hints, isTrusted, confirm, preferences, isLabelled, rule }: Case): number {
  const says = (hint: Hint, value: boolean): boolean => isTrusted && hints[hint] === value;
  const reads = says('readOnlyHint', true) && hints.destructiveHint !== true;
  const destroys = !reads && !says('destructiveHint', false);
  const sends = !says('openWorldHint', false);
  const isSilent = !isTrusted || Object.keys(hints).length === 0;
  const costs = { never: 0, first: 1, always: 2, allow: 0, ask: 2, refuse: 3, worst_case: 0 };
  const free = (reads && preferences.autoApproveReadOnly) || rule === 'allow';
  return Math.max(
    rule === undefined ? 0 : costs[rule],
    isLabelled && sends ? { ...costs, ask: 1 }[preferences.outbound] : 0,
    isSilent ? costs[preferences.unannotated] : 0,
    destroys && preferences.alwaysConfirmDestructive ? costs.ask : 0,
    free ? 0 : costs[confirm ?? preferences.confirm],
  );
}

const CONTRADICTING: DeclaredHints = { destructiveHint: true, idempotentHint: false };

interface Weaker {
  readonly hints: DeclaredHints;
  readonly isTrusted: boolean;
}

/**
 * The same tool with one hint unknown, or without trust. Excluded: a hint that contradicts `readOnlyHint: true`
 * next to it. Without it the tool is known no less, since a read-only tool destroys nothing and can be repeated.
 */
function weaker({ hints, isTrusted }: Weaker): readonly Weaker[] {
  const unknown = HINTS.flatMap((hint) => {
    if (hints[hint] === undefined) return [];
    if (hints.readOnlyHint === true && hints[hint] === CONTRADICTING[hint]) return [];
    const { [hint]: _, ...rest } = hints;
    return [{ hints: rest, isTrusted }];
  });
  return isTrusted ? [...unknown, { hints, isTrusted: false }] : unknown;
}

const keyOf = ({ hints, isTrusted }: Weaker): string =>
  `${String(isTrusted)} ${HINTS.map((hint) => String(hints[hint])).join(' ')}`;

const TOOLS: readonly Weaker[] = ALL_HINTS.flatMap((hints) =>
  FLAGS.map((isTrusted) => ({ hints, isTrusted })),
);

function built({ hints, isTrusted }: Weaker, confirm?: Confirm): PolicyTool {
  return toolWith(claimsOf(hints, isTrusted ? 'trusted' : 'untrusted'), { confirm });
}

describe('the decision table', () => {
  it('agrees with an independent oracle for every combination, and an unknown never lowers caution', () => {
    const confirms = [undefined, ...CONFIRMS];
    const tools = TOOLS.map((about) => ({
      about,
      key: keyOf(about),
      weaker: weaker(about).map(keyOf),
      variants: confirms.map((confirm) => ({ confirm, tool: built(about, confirm) })),
    }));
    const wrong: string[] = [];
    let count = 0;
    for (const preferences of ALL_PREFERENCES)
      for (const rule of [undefined, ...EFFECTS]) {
        const policy = compilePolicy({ preferences, rules: rule === undefined ? [] : [{ effect: rule }] });
        for (const isLabelled of FLAGS) {
          const caller = callerWith({ labels: isLabelled ? BOTH : NO_LABELS });
          for (const [index, confirm] of confirms.entries()) {
            const found = new Map<string, number>();
            for (const { about, key, variants } of tools) {
              const tool = variants[index]?.tool;
              const caution = cautionOf(policy.decide({ ...caller, tool }));
              found.set(key, caution);
              count += 1;
              if (caution !== expected({ ...about, confirm, preferences, isLabelled, rule }))
                wrong.push(
                  `${key} ${JSON.stringify({ confirm, preferences, isLabelled, rule })}: ${caution}`,
                );
            }
            for (const { key, weaker: others } of tools)
              for (const other of others)
                if ((found.get(other) ?? -1) < (found.get(key) ?? 0))
                  wrong.push(
                    `${other} is less careful than ${key}: ${JSON.stringify({ preferences, rule })}`,
                  );
          }
        }
      }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(count).toBe(81 * 2 * 4 * 108 * 2 * 4);
  });

  it('treats an override like a trusted source', () => {
    for (const hints of ALL_HINTS)
      for (const preferences of ALL_PREFERENCES) {
        const policy = compilePolicy({ preferences, rules: [] });
        const by = (source: Source): string =>
          shownDecision(policy.decide({ ...callerWith(), tool: toolWith(claimsOf(hints, source)) }));
        expect(by('override')).toBe(by('trusted'));
      }
  });
});

describe('a rule on hints', () => {
  const lenient: PolicyPreferences = {
    ...DEFAULT_PREFERENCES,
    ...{ alwaysConfirmDestructive: false, confirm: 'never' },
  };
  const strict: PolicyPreferences = {
    ...DEFAULT_PREFERENCES,
    ...{ alwaysConfirmDestructive: false, confirm: 'always' },
  };

  it('needs known hints to allow but not to ask or refuse, and an unknown never lowers caution', () => {
    const wrong: string[] = [];
    for (const effect of EFFECTS)
      for (const hints of ALL_HINTS) {
        const rule: PolicyRule = { effect, hints };
        const policy = compilePolicy({ preferences: effect === 'allow' ? strict : lenient, rules: [rule] });
        const found = new Map(
          TOOLS.map((about) => [
            keyOf(about),
            cautionOf(policy.decide({ ...callerWith(), tool: built(about) })),
          ]),
        );
        for (const about of TOOLS) {
          const key = keyOf(about);
          const isUnknown = !about.isTrusted || Object.keys(about.hints).length === 0;
          const applies = Object.keys(hints).length === 0 || effect !== 'allow';
          if (
            isUnknown &&
            (found.get(key) === (effect === 'allow' ? 0 : { ask: 2, refuse: 3 }[effect])) !== applies
          )
            wrong.push(`${effect} ${JSON.stringify(hints)} for ${key}: ${found.get(key) ?? ''}`);
          for (const other of weaker(about))
            if ((found.get(keyOf(other)) ?? -1) < (found.get(key) ?? 0))
              wrong.push(`${effect} ${JSON.stringify(hints)}: ${keyOf(other)} is less careful than ${key}`);
        }
      }
    expect(wrong.slice(0, 5)).toEqual([]);
  });
});

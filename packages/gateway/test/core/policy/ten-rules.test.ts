import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import type {
  Decision,
  PolicyCaller,
  PolicyPreferences,
  PolicyTool,
  SessionLabel,
} from '../../../src/core/policy/policy.ts';
import type { PolicyRule } from '../../../src/core/policy/rule.ts';
import { ROOT } from '../../../../../test/support/paths.ts';
import { callerWith, claimsOf, DEFAULT_PREFERENCES, shownDecision, type Source, toolWith } from './tools.ts';

interface Given {
  readonly preferences?: Partial<PolicyPreferences>;
  readonly rules?: readonly PolicyRule[];
  readonly caller?: Partial<PolicyCaller>;
}

function decision(tool: PolicyTool, { preferences, rules = [], caller }: Given = {}): Decision | undefined {
  const policy = compilePolicy({ preferences: { ...DEFAULT_PREFERENCES, ...preferences }, rules });
  return policy.decide({ ...callerWith(caller), tool });
}

function decided(tool: PolicyTool, given: Given = {}): string {
  return shownDecision(decision(tool, given));
}

const READS = { readOnlyHint: true } as const;
const WRITES = { readOnlyHint: false, destructiveHint: false } as const;
const DESTROYS = { destructiveHint: true } as const;

function toolDeclaring(
  hints: Parameters<typeof claimsOf>[0],
  source: Source = 'trusted',
  more: Partial<PolicyTool> = {},
): PolicyTool {
  return toolWith(claimsOf(hints, source), more);
}

const LABELLED = { labels: new Set<SessionLabel>(['saw-untrusted', 'saw-private']) };

const RULES: Readonly<Record<string, () => void>> = {
  'What a rule refuses is refused, whatever else allows it.': () => {
    const rules: readonly PolicyRule[] = [{ effect: 'allow' }, { effect: 'refuse', tool: ['s.t'] }];
    const tool = toolDeclaring(READS, 'override', { confirm: 'never' });
    expect(decided(tool, { rules, preferences: { autoApproveReadOnly: true } })).toBe('refuse: rule');
    expect(decided(toolDeclaring(READS, 'trusted', { name: 'other' }), { rules })).toBe('allow: rule');
  },
  'A destructive tool is confirmed at each call, whatever else allows it.': () => {
    const tool = toolDeclaring(DESTROYS, 'trusted', { confirm: 'never' });
    const rules: readonly PolicyRule[] = [{ effect: 'allow' }];
    expect(decided(tool, { rules })).toBe('ask call: destructive');
    expect(decided(tool, { preferences: { alwaysConfirmDestructive: false } })).toBe('allow: tool_confirm');
  },
  'A tool without trusted hints counts as destructive, or is asked for or refused as you prefer.': () => {
    for (const tool of [toolDeclaring({}), toolDeclaring(READS, 'untrusted')]) {
      const lenient = { confirm: 'never', alwaysConfirmDestructive: false } as const;
      expect(decided(tool)).toBe('ask call: destructive');
      expect(decided(tool, { preferences: { ...lenient, unannotated: 'ask' } })).toBe(
        'ask call: unannotated',
      );
      expect(decided(tool, { preferences: { ...lenient, unannotated: 'refuse' } })).toBe(
        'refuse: unannotated',
      );
    }
  },
  'A hint of a server that you do not trust makes decisions more careful, never less.': () => {
    const rules: readonly PolicyRule[] = [{ effect: 'allow', hints: READS }];
    expect(decided(toolDeclaring(READS, 'untrusted'), { rules })).toBe('ask call: destructive');
    expect(decided(toolDeclaring(READS, 'trusted'), { rules })).toBe('allow: rule');
    const warned = toolWith([...claimsOf(READS, 'override'), ...claimsOf(DESTROYS, 'untrusted')]);
    expect(decided(warned, { rules })).toBe('ask call: destructive');
  },
  'What verification saw makes decisions more careful, never less.': () => {
    const preferences = { autoApproveReadOnly: true };
    expect(decided(toolDeclaring(READS, 'observed'), { preferences })).toBe('ask call: destructive');
    const caught = toolWith([
      ...claimsOf(READS, 'trusted'),
      ...claimsOf({ readOnlyHint: false, destructiveHint: true }, 'observed'),
    ]);
    expect(decided(caught, { preferences })).toBe('ask call: destructive');
  },
  'A session that has read untrusted content and private data sends nothing out unnoticed.': () => {
    const sends = toolDeclaring(WRITES, 'trusted', { confirm: 'never' });
    const stays = toolDeclaring({ ...WRITES, openWorldHint: false }, 'trusted', { confirm: 'never' });
    for (const outbound of ['ask', 'refuse'] as const) {
      const given = { preferences: { outbound }, caller: LABELLED };
      expect(decided(sends, given)).toBe(
        outbound === 'ask' ? 'ask server: session_labels' : 'refuse: session_labels',
      );
      expect(decided(stays, given)).toBe('allow: tool_confirm');
      const reads = toolDeclaring(READS, 'trusted', { confirm: 'never' });
      expect(decided(reads, given)).toBe(decided(sends, given));
      const bare = { ...given, caller: { ...LABELLED, hasArguments: false } };
      expect(decided(reads, bare)).toBe('allow: tool_confirm');
      expect(decided(sends, bare)).toBe(decided(sends, given));
      for (const label of LABELLED.labels)
        expect(decided(sends, { ...given, caller: { labels: new Set([label]) } })).toBe(
          'allow: tool_confirm',
        );
    }
    expect(decided(sends, { caller: LABELLED })).toBe('allow: tool_confirm');
  },
  'A rule that asks wins over everything that allows.': () => {
    const rules: readonly PolicyRule[] = [{ effect: 'allow' }, { effect: 'ask', server: ['s'] }];
    const tool = toolDeclaring(READS, 'trusted', { confirm: 'never' });
    expect(decided(tool, { rules, preferences: { autoApproveReadOnly: true } })).toBe('ask call: rule');
  },
  'A read-only tool runs without a question where you chose that.': () => {
    const tool = toolDeclaring(READS, 'trusted', { confirm: 'always' });
    expect(decided(tool, { preferences: { autoApproveReadOnly: true } })).toBe('allow: read_only');
    expect(decided(tool)).toBe('ask call: tool_confirm');
  },
  'A rule that allows needs to know each hint that it names; one that asks or refuses does not.': () => {
    const closed = { openWorldHint: false } as const;
    const rule = (effect: PolicyRule['effect']): Given => ({ rules: [{ effect, hints: closed }] });
    expect(decided(toolDeclaring({ ...WRITES, ...closed }), rule('allow'))).toBe('allow: rule');
    expect(decided(toolDeclaring(WRITES), rule('allow'))).toBe('ask session: default_confirm');
    expect(decided(toolDeclaring(WRITES), rule('refuse'))).toBe('refuse: rule');
    expect(decided(toolDeclaring({ ...WRITES, openWorldHint: true }), rule('refuse'))).toBe(
      'ask session: default_confirm',
    );
  },
  'Otherwise the `confirm` of the tool counts, then your default, which is to ask once per session.': () => {
    expect(decided(toolDeclaring(WRITES))).toBe('ask session: default_confirm');
    expect(decided(toolDeclaring(WRITES), { preferences: { confirm: 'never' } })).toBe(
      'allow: default_confirm',
    );
    expect(
      decided(toolDeclaring(WRITES, 'trusted', { confirm: 'always' }), { preferences: { confirm: 'never' } }),
    ).toBe('ask call: tool_confirm');
  },
};

describe('the ten rules of docs/POLICY.md', () => {
  it.each(Object.entries(RULES))('%s', (_, holds) => {
    holds();
  });

  it('are all covered here', () => {
    const page = readFileSync(join(ROOT, 'docs/POLICY.md'), 'utf8');
    const listed = [...page.matchAll(/^\d+\. \*\*(.+?)\*\*/gm)].map(([, rule]) => rule);
    expect(listed).toEqual(Object.keys(RULES));
  });
});

it('a `confirm` for another definition asks at each call', () => {
  const tool = toolDeclaring(WRITES, 'trusted', { confirm: 'suspended' });
  expect(decided(tool, { preferences: { confirm: 'never' } })).toBe('ask call: confirm_suspended');
});

describe('a rule', () => {
  const ask = (rule: Omit<PolicyRule, 'effect'>): Given => ({
    rules: [{ effect: 'refuse', ...rule }],
  });
  const tool = toolDeclaring(WRITES, 'trusted', { server: 'linear', name: 'create_issue' });

  it.each<[PolicyRule['tool'], boolean]>([
    [['linear.create_*'], true],
    [['*.create_issue'], true],
    [['gmail.*', 'linear.*'], true],
    [['linear.create'], false],
    [['*.delete_*'], false],
  ])('names tools by patterns: %j', (patterns, isMet) => {
    expect(decision(tool, ask({ tool: patterns }))?.kind === 'refuse').toBe(isMet);
  });

  it('applies only to the calls of its tokens, toolsets and servers', () => {
    const caller = { identity: { subject: 'ci', scopes: [] }, toolset: 'triage' } as const;
    const isMet = (rule: Omit<PolicyRule, 'effect'>, by: Partial<PolicyCaller> = caller): boolean =>
      decision(tool, { ...ask(rule), caller: by })?.kind === 'refuse';
    expect([isMet({ token: ['c*'] }), isMet({ token: ['deploy'] })]).toEqual([true, false]);
    expect([isMet({ toolset: ['triage'] }), isMet({ toolset: ['triage'] }, {})]).toEqual([true, false]);
    expect([isMet({ server: ['lin*'] }), isMet({ server: ['git'] })]).toEqual([true, false]);
    expect(isMet({ server: ['linear'], token: ['ci'], toolset: ['other'] })).toBe(false);
  });

  it('matches the operators’ tags; one that allows ignores tags set for another definition', () => {
    const tags = ['billing', 'mail'];
    const tagged = toolDeclaring(WRITES, 'trusted', { tags, allowingTags: ['mail'] });
    const met = (effect: PolicyRule['effect'], tag: string, about: PolicyTool = tagged): boolean =>
      decision(about, { rules: [{ effect, tag: [tag] }] })?.reasons[0]?.code === 'rule';
    expect((['allow', 'ask', 'refuse'] as const).map((effect) => met(effect, 'mail'))).toEqual([
      true,
      true,
      true,
    ]);
    expect((['allow', 'ask', 'refuse'] as const).map((effect) => met(effect, 'bill*'))).toEqual([
      false,
      true,
      true,
    ]);
    expect([met('ask', 'post'), met('ask', '*', tool)]).toEqual([false, false]);
  });

  it('has its name and the operator’s text as the reason, or its number', () => {
    const rules: readonly PolicyRule[] = [
      { effect: 'refuse', name: 'no issues', because: 'use the form' },
      { effect: 'refuse' },
    ];
    expect(decision(tool, { rules })?.reasons).toEqual([
      { code: 'rule', effect: 'refuse', rule: 'no issues', because: 'use the form' },
      { code: 'rule', effect: 'refuse', rule: '#2' },
    ]);
  });
});

describe('a built-in tool', () => {
  const own = (hints: Parameters<typeof claimsOf>[0]): PolicyTool =>
    toolDeclaring(hints, 'trusted', { server: undefined, name: 'build-toolset' });

  it('needs no confirmation unless it is destructive or a rule says so', () => {
    expect(decided(own(WRITES))).toBe('allow: own_tool');
    expect(decided(own(DESTROYS))).toBe('ask call: destructive');
    const rules: readonly PolicyRule[] = [{ effect: 'refuse', tool: ['*.build-*'] }];
    expect(decided(own(WRITES), { rules })).toBe('refuse: rule');
    expect(decided(own(WRITES), { rules: [{ effect: 'refuse', server: ['*'] }] })).toBe('allow: own_tool');
  });
});

describe('the decision on a tool', () => {
  it('is the same object for each call, so that calls allocate nothing', () => {
    const policy = compilePolicy({ preferences: DEFAULT_PREFERENCES, rules: [{ effect: 'allow' }] });
    const tool = toolDeclaring(READS);
    const decide = (): Decision | undefined => policy.decide({ ...callerWith(), tool });
    expect(decide()).toBe(decide());
  });

  it('is absent if no tool is called', () => {
    const policy = compilePolicy({ preferences: DEFAULT_PREFERENCES, rules: [{ effect: 'refuse' }] });
    expect(policy.decide({ ...callerWith(), tool: undefined })).toBeUndefined();
  });
});

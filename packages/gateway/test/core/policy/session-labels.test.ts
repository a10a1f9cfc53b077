import { expect, it } from 'vitest';
import { type DeclaredHints, HINTS } from '@assay-mcp/kit/hint';
import type { Claim } from '../../../src/core/hints/claim.ts';
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import {
  type Effect,
  NO_LABELS,
  type PolicyTool,
  type SessionLabel,
} from '../../../src/core/policy/policy.ts';
import {
  BOTH_LABELS,
  computeAcknowledgedLabels,
  computeResultLabels,
} from '../../../src/core/policy/session-labels.ts';
import { callerWith, claimsOf, DEFAULT_PREFERENCES, type Source, toolWith } from './tools.ts';

const VALUES = [true, false, undefined] as const;
const FLAGS = [true, false] as const;
const SOURCES: readonly Source[] = ['untrusted', 'trusted', 'override'];
const TAGS: readonly (readonly string[])[] = [
  [],
  ['private'],
  ['outbound'],
  ['private', 'outbound'],
  ['other'],
];

const ALL_HINTS: readonly DeclaredHints[] = HINTS.reduce<readonly DeclaredHints[]>(
  (made, hint) =>
    made.flatMap((hints) =>
      VALUES.map((value) => (value === undefined ? hints : { ...hints, [hint]: value })),
    ),
  [{}],
);

/** Written independently: a hint is certain if set by an operator, or by a trusted source. */
function facts(hints: DeclaredHints, source: Source) {
  const isKnown = source !== 'untrusted';
  const onlyReads = isKnown && hints.readOnlyHint === true && hints.destructiveHint !== true;
  const staysInside = isKnown && hints.openWorldHint === false;
  const reachesOutside = isKnown && hints.openWorldHint === true;
  const changes = isKnown && hints.readOnlyHint === false;
  return { onlyReads, staysInside, reachesOutside, changes };
}

it('a result labels its caller as an independent oracle says, for every combination', () => {
  const wrong: string[] = [];
  for (const hints of ALL_HINTS)
    for (const source of SOURCES)
      for (const tags of TAGS)
        for (const holdsPrivateData of FLAGS) {
          const { staysInside, reachesOutside, changes } = facts(hints, source);
          const expected: SessionLabel[] = [];
          if (!staysInside) expected.push('saw-untrusted');
          const isData = holdsPrivateData && !reachesOutside && !changes;
          // A tool declared both read-only and destructive counts as writing, by implication and not by a claim.
          const isContrary =
            source !== 'untrusted' && hints.readOnlyHint === true && hints.destructiveHint === true;
          if (tags.includes('private') || (isData && !isContrary)) expected.push('saw-private');
          const { hints: resolved } = toolWith(claimsOf(hints, source));
          const found = [...computeResultLabels({ hints: resolved, tags, holdsPrivateData })];
          if (found.join() !== expected.join())
            wrong.push(`${source} ${JSON.stringify({ hints, tags, holdsPrivateData })}: ${found.join()}`);
        }
  expect(wrong.slice(0, 5)).toEqual([]);
});

it('a resource or prompt without hints labels its caller like a tool without hints', () => {
  for (const holdsPrivateData of FLAGS) {
    const source = { tags: [], holdsPrivateData };
    const { hints } = toolWith([]);
    expect(computeResultLabels({ ...source, hints: undefined })).toBe(
      computeResultLabels({ ...source, hints }),
    );
  }
});

/** What a verification saw of a tool: nothing, no request, or requests. */
const OBSERVATIONS: readonly (readonly Claim[])[] = [
  [],
  claimsOf({ openWorldHint: false }, 'observed'),
  claimsOf({ openWorldHint: true }, 'observed'),
];

const LABELS: readonly ReadonlySet<SessionLabel>[] = [
  NO_LABELS,
  new Set(['saw-untrusted']),
  new Set(['saw-private']),
  BOTH_LABELS,
];

it('a call that could carry data out asks or is refused, for every combination of the table in POLICY.md', () => {
  const wrong: string[] = [];
  let count = 0;
  const check = (effect: Effect, trustObservations: boolean): void => {
    const lenient = { alwaysConfirmDestructive: false, confirm: 'never' } as const;
    const preferences = { ...DEFAULT_PREFERENCES, ...lenient, outbound: effect, trustObservations };
    const policy = compilePolicy({ preferences, rules: [] });
    for (const hints of ALL_HINTS)
      for (const source of SOURCES)
        for (const [observed, observation] of OBSERVATIONS.entries())
          for (const isConfined of FLAGS)
            for (const tags of TAGS) {
              const { onlyReads, staysInside } = facts(hints, source);
              const requests = observed === 2;
              const isSilent = trustObservations && observed === 1 && hints.openWorldHint !== true;
              const cannot = isConfined || isSilent || (staysInside && !requests);
              const tool = toolWith([...claimsOf(hints, source), ...observation], { tags, isConfined });
              const depends = effect !== 'allow' && (tags.includes('outbound') || !cannot);
              if (policy.dependsOnLabels(tool) !== depends)
                wrong.push(`${source} ${JSON.stringify({ hints, tags, observed, isConfined })}: depends`);
              for (const hasArguments of FLAGS)
                for (const labels of LABELS) {
                  const carries = tags.includes('outbound') || (!cannot && (hasArguments || !onlyReads));
                  const isAsked = carries && labels === BOTH_LABELS;
                  const expected = isAsked
                    ? { allow: 'allow', ask: 'server', refuse: 'refuse' }[effect]
                    : 'allow';
                  const decided = policy.decide({ ...callerWith({ labels, hasArguments }), tool });
                  const found = decided?.kind === 'ask' ? decided.per : decided?.kind;
                  count += 1;
                  if (found !== expected)
                    wrong.push(
                      `${effect} ${source} ${JSON.stringify({ hints, tags, observed, isConfined, hasArguments, trustObservations, labels: [...labels] })}: ${found}, not ${expected}`,
                    );
                }
            }
  };
  for (const effect of ['allow', 'ask', 'refuse'] as const)
    for (const trustObservations of FLAGS) check(effect, trustObservations);
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(count).toBe(3 * 2 * 81 * 3 * 3 * 2 * 5 * 2 * 4);
});

it('a sandbox without a network brings in nothing untrusted, and what only sends does so only by its result', () => {
  const wrong: string[] = [];
  for (const hints of ALL_HINTS)
    for (const source of SOURCES)
      for (const isConfined of FLAGS) {
        const { hints: resolved } = toolWith(claimsOf(hints, source));
        const result = { hints: resolved, tags: ['private'], holdsPrivateData: false, isConfined };
        const { onlyReads, staysInside } = facts(hints, source);
        const isUntrusted = !isConfined && !staysInside;
        const found = [
          computeResultLabels(result).has('saw-untrusted'),
          computeAcknowledgedLabels(result).has('saw-untrusted'),
          computeAcknowledgedLabels(result).has('saw-private'),
        ];
        const expected = [isUntrusted, isUntrusted && onlyReads, true];
        if (found.join() !== expected.join())
          wrong.push(`${source} ${JSON.stringify({ hints, isConfined })}: ${found.join()}`);
      }
  expect(wrong.slice(0, 5)).toEqual([]);
});

it('an approval of a destination is not offered if the tool asks about each call anyway', () => {
  const hints = { readOnlyHint: true, openWorldHint: true };
  const decided = (more: Partial<PolicyTool>): unknown => {
    const policy = compilePolicy({ preferences: { ...DEFAULT_PREFERENCES, outbound: 'ask' }, rules: [] });
    const tool = toolWith(claimsOf(hints, 'trusted'), more);
    return policy.decide({ ...callerWith({ labels: BOTH_LABELS }), tool });
  };
  expect(decided({})).toMatchObject({ kind: 'ask', per: 'server' });
  expect(decided({ confirm: 'always' })).toMatchObject({ kind: 'ask', per: 'call' });
  expect(decided({ server: undefined })).toMatchObject({ kind: 'ask', per: 'call' });
});

it('that a verification saw no request may lower caution; that the study which ships with Assay saw none does not', () => {
  const preferences = {
    ...{ ...DEFAULT_PREFERENCES, alwaysConfirmDestructive: false, confirm: 'never' as const },
    ...{ outbound: 'refuse' as const, trustObservations: true },
  };
  const policy = compilePolicy({ preferences, rules: [] });
  const claims = claimsOf({ openWorldHint: false }, 'observed');
  const kindOf = (source: 'verification' | 'study'): string | undefined => {
    const tool = toolWith(claims.map((claim) => ({ ...claim, source })));
    return policy.decide({ ...callerWith({ labels: BOTH_LABELS }), tool })?.kind;
  };
  expect([kindOf('verification'), kindOf('study')]).toEqual(['allow', 'refuse']);
});

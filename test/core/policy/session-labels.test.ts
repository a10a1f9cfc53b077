import { expect, it } from 'vitest';
import { type DeclaredHints, HINTS } from '../../../src/core/hints/hint.ts';
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import type { SessionLabel } from '../../../src/core/policy/policy.ts';
import { BOTH_LABELS, labelsAfterResult } from '../../../src/core/policy/session-labels.ts';
import { callerWith, cautionOf, claimsOf, DEFAULT_PREFERENCES, type Source, toolWith } from './tools.ts';

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
          const found = [...labelsAfterResult({ hints: resolved, tags, holdsPrivateData })];
          if (found.join() !== expected.join())
            wrong.push(`${source} ${JSON.stringify({ hints, tags, holdsPrivateData })}: ${found.join()}`);
        }
  expect(wrong.slice(0, 5)).toEqual([]);
});

it('a resource or prompt without hints labels its caller like a tool without hints', () => {
  for (const holdsPrivateData of FLAGS) {
    const source = { tags: [], holdsPrivateData };
    const { hints } = toolWith([]);
    expect(labelsAfterResult({ ...source, hints: undefined })).toBe(labelsAfterResult({ ...source, hints }));
  }
});

it('a call that could exfiltrate data asks or is refused, for every combination of hints and tags', () => {
  const wrong: string[] = [];
  for (const outbound of ['allow', 'ask', 'refuse'] as const) {
    const lenient = { alwaysConfirmDestructive: false, confirm: 'never' } as const;
    const policy = compilePolicy({
      preferences: { ...DEFAULT_PREFERENCES, ...lenient, outbound },
      rules: [],
    });
    for (const hints of ALL_HINTS)
      for (const source of SOURCES)
        for (const tags of TAGS) {
          const { onlyReads, staysInside } = facts(hints, source);
          const carriesOut = tags.includes('outbound') || (!onlyReads && !staysInside);
          const tool = toolWith(claimsOf(hints, source), { tags });
          const expected = carriesOut ? { allow: 0, ask: 2, refuse: 3 }[outbound] : 0;
          const found = cautionOf(policy.decide({ ...callerWith({ labels: BOTH_LABELS }), tool }));
          const isAsked = policy.dependsOnLabels(tool);
          if (found !== expected || isAsked !== (carriesOut && outbound !== 'allow'))
            wrong.push(`${outbound} ${source} ${JSON.stringify({ hints, tags })}: ${found}`);
        }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
});

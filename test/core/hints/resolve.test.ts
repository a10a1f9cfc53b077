import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Claim,
  DEFAULTS,
  type Hint,
  HINTS,
  type Hints,
  isCautious,
} from '../../../src/core/hints/hint.ts';
import { resolveHints, type Decided, type ResolvedHints } from '../../../src/core/hints/resolve.ts';

const NOW = 'd1';

function claim(kind: Claim['kind'], hint: Hint, value: boolean, more: Partial<Claim> = {}): Claim {
  return {
    kind,
    hint,
    value,
    source: 'server',
    origin: 'somebody',
    atMs: 0,
    digest: NOW,
    mayLower: true,
    ...more,
  };
}

function values(resolved: ResolvedHints, face: 'effective' | 'decision'): Hints {
  return Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint][face].value])) as unknown as Hints;
}

function by({ by: basis }: Decided): string {
  if (basis.kind === 'claim') return basis.claim.kind;
  return basis.kind;
}

describe('hint resolution', () => {
  it('uses the defaults of the specification if nothing is claimed, and leaves them out of lists', () => {
    const resolved = resolveHints([], NOW);
    expect(values(resolved, 'effective')).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    expect(HINTS.map((hint) => [by(resolved[hint].effective), resolved[hint].emitted])).toEqual(
      HINTS.map(() => ['default', undefined]),
    );
  });

  const cases: readonly (readonly [string, readonly Claim[], Hint, boolean, string, boolean | undefined])[] =
    [
      [
        'to the override before what is declared',
        [claim('declared', 'readOnlyHint', false), claim('override', 'readOnlyHint', true)],
        'readOnlyHint',
        true,
        'override',
        true,
      ],
      [
        'to what is declared before what is inferred',
        [claim('inferred', 'openWorldHint', true), claim('declared', 'openWorldHint', false)],
        'openWorldHint',
        false,
        'declared',
        false,
      ],
      [
        'to what is inferred before the default',
        [claim('inferred', 'idempotentHint', true)],
        'idempotentHint',
        true,
        'inferred',
        true,
      ],
      [
        'by implication where a tool only reads, and lists show nothing of it',
        [claim('declared', 'readOnlyHint', true)],
        'destructiveHint',
        false,
        'implied',
        undefined,
      ],
      [
        'to an explicit word beside read-only',
        [claim('declared', 'readOnlyHint', true), claim('declared', 'idempotentHint', false)],
        'idempotentHint',
        false,
        'declared',
        false,
      ],
      [
        'to the cautious value where read-only and destructive are both said, and lists show what was said',
        [claim('declared', 'readOnlyHint', true), claim('declared', 'destructiveHint', true)],
        'readOnlyHint',
        false,
        'implied',
        true,
      ],
      [
        'to an explicit read-only before a method that destroys, which then is set aside',
        [
          claim('declared', 'readOnlyHint', true),
          claim('inferred', 'readOnlyHint', false),
          claim('inferred', 'destructiveHint', true),
        ],
        'destructiveHint',
        false,
        'implied',
        false,
      ],
      [
        'to what is inferred of repeating beside an explicit read-only, which it does not contradict',
        [claim('override', 'readOnlyHint', true), claim('inferred', 'idempotentHint', false)],
        'idempotentHint',
        false,
        'inferred',
        false,
      ],
      [
        'to an explicit destructive before a method that reads',
        [claim('declared', 'destructiveHint', true), claim('inferred', 'readOnlyHint', true)],
        'readOnlyHint',
        false,
        'implied',
        false,
      ],
      [
        'to the observation that contradicts an older word',
        [claim('override', 'readOnlyHint', true), claim('observed', 'readOnlyHint', false, { atMs: 1 })],
        'readOnlyHint',
        false,
        'observed',
        false,
      ],
      [
        'to a word that is newer than the observation against it',
        [
          claim('override', 'readOnlyHint', true, { atMs: 2 }),
          claim('observed', 'readOnlyHint', false, { atMs: 1 }),
        ],
        'readOnlyHint',
        true,
        'override',
        true,
      ],
      [
        'without an observation of another definition',
        [
          claim('declared', 'readOnlyHint', true),
          claim('observed', 'readOnlyHint', false, { atMs: 1, digest: 'd0' }),
        ],
        'readOnlyHint',
        true,
        'declared',
        true,
      ],
      [
        'without a consistent observation, which lowers nothing',
        [claim('observed', 'readOnlyHint', true, { atMs: 1 })],
        'readOnlyHint',
        false,
        'default',
        undefined,
      ],
      [
        'to an observation against what follows from read-only',
        [claim('declared', 'readOnlyHint', true), claim('observed', 'destructiveHint', true, { atMs: 1 })],
        'destructiveHint',
        true,
        'observed',
        true,
      ],
      [
        'without a word that is suspended',
        [
          claim('override', 'readOnlyHint', true, { suspended: 'the definition changed' }),
          claim('inferred', 'readOnlyHint', false),
        ],
        'readOnlyHint',
        false,
        'inferred',
        false,
      ],
    ];
  it.each(cases)('%s', (_name, claims, hint, value, basis, emitted) => {
    const resolved = resolveHints(claims, NOW)[hint];
    expect([resolved.effective.value, by(resolved.effective), resolved.emitted]).toEqual([
      value,
      basis,
      emitted,
    ]);
  });

  it('names the contradicting observation', () => {
    const seen = claim('observed', 'readOnlyHint', false, { atMs: 1 });
    const resolved = resolveHints([claim('declared', 'readOnlyHint', true), seen], NOW);
    expect(resolved.readOnlyHint.contradiction).toEqual(seen);
    expect(resolved.openWorldHint.contradiction).toBeUndefined();
    expect(resolveHints([seen], NOW).readOnlyHint.contradiction).toBeUndefined();
  });

  it('believes an untrusted server only if it asks for more caution', () => {
    const said = [
      claim('declared', 'readOnlyHint', true, { mayLower: false }),
      claim('declared', 'openWorldHint', true, { mayLower: false }),
      claim('inferred', 'openWorldHint', false),
    ];
    const resolved = resolveHints(said, NOW);
    expect(values(resolved, 'effective')).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    });
    expect(values(resolved, 'decision')).toEqual(DEFAULTS);
    expect(by(resolved.openWorldHint.decision)).toBe('declared');
  });
});

const anyHint = fc.constantFrom(...HINTS);
const anyClaim: fc.Arbitrary<Claim> = fc.record({
  kind: fc.constantFrom<Claim['kind'][]>('declared', 'inferred', 'override', 'observed'),
  hint: anyHint,
  value: fc.boolean(),
  source: fc.constantFrom('server', 'operator'),
  origin: fc.constantFrom('a', 'b'),
  atMs: fc.integer({ min: 0, max: 4 }),
  digest: fc.constantFrom(NOW, 'd0'),
  mayLower: fc.boolean(),
});
const anyClaims = fc.array(anyClaim, { maxLength: 12 });

/** Hints of which one asks for less care than the other. */
function lowered(before: Hints, after: Hints): readonly Hint[] {
  return HINTS.filter((hint) => isCautious(hint, before[hint]) && !isCautious(hint, after[hint]));
}

describe('for any claims', () => {
  it('the order of claims does not matter', () => {
    fc.assert(
      fc.property(anyClaims, fc.infiniteStream(fc.nat()), (claims, chance) => {
        const shuffled = claims
          .map((one) => ({ one, place: chance.next().value as number }))
          .sort((a, b) => a.place - b.place)
          .map(({ one }) => one);
        expect(resolveHints(shuffled, NOW)).toEqual(resolveHints(claims, NOW));
      }),
    );
  });

  it('a claim that may not lower caution never lowers it for decisions', () => {
    fc.assert(
      fc.property(anyClaims, anyClaim, (claims, added) => {
        const before = values(resolveHints(claims, NOW), 'decision');
        const after = values(resolveHints([...claims, { ...added, mayLower: false }], NOW), 'decision');
        // An operator with a different claim has decided.
        fc.pre(added.kind !== 'override');
        expect(lowered(before, after)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('an observation never lowers caution, neither for people nor for decisions', () => {
    fc.assert(
      fc.property(anyClaims, anyClaim, (claims, added) => {
        const seen: Claim = { ...added, kind: 'observed' };
        const [before, after] = [resolveHints(claims, NOW), resolveHints([...claims, seen], NOW)];
        for (const face of ['effective', 'decision'] as const)
          expect(lowered(values(before, face), values(after, face))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('lists show a hint exactly if an effective claim exists, and absent is never false', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const resolved = resolveHints(claims, NOW);
        for (const hint of HINTS) {
          const isSaid = claims.some((one) => one.hint === hint && one.kind !== 'observed');
          if (isSaid) expect(resolved[hint].emitted).toBeTypeOf('boolean');
          else expect([undefined, DEFAULTS[hint]]).toContain(resolved[hint].emitted);
        }
      }),
    );
  });

  it('an unclaimed hint never gets the safer value', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const resolved = resolveHints(claims, NOW);
        for (const hint of HINTS)
          for (const { value, by: basis } of [resolved[hint].effective, resolved[hint].decision])
            if (!isCautious(hint, value)) expect(basis.kind).not.toBe('default');
      }),
    );
  });

  it('read-only and destructive together are never believed', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const resolved = resolveHints(claims, NOW);
        for (const face of ['effective', 'decision'] as const) {
          const { readOnlyHint, destructiveHint } = values(resolved, face);
          expect(readOnlyHint && destructiveHint).toBe(false);
        }
      }),
    );
  });

  it('the decision names a claim that supports it', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const resolved = resolveHints(claims, NOW);
        for (const hint of HINTS)
          for (const { value, by: basis } of [resolved[hint].effective, resolved[hint].decision])
            switch (basis.kind) {
              case 'claim':
                expect(claims).toContain(basis.claim);
                expect([basis.claim.hint, basis.claim.value]).toEqual([hint, value]);
                break;
              case 'implied':
                expect(claims).toContain(basis.by);
                expect([basis.by.hint, basis.by.value]).toEqual([basis.from, true]);
                expect(value).toBe(basis.from === 'destructiveHint' ? false : !DEFAULTS[hint]);
                break;
              default:
                expect(value).toBe(DEFAULTS[hint]);
            }
      }),
    );
  });
});

describe('hints of a built-in tool', () => {
  const emitted = (claims: readonly Claim[]): unknown =>
    HINTS.map((hint) => resolveHints(claims, NOW, { isMade: true })[hint].emitted);

  it('are all in lists: inferred ones, or else the defaults', () => {
    expect(emitted([])).toEqual([false, true, false, true]);
    const read = [
      claim('inferred', 'readOnlyHint', true),
      claim('inferred', 'destructiveHint', false),
      claim('inferred', 'idempotentHint', true),
      claim('inferred', 'openWorldHint', true),
    ];
    expect(emitted(read)).toEqual([true, false, true, true]);
    expect(emitted([...read, claim('declared', 'destructiveHint', true)])).toEqual([false, true, true, true]);
  });
});

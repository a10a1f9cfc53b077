import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULTS, type Hint, HINTS, type Hints, isCautious } from '@assay-mcp/kit/hint';
import type { Claim } from '../../../src/core/hints/claim.ts';
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

function values(resolved: ResolvedHints, view: 'effective' | 'decision'): Hints {
  return Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint][view].value])) as unknown as Hints;
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
        'prefers an override to a declared hint',
        [claim('declared', 'readOnlyHint', false), claim('override', 'readOnlyHint', true)],
        'readOnlyHint',
        true,
        'override',
        true,
      ],
      [
        'prefers a declared hint to an inferred one',
        [claim('inferred', 'openWorldHint', true), claim('declared', 'openWorldHint', false)],
        'openWorldHint',
        false,
        'declared',
        false,
      ],
      [
        'prefers an inferred hint to the default',
        [claim('inferred', 'idempotentHint', true)],
        'idempotentHint',
        true,
        'inferred',
        true,
      ],
      [
        'implies a harmless tool from read-only, and leaves that out of lists',
        [claim('declared', 'readOnlyHint', true)],
        'destructiveHint',
        false,
        'implied',
        undefined,
      ],
      [
        'keeps an explicit hint next to read-only',
        [claim('declared', 'readOnlyHint', true), claim('declared', 'idempotentHint', false)],
        'idempotentHint',
        false,
        'declared',
        false,
      ],
      [
        'uses the cautious value if read-only and destructive are both declared; lists show what was declared',
        [claim('declared', 'readOnlyHint', true), claim('declared', 'destructiveHint', true)],
        'readOnlyHint',
        false,
        'implied',
        true,
      ],
      [
        'prefers an explicit read-only to a destructive method, which then has no effect',
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
        'keeps an inferred idempotentHint next to an explicit read-only, which it does not contradict',
        [claim('override', 'readOnlyHint', true), claim('inferred', 'idempotentHint', false)],
        'idempotentHint',
        false,
        'inferred',
        false,
      ],
      [
        'prefers an explicit destructive hint to a read-only method',
        [claim('declared', 'destructiveHint', true), claim('inferred', 'readOnlyHint', true)],
        'readOnlyHint',
        false,
        'implied',
        false,
      ],
      [
        'prefers an observation to an older override that it contradicts',
        [claim('override', 'readOnlyHint', true), claim('observed', 'readOnlyHint', false, { atMs: 1 })],
        'readOnlyHint',
        false,
        'observed',
        false,
      ],
      [
        'prefers an override to an older observation that contradicts it',
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
        'ignores an observation of another definition',
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
        'ignores a consistent observation, which never lowers caution',
        [claim('observed', 'readOnlyHint', true, { atMs: 1 })],
        'readOnlyHint',
        false,
        'default',
        undefined,
      ],
      [
        'prefers an observation to what read-only implies',
        [claim('declared', 'readOnlyHint', true), claim('observed', 'destructiveHint', true, { atMs: 1 })],
        'destructiveHint',
        true,
        'observed',
        true,
      ],
      [
        'ignores a suspended override',
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
    const claims = [
      claim('declared', 'readOnlyHint', true, { mayLower: false }),
      claim('declared', 'openWorldHint', true, { mayLower: false }),
      claim('inferred', 'openWorldHint', false),
    ];
    const resolved = resolveHints(claims, NOW);
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

/** The hints for which `after` is less cautious than `before`. */
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
        for (const view of ['effective', 'decision'] as const)
          expect(lowered(values(before, view), values(after, view))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('lists show a hint exactly if an effective claim exists, and absent is never false', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const resolved = resolveHints(claims, NOW);
        for (const hint of HINTS) {
          const isClaimed = claims.some((one) => one.hint === hint && one.kind !== 'observed');
          if (isClaimed) expect(resolved[hint].emitted).toBeTypeOf('boolean');
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
        for (const view of ['effective', 'decision'] as const) {
          const { readOnlyHint, destructiveHint } = values(resolved, view);
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

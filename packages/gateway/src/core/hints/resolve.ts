import { DEFAULTS, type Hint, HINTS, isCautious } from '@assay-mcp/kit/hint';
import type { Claim } from './claim.ts';

/** What a value is based on. */
export type Basis =
  | { readonly kind: 'claim'; readonly claim: Claim }
  /**
   * Follows from `readOnlyHint: true`, since a read-only tool destroys nothing and can be repeated, or from
   * `destructiveHint: true`, since a destructive tool is not read-only.
   */
  | { readonly kind: 'implied'; readonly from: 'readOnlyHint' | 'destructiveHint'; readonly by: Claim }
  /** The default of the specification. */
  | { readonly kind: 'default' };

export interface Decided {
  readonly value: boolean;
  readonly by: Basis;
}

export interface ResolvedHint {
  readonly hint: Hint;
  /** The value according to all claims. */
  readonly effective: Decided;
  /** The value used for decisions: claims that may not lower caution cannot lower it here. */
  readonly decision: Decided;
  /** The value shown in lists. Undefined if the hint is omitted. */
  readonly emitted: boolean | undefined;
  /** The observation that contradicts the other claims. */
  readonly contradiction?: Claim | undefined;
  /** The current definition withdraws a value that the accepted one declared, and that has not been reviewed yet. */
  readonly isTakenBack?: true;
  /** All claims, in order of precedence. */
  readonly claims: readonly Claim[];
}

export type ResolvedHints = Readonly<Record<Hint, ResolvedHint>>;

interface ResolveOptions {
  /** Whether Assay builds the tool. */
  readonly isMade?: boolean;
  /** Hints whose promise the source has withdrawn since it was accepted. */
  readonly takenBack?: readonly Hint[];
}

/**
 * Resolves all claims on one tool whose definition has this digest. The order of the claims does not matter. A claim
 * that may not lower caution never does in `decision`, and an observation never lowers it anywhere. For a tool that
 * Assay builds, lists show all four hints.
 */
export function resolveHints(
  claims: readonly Claim[],
  digest: string,
  { isMade = false, takenBack = [] }: ResolveOptions = {},
): ResolvedHints {
  const counting = claims.filter((claim) => doesCount(claim, digest));
  const effective = settle(counting);
  const decision = settle(
    counting.filter(({ hint, value, mayLower }) => mayLower || isCautious(hint, value)),
  );
  const resolved = HINTS.map((hint): readonly [Hint, ResolvedHint] => {
    const about = counting.filter((claim) => claim.hint === hint);
    const claim = spokenOf(about);
    const deciding = decidingOf(about);
    // Without any claim, an observation can only contradict a value implied by readOnlyHint.
    const isContradicted = deciding !== claim && (claim !== undefined || saysReadOnly(counting));
    return [
      hint,
      {
        hint,
        effective: effective[hint],
        decision: decision[hint],
        emitted:
          isMade || isSetAside(claim, effective[hint])
            ? effective[hint].value
            : (isContradicted ? deciding : claim)?.value,
        ...(isContradicted && { contradiction: deciding }),
        ...(takenBack.includes(hint) && { isTakenBack: true as const }),
        claims: claims.filter((one) => one.hint === hint).toSorted(byWeight),
      },
    ];
  });
  return careful(Object.fromEntries(resolved) as unknown as ResolvedHints); // every hint was visited
}

/** Whether an inferred claim is overruled because an explicit claim on another hint contradicts it. */
function isSetAside(claim: Claim | undefined, { value, by }: Decided): boolean {
  return claim?.kind === 'inferred' && by.kind === 'implied' && claim.value !== value;
}

/**
 * Clients that see a read-only tool look at nothing else. So if an override is part of a contradiction, lists show
 * `readOnlyHint: false`. A contradiction of the server alone is passed on unchanged.
 */
function careful(hints: ResolvedHints): ResolvedHints {
  const { readOnlyHint, destructiveHint } = hints;
  const isBoth = readOnlyHint.emitted === true && destructiveHint.emitted === true;
  const isOperators = [readOnlyHint, destructiveHint].some(({ claims }) =>
    claims.some(({ kind, suspended }) => kind === 'override' && suspended === undefined),
  );
  return isBoth && isOperators ? { ...hints, readOnlyHint: { ...readOnlyHint, emitted: false } } : hints;
}

/** Observations apply to one definition only. */
function doesCount(claim: Claim, digest: string): boolean {
  return claim.suspended === undefined && (claim.kind !== 'observed' || claim.digest === digest);
}

/**
 * `readOnlyHint` and `destructiveHint` cannot both be true. If one of them is inferred, the explicit one wins;
 * otherwise it is unclear which one is meant, and caution wins.
 */
function settle(claims: readonly Claim[]): Readonly<Record<Hint, Decided>> {
  const alone = (hint: Hint): Claim | undefined => decidingOf(claims.filter((claim) => claim.hint === hint));
  const [readOnly, destructive] = [alone('readOnlyHint'), alone('destructiveHint')];
  const reads = readOnly?.value === true ? readOnly : undefined;
  const destroys = destructive?.value === true ? destructive : undefined;
  const isSeen = claims.some(
    ({ kind, hint, value }) => kind === 'observed' && hint === 'destructiveHint' && value,
  );
  const decided = (hint: Hint): Decided => decidedBy(hint, alone(hint));
  const openWorldHint = decided('openWorldHint');
  if (reads === undefined || (destroys !== undefined && (isSeen || !isOutranked(destroys, reads))))
    return {
      readOnlyHint:
        reads === undefined || destroys === undefined
          ? decided('readOnlyHint')
          : { value: false, by: { kind: 'implied', from: 'destructiveHint', by: destroys } },
      destructiveHint: decided('destructiveHint'),
      idempotentHint: decided('idempotentHint'),
      openWorldHint,
    };
  const following = (hint: Hint): Decided => {
    const own = alone(hint);
    if (own !== undefined && own !== destroys) return decided(hint);
    return { value: !DEFAULTS[hint], by: { kind: 'implied', from: 'readOnlyHint', by: reads } };
  };
  return {
    readOnlyHint: decided('readOnlyHint'),
    destructiveHint: following('destructiveHint'),
    idempotentHint: following('idempotentHint'),
    openWorldHint,
  };
}

/** Whether an inferred claim opposes an explicit one. */
function isOutranked(claim: Claim, by: Claim): boolean {
  return claim.kind === 'inferred' && by.kind !== 'inferred';
}

function decidedBy(hint: Hint, claim: Claim | undefined): Decided {
  return claim === undefined
    ? { value: DEFAULTS[hint], by: { kind: 'default' } }
    : { value: claim.value, by: { kind: 'claim', claim } };
}

/** The deciding claim on one hint, leaving out observations. */
function spokenOf(about: readonly Claim[]): Claim | undefined {
  return about.filter(({ kind }) => kind !== 'observed').toSorted(byWeight)[0];
}

/** The same, unless a later observation is more cautious. */
function decidingOf(about: readonly Claim[]): Claim | undefined {
  const claim = spokenOf(about);
  if (claim !== undefined && isCautious(claim.hint, claim.value)) return claim;
  const sinceMs = claim?.atMs ?? -Infinity;
  const [observed] = about
    .filter(({ kind, hint, value, atMs }) => kind === 'observed' && isCautious(hint, value) && atMs > sinceMs)
    .toSorted(byWeight);
  return observed ?? claim;
}

function saysReadOnly(claims: readonly Claim[]): boolean {
  return decidingOf(claims.filter(({ hint }) => hint === 'readOnlyHint'))?.value === true;
}

const ORDER: Readonly<Record<Claim['kind'], number>> = { override: 0, declared: 1, inferred: 2, observed: 3 };

/** Override before declared before inferred; within a kind the cautious claim first, then the newer. A total order. */
function byWeight(one: Claim, other: Claim): number {
  return (
    ORDER[one.kind] - ORDER[other.kind] ||
    Number(isCautious(other.hint, other.value)) - Number(isCautious(one.hint, one.value)) ||
    other.atMs - one.atMs ||
    compare(JSON.stringify(one), JSON.stringify(other))
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

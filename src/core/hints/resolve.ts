import { type Claim, DEFAULTS, type Hint, HINTS, isCautious } from './hint.ts';

/** Why a value is what it is. */
export type Basis =
  | { readonly kind: 'claim'; readonly claim: Claim }
  /**
   * It follows from `readOnlyHint: true`, as what only reads destroys nothing and can be repeated, or from
   * `destructiveHint: true`, as what destroys does not only read.
   */
  | { readonly kind: 'implied'; readonly from: 'readOnlyHint' | 'destructiveHint'; readonly by: Claim }
  /** What the specification has it be. */
  | { readonly kind: 'default' };

export interface Decided {
  readonly value: boolean;
  readonly by: Basis;
}

export interface ResolvedHint {
  readonly hint: Hint;
  /** What is believed, by everybody's word. */
  readonly effective: Decided;
  /** The same for decisions: who may not lower caution has not. */
  readonly decision: Decided;
  /** What lists show; undefined: nothing. */
  readonly emitted: boolean | undefined;
  /** The observation that contradicts what would be believed. */
  readonly contradiction?: Claim | undefined;
  /** All that anybody says, those that count most first. */
  readonly claims: readonly Claim[];
}

export type ResolvedHints = Readonly<Record<Hint, ResolvedHint>>;

/**
 * Resolves all claims on one tool whose definition has this digest. The order of the claims does not matter. A claim that
 * may not lower caution never does in `decision`, and an observation never lowers it anywhere. Of a tool that Assay makes
 * itself, lists show all four hints.
 */
export function resolveHints(
  claims: readonly Claim[],
  digest: string,
  { isMade = false }: { readonly isMade?: boolean } = {},
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
    // Where nobody says anything, an observation contradicts only what would follow.
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
        claims: claims.filter((one) => one.hint === hint).toSorted(byWeight),
      },
    ];
  });
  return careful(Object.fromEntries(resolved) as unknown as ResolvedHints); // every hint was visited
}

/** Whether what was inferred is not believed, as an explicit claim on another hint contradicts it. */
function isSetAside(claim: Claim | undefined, { value, by }: Decided): boolean {
  return claim?.kind === 'inferred' && by.kind === 'implied' && claim.value !== value;
}

/**
 * Clients look at nothing else where a tool only reads. So where an operator is part of the contradiction, lists say that
 * it does not; what a server says by itself passes as it is.
 */
function careful(hints: ResolvedHints): ResolvedHints {
  const { readOnlyHint, destructiveHint } = hints;
  const isBoth = readOnlyHint.emitted === true && destructiveHint.emitted === true;
  const isOperators = [readOnlyHint, destructiveHint].some(({ claims }) =>
    claims.some(({ kind, suspended }) => kind === 'override' && suspended === undefined),
  );
  return isBoth && isOperators ? { ...hints, readOnlyHint: { ...readOnlyHint, emitted: false } } : hints;
}

/** Evidence holds for one definition. */
function doesCount(claim: Claim, digest: string): boolean {
  return claim.suspended === undefined && (claim.kind !== 'observed' || claim.digest === digest);
}

/**
 * Both `readOnlyHint` and `destructiveHint` cannot be true. Where one of them is inferred, the explicit one wins; otherwise
 * nobody knows which one is meant, and caution wins.
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

/** Whether a guess stands against an explicit claim. */
function isOutranked(claim: Claim, by: Claim): boolean {
  return claim.kind === 'inferred' && by.kind !== 'inferred';
}

function decidedBy(hint: Hint, claim: Claim | undefined): Decided {
  return claim === undefined
    ? { value: DEFAULTS[hint], by: { kind: 'default' } }
    : { value: claim.value, by: { kind: 'claim', claim } };
}

/** What anybody but observation says of one hint. */
function spokenOf(about: readonly Claim[]): Claim | undefined {
  return about.filter(({ kind }) => kind !== 'observed').toSorted(byWeight)[0];
}

/** The same, or what was observed since and is more cautious. */
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

/** Override before declared before inferred; of one kind the cautious one first, then the newer one. A total order. */
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

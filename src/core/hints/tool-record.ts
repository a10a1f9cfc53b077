import type { Aspects, AspectsOf } from './aspects.ts';
import type { Drift, ProsePolicy } from './drift.ts';
import { type Hint, isCautious } from './hint.ts';

/** An operator's value for one hint. */
export interface Override {
  readonly value: boolean;
  /** Who gave it. */
  readonly author: string;
  readonly atMs: number;
  readonly reason?: string | undefined;
  /** SHA-256 of the definition that its author saw. */
  readonly digest: string;
  /** What that definition said; absent: unknown, so that the override counts for that digest alone. */
  readonly seen?: Aspects | undefined;
}

/** How often prose has changed while the behaviour stayed the same. */
export interface Volatility {
  /** Connections in a row, each of which found other prose than the one before. */
  readonly connects: number;
  /** Whether an operator accepted the tool when that was known: other prose is not reported any more. */
  readonly isAccepted: boolean;
}

/** So many connections in a row make prose volatile. */
export const VOLATILE_AFTER = 3;

export function isVolatile({ volatility }: Pick<ToolRecord, 'volatility'>): boolean {
  return volatility !== undefined && volatility.connects >= VOLATILE_AFTER;
}

/** What is stored of one tool: what operators wrote, and how it has drifted. */
export interface ToolRecord {
  readonly id: string;
  readonly server: string;
  /** Which server had this name. */
  readonly identity: string;
  /** What its server calls it. */
  readonly name: string;
  readonly overrides: Readonly<Partial<Record<Hint, Override>>>;
  readonly title?: string | undefined;
  /** Whether it is kept from clients. */
  readonly isDisabled?: boolean | undefined;
  readonly drift?: Drift | undefined;
  /** Absent: its prose has not changed by itself. */
  readonly volatility?: Volatility | undefined;
}

/**
 * Whether an override counts for a definition. One that lowers caution counts where its author saw a definition of the same
 * behaviour, and of the same prose where that matters. What operators write themselves they have seen.
 */
export function isInForce(hint: Hint, override: Override, now: Circumstances): boolean {
  if (now.isOwn || isCautious(hint, override.value) || override.digest === now.digest) return true;
  return isAlike(override, now);
}

function isAlike(override: Override, { aspects, prose }: Circumstances): boolean {
  if (override.seen === undefined) return false;
  const [seen, now] = [override.seen, aspects()];
  const isSameTarget = now.target === '' || seen.target === now.target;
  return seen.behaviour === now.behaviour && isSameTarget && (prose === 'flag' || seen.prose === now.prose);
}

/** The definition as it is now. */
export interface Circumstances {
  readonly digest: string;
  readonly aspects: AspectsOf;
  readonly prose: ProsePolicy;
  /** Whether an operator wrote it, and nobody else can change it. */
  readonly isOwn: boolean;
}

/** The record after somebody has reviewed the definition: nothing differs, and all overrides are about it. */
export function reviewed(
  { drift: _, volatility, ...record }: ToolRecord,
  { digest, aspects }: Pick<Circumstances, 'digest' | 'aspects'>,
): ToolRecord {
  const overrides = Object.fromEntries(
    Object.entries(record.overrides).map(([hint, override]) => [
      hint,
      { ...override, digest, seen: aspects() },
    ]),
  );
  const accepted = volatility !== undefined && isVolatile({ volatility });
  return { ...record, overrides, ...(accepted && { volatility: { ...volatility, isAccepted: true } }) };
}

/** Whether it is so already. */
export function isReviewed({ overrides, drift }: ToolRecord, digest: string): boolean {
  return drift === undefined && Object.values(overrides).every((override) => override.digest === digest);
}

/** What becomes of it when a connection has found the tool as it was found before, with other prose, or doing another thing. */
export function volatilityAfter(
  before: Volatility | undefined,
  found: 'same' | 'prose' | 'behaviour',
): Volatility | undefined {
  if (found === 'behaviour') return undefined;
  const { connects, isAccepted } = before ?? { connects: 0, isAccepted: false };
  if (found === 'prose') return { connects: Math.min(connects + 1, VOLATILE_AFTER), isAccepted };
  return connects < VOLATILE_AFTER ? undefined : before;
}

/** Whether nothing is said, so that nothing need be kept. */
export function isSilent({ overrides, title, isDisabled, drift, volatility }: ToolRecord): boolean {
  const isPlain = title === undefined && isDisabled !== true && drift === undefined;
  return isPlain && volatility === undefined && Object.keys(overrides).length === 0;
}

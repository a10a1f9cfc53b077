import type { Aspects, AspectsOf } from './aspects.ts';
import type { Confirm } from '../confirm.ts';
import type { Drift, ProsePolicy } from './drift.ts';
import { type Hint, isCautious } from '@assay-mcp/kit/hint';
import type { ToolVerification } from './tool-verification.ts';

/** An operator's value for one hint. */
export interface Override {
  readonly value: boolean;
  /** The operator who set it. */
  readonly author: string;
  readonly atMs: number;
  readonly reason?: string | undefined;
  /** SHA-256 of the definition that the author saw. */
  readonly digest: string;
  /** The aspects of that definition. Absent if unknown; the override then applies to that digest only. */
  readonly seen?: Aspects | undefined;
}

/** An operator's description of a tool, which replaces the server's. */
export interface DescriptionOverride {
  readonly text: string;
  /** Digest of the server's titles, descriptions and output schema that the operator saw. */
  readonly seen: string;
}

/** An operator's choice for calls of a tool with the definition that they saw. */
export interface CallChoice<T> {
  readonly value: T;
  /** SHA-256 of that definition. */
  readonly digest: string;
  readonly seen: Aspects;
}

/** How often calls must be confirmed. */
export type ConfirmOverride = CallChoice<Confirm>;

/** How long in ms results may be reused from the cache; 0: never. */
export type CacheOverride = CallChoice<number>;

/** Tags. They always apply where they raise caution. */
export type TagsOverride = CallChoice<readonly string[]>;

/** How often the prose has changed while the behaviour stayed the same. */
export interface Volatility {
  /** Consecutive connections that each found different prose from the previous one. */
  readonly connects: number;
  /** Whether an operator accepted the tool knowing this; changes of prose are then no longer reported. */
  readonly isAccepted: boolean;
}

/** After this many consecutive connections with changed prose, the prose counts as volatile. */
export const VOLATILE_AFTER = 3;

export function isVolatile({ volatility }: Pick<ToolRecord, 'volatility'>): boolean {
  return volatility !== undefined && volatility.connects >= VOLATILE_AFTER;
}

/** Everything stored about one tool apart from its definition: operators' settings, drift and observations. */
export interface ToolRecord {
  readonly id: string;
  readonly server: string;
  /** Identity of the server that had this name. */
  readonly identity: string;
  /** Its name on its server. */
  readonly name: string;
  readonly overrides: Readonly<Partial<Record<Hint, Override>>>;
  readonly title?: string | undefined;
  /** The operator's name for it, which replaces the server's. */
  readonly publicName?: string | undefined;
  readonly description?: DescriptionOverride | undefined;
  /** How often its calls must be confirmed. Absent: as set in the preferences. */
  readonly confirm?: ConfirmOverride | undefined;
  /** How long in ms its results are cached. Absent: as set in the settings. */
  readonly cacheMs?: CacheOverride | undefined;
  readonly tags?: TagsOverride | undefined;
  /** Whether it is hidden from clients. */
  readonly isDisabled?: boolean | undefined;
  readonly drift?: Drift | undefined;
  /** Absent if its prose has not changed on its own. */
  readonly volatility?: Volatility | undefined;
  /** Absent if it was never verified. */
  readonly verification?: ToolVerification | undefined;
}

/** What operators have set for one tool, without what Assay observed of it here. */
export type ToolOverrides = Omit<ToolRecord, 'id' | 'drift' | 'volatility' | 'verification'>;

/**
 * Whether an override applies to a definition. One that lowers caution applies only if its author saw a definition with
 * the same behaviour, and the same prose if that matters. The operator's own definitions count as seen.
 */
export function isInForce(hint: Hint, override: Override, now: CurrentDefinition): boolean {
  if (now.isOwn || isCautious(hint, override.value) || override.digest === now.digest) return true;
  return isAlike(override, now);
}

/**
 * Whether the choice applies to a definition. One that lowers caution applies only to the behaviour that its author
 * saw.
 */
export function isConfirmInForce(confirm: ConfirmOverride, now: CurrentDefinition): boolean {
  return confirm.value === 'always' || wasSeen(confirm, now);
}

/** The same for the cache time of results. */
export function isCacheInForce(cache: CacheOverride, now: CurrentDefinition): boolean {
  return cache.value === 0 || wasSeen(cache, now);
}

/** Whether tags may lower caution for a definition. */
export function areTagsInForce(tags: TagsOverride, now: CurrentDefinition): boolean {
  return wasSeen(tags, now);
}

function wasSeen(choice: CallChoice<unknown>, now: CurrentDefinition): boolean {
  return now.isOwn || choice.digest === now.digest || isAlike(choice, now);
}

function isAlike(override: Pick<Override, 'seen'>, { aspects, prose }: CurrentDefinition): boolean {
  if (override.seen === undefined) return false;
  const [seen, now] = [override.seen, aspects()];
  const isSameTarget = now.target === '' || seen.target === now.target;
  return seen.behaviour === now.behaviour && isSameTarget && (prose === 'flag' || seen.prose === now.prose);
}

/** The current definition. */
export interface CurrentDefinition {
  readonly digest: string;
  readonly aspects: AspectsOf;
  readonly prose: ProsePolicy;
  /** Whether an operator wrote it and no one else can change it. */
  readonly isOwn: boolean;
}

/** The record after an operator has reviewed the definition: no drift, and all overrides refer to this definition. */
export function markReviewed(
  { drift, volatility, ...record }: ToolRecord,
  { digest, aspects }: Pick<CurrentDefinition, 'digest' | 'aspects'>,
): ToolRecord {
  const overrides = Object.fromEntries(
    Object.entries(record.overrides).map(([hint, override]) => [
      hint,
      { ...override, digest, seen: aspects() },
    ]),
  );
  const accepted = volatility !== undefined && isVolatile({ volatility });
  const { description, confirm, cacheMs, tags } = record;
  const seen = description && { description: { ...description, seen: aspects().prose } };
  return {
    ...record,
    ...seen,
    ...(confirm && { confirm: { ...confirm, digest, seen: aspects() } }),
    ...(cacheMs && { cacheMs: { ...cacheMs, digest, seen: aspects() } }),
    ...(tags && { tags: { ...tags, digest, seen: aspects() } }),
    overrides,
    ...(accepted && { volatility: { ...volatility, isAccepted: true } }),
  };
}

/** Whether the definition is already reviewed. */
export function isReviewed(
  { overrides, confirm, cacheMs, tags, drift }: ToolRecord,
  digest: string,
): boolean {
  if ([confirm, cacheMs, tags].some((choice) => choice !== undefined && choice.digest !== digest))
    return false;
  return drift === undefined && Object.values(overrides).every((override) => override.digest === digest);
}

/** The volatility after a connection that found the same tool, different prose, or different behaviour. */
export function computeVolatility(
  before: Volatility | undefined,
  found: 'same' | 'prose' | 'behaviour',
): Volatility | undefined {
  if (found === 'behaviour') return undefined;
  const { connects, isAccepted } = before ?? { connects: 0, isAccepted: false };
  if (found === 'prose') return { connects: Math.min(connects + 1, VOLATILE_AFTER), isAccepted };
  return connects < VOLATILE_AFTER ? undefined : before;
}

/** Whether the record can change what lists show of a tool that declares its hints itself. */
export function affectsLists(record: ToolRecord): boolean {
  const { overrides, verification, title, publicName, description, isDisabled } = record;
  const isNamed = title !== undefined || publicName !== undefined || description !== undefined;
  return isNamed || isDisabled === true || verification !== undefined || Object.keys(overrides).length > 0;
}

/** Whether the record is empty and need not be stored. */
export function isEmptyRecord(record: ToolRecord): boolean {
  const { overrides, title, publicName, description, isDisabled, drift } = record;
  const hasChoice = [record.confirm, record.cacheMs, record.tags].some((choice) => choice !== undefined);
  const isNamed = title !== undefined || publicName !== undefined || description !== undefined;
  const isPlain = !isNamed && !hasChoice && isDisabled !== true && drift === undefined;
  const isUnseen = record.volatility === undefined && record.verification === undefined;
  return isPlain && isUnseen && Object.keys(overrides).length === 0;
}

import { isCautious, type Hint } from './hint.ts';
import type { JsonChange } from '../json-changes.ts';

/** An operator's word on one hint. */
export interface Override {
  readonly value: boolean;
  /** Who gave it. */
  readonly author: string;
  readonly atMs: number;
  readonly reason?: string | undefined;
  /** SHA-256 of the definition that its author saw. */
  readonly digest: string;
}

/** How a definition differs from the one that was accepted. */
export interface Drift {
  /** SHA-256 of the definition as it is now. */
  readonly digest: string;
  readonly sinceMs: number;
  readonly changes: readonly JsonChange[];
  /** Why it must be looked at before words that lower caution count again; empty: it is harmless. */
  readonly dangers: readonly string[];
}

/** All that is kept of one tool beside what its server says: what operators said, and how it has drifted. */
export interface ToolWord {
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
}

/** Whether an override counts for the definition of this digest. One that lowers caution lapses by a dangerous change until that is reviewed. */
export function isInForce(hint: Hint, override: Override, { digest, drift }: Circumstances): boolean {
  if (isCautious(hint, override.value) || override.digest === digest) return true;
  // A change that nobody has judged yet may be dangerous, and so may be what its server went back to.
  return drift?.digest === digest && drift.dangers.length === 0;
}

export interface Circumstances {
  /** Of the definition as it is now. */
  readonly digest: string;
  readonly drift?: Drift | undefined;
}

/** The word of a tool after somebody has looked at its definition: nothing differs, and all overrides speak of it. */
export function reviewed({ drift: _, ...word }: ToolWord, digest: string): ToolWord {
  const overrides = Object.fromEntries(
    Object.entries(word.overrides).map(([hint, override]) => [hint, { ...override, digest }]),
  );
  return { ...word, overrides };
}

/** Whether it is so already. */
export function isReviewed({ overrides, drift }: ToolWord, digest: string): boolean {
  return drift === undefined && Object.values(overrides).every((override) => override.digest === digest);
}

/** Whether nothing is said, so that nothing need be kept. */
export function isSilent({ overrides, title, isDisabled, drift }: ToolWord): boolean {
  return (
    Object.keys(overrides).length === 0 && title === undefined && isDisabled !== true && drift === undefined
  );
}

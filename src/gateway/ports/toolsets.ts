import type { Deed } from '../../core/deed.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Toolset } from '../../core/toolset.ts';

/** A toolset as it is kept. */
export interface StoredToolset {
  readonly toolset: Toolset;
  /** Counts up with each change, over all toolsets: what has the same one is the same. */
  readonly revision: number;
}

/** What differs from what somebody knows, as of one moment. */
export interface ToolsetNews {
  /** The names of all toolsets, sorted. */
  readonly names: readonly string[];
  /** Those that are not known in their revision. */
  readonly changed: readonly StoredToolset[];
  readonly equipped: string | undefined;
  /** Counts up with each equipping and unequipping, also of what is equipped already. */
  readonly equippings: number;
}

/** Which toolset is to be changed. */
export interface Former {
  readonly name: string;
  readonly revision: number;
}

/**
 * The part of a store that keeps toolsets. As of all of it: each method is one transaction. A deed is kept with what it
 * tells of, and not where that was not done.
 */
export interface ToolsetStore {
  /** `known`: revisions by name. */
  toolsets(known: ReadonlyMap<string, number>): Promise<Result<ToolsetNews, Refusal>>;
  /**
   * Keeps a toolset in the place of a former one, or as a new one. Undefined: it was not done, as the former one is gone
   * or has changed since. TOOLSET_TAKEN where another one has its name. Whoever had the former one equipped has this one.
   */
  saveToolset(
    toolset: Toolset,
    former: Former | undefined,
    deed?: Deed,
  ): Promise<Result<StoredToolset | undefined, Refusal>>;
  /** Takes it away, and unequips it; false: there is none of this name. */
  removeToolset(name: string, deed?: Deed): Promise<Result<boolean, Refusal>>;
  /** Undefined: none is equipped from now on. False: there is no such toolset. */
  equip(name: string | undefined, deed?: Deed): Promise<Result<boolean, Refusal>>;
}

/** What is equipped, as of a moment. */
export interface Equipped {
  readonly toolset: Toolset | undefined;
  readonly equippings: number;
}

/** What was equipped when this was last known, for who cannot wait for the store. */
export interface EquippedMemory {
  /** Undefined: that is not known. */
  readonly recalled: Equipped | undefined;
  remember(equipped: Equipped): void;
  /** Resolves when what is remembered is written down. */
  flush(): Promise<void>;
}

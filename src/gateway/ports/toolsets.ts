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

/** The part of a store that keeps toolsets. As of all of it: each method is one transaction. */
export interface ToolsetStore {
  /** `known`: revisions by name. */
  toolsets(known: ReadonlyMap<string, number>): Promise<Result<ToolsetNews, Refusal>>;
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

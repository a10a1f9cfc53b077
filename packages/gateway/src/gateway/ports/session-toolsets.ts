import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** The toolset that one session has equipped, instead of the one that operators equipped for all. */
export interface SessionToolset {
  /** SHA-256 of the client's identity, in hexadecimal. */
  readonly client: string;
  readonly subject: string;
  /** Undefined: the session has unequipped, and sees no toolset. */
  readonly toolset: string | undefined;
  /** Counts what the session equipped and unequipped, also the same toolset again. */
  readonly equippings: number;
  /** When it is removed, unless the session is used before. */
  readonly expiresMs: number;
}

/** A change of sessions' toolsets that belongs to a commit. */
export type SessionToolsetChange =
  | { readonly kind: 'equip'; readonly session: SessionToolset; readonly nowMs: number }
  /** The sessions keep the toolset under its new name. */
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /**
   * The toolset is deleted, and the sessions that had equipped it have none. `by`: the client that asks for it; then it
   * is refused with TOOLSET_EQUIPPED if others have equipped it.
   */
  | { readonly kind: 'remove'; readonly toolset: string; readonly by?: string; readonly nowMs: number };

export interface SessionToolsetUse {
  /** New `expiresMs` of sessions that were used, by client. */
  readonly used: ReadonlyMap<string, number>;
  /** Clients whose sessions have ended. */
  readonly ended: readonly string[];
  readonly nowMs: number;
}

/** Maximum number of rows in the store, and of one subject. Beyond them, those unused for longest are removed. */
export const SESSION_TOOLSET_LIMITS = { total: 20_000, perSubject: 1_000 } as const;

/** What sessions have equipped. It is changed with `RecordStore.commit`. */
export interface SessionToolsetStore {
  /** The rows of these clients, as far as they have one that has not expired. */
  sessionToolsets(
    clients: readonly string[],
    nowMs: number,
  ): Promise<Result<readonly SessionToolset[], Refusal>>;
  /** Extends rows and removes those of ended sessions, and expired ones. */
  useSessionToolsets(use: SessionToolsetUse): Promise<Result<undefined, Refusal>>;
}

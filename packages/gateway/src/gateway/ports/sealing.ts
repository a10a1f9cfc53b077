import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Holder } from '../../core/subject.ts';

export interface Sealing {
  /** Associated data. The text opens only with exactly the same value. */
  readonly about: string;
  /** It cannot be opened from this time on. */
  readonly expiresMs: number;
}

/** Seals state that a client carries from one request to the next, so no process has to remember it. */
export interface Sealer {
  seal(text: string, sealing: Sealing): Promise<string>;
  /** STATE_INVALID if it was sealed by a process on another store, has a different `about`, or has expired. */
  open(
    sealed: string,
    opening: { readonly about: string; readonly nowMs: number },
  ): Promise<Result<string, Refusal>>;
}

/** What the id of a legacy session says. */
export interface SealedSession {
  /** Random. Names the session in the store and to the rest of Assay, and lets nobody act in it. */
  readonly id: string;
  readonly createdMs: number;
  /** The revision that was negotiated. */
  readonly version: string;
  /** JSON text of the capabilities that the client declared, as far as they fit. */
  readonly capabilities: string;
  /** JSON text of the client's name and version, as far as they fit. */
  readonly clientInfo: string | undefined;
}

/** What the id of a session is bound to. With another endpoint or credential it cannot be opened. */
export interface SessionBinding {
  readonly endpoint: string;
  readonly holder: Holder;
}

/** The ids of legacy sessions, from which any process on the store can serve them. */
export interface SessionIds {
  /** Why the keys of the store could not be read. An id that does not open may be valid then. */
  readonly fault: Refusal | undefined;
  /** Whether ids are made that open in this process only. */
  readonly hasPrivateKeys: boolean;
  /** Reads the keys, so that ids open from now on while the store is unavailable. */
  load(): Promise<void>;
  /** At most 512 visible ASCII characters, whatever the client declares. */
  seal(session: SealedSession, binding: SessionBinding): Promise<string>;
  /** Undefined if the id was not given to this holder at this endpoint. */
  open(id: string, binding: SessionBinding): Promise<SealedSession | undefined>;
}

/** A task as its server knows it. */
interface ServersTask {
  readonly server: string;
  /** The server's own id. */
  readonly inner: string;
}

/**
 * Maps tasks to the ids that clients see. An id names its server, is stable, works only for the subject it was made
 * for, and cannot be forged.
 */
export interface TaskIds {
  wrap(server: string, subject: string, inner: string): string;
  /** Undefined if the id was not wrapped for this subject. */
  unwrap(wrapped: string, subject: string): ServersTask | undefined;
}

/** What a view needs to offer tasks. */
export interface TaskAccess {
  /** Loads the id wrapper. Its key may be in the store, so it is fetched when the first task appears. */
  readonly ids: () => Promise<TaskIds>;
  /** Whether a single client uses the server links, so their lists contain no one else's tasks. */
  readonly isAlone: boolean;
}

/** A task as its server knows it. */
export interface ServersTask {
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

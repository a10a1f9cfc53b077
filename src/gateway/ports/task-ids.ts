/** A task as its server knows it. */
export interface ServersTask {
  readonly server: string;
  /** The id that the server gave it. */
  readonly inner: string;
}

/**
 * Gives tasks the ids by which clients know them. Such an id names its server, is the same each time, and is of use to
 * the subject alone for which it was made; nobody else can make one.
 */
export interface TaskIds {
  wrap(server: string, subject: string, inner: string): string;
  /** Undefined for what was not wrapped for this subject. */
  unwrap(wrapped: string, subject: string): ServersTask | undefined;
}

/** What a view needs to offer tasks. */
export interface TaskAccess {
  /** What wraps ids. The key for it may lie in the store, so it is fetched when the first task is met. */
  readonly ids: () => Promise<TaskIds>;
  /** Whether one client alone uses the links to servers, so that their lists hold no task of anybody else. */
  readonly isAlone: boolean;
}

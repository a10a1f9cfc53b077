import { Child, type ChildOptions } from './child.ts';

/**
 * Starts processes. All processes that run others' code are started by a launcher, so that they
 * can be confined. `packages/gateway/src/app/` chooses it.
 */
export interface Launcher {
  launch(options: ChildOptions): Child;
}

/** Starts a process unconfined, with Assay's rights. */
export const PLAIN_LAUNCHER: Launcher = { launch: (options) => new Child(options) };

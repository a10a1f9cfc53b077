import { Child, type ChildOptions } from './child.ts';

/** Starts processes. Whoever starts one for others' code does it by a launcher, so that it can be confined. */
export interface Launcher {
  launch(options: ChildOptions): Child;
}

/** Starts a process as it is, with the rights of Assay. */
export const PLAIN_LAUNCHER: Launcher = { launch: (options) => new Child(options) };

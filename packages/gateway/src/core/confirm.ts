/** How often a call of a tool must be confirmed. `first`: once per session of a caller. */
export type Confirm = 'always' | 'first' | 'never';

export const CONFIRMS: readonly [Confirm, ...Confirm[]] = ['always', 'first', 'never'];

/** Longest delay of a timer in ms, 24.8 days: Node fires a longer one at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

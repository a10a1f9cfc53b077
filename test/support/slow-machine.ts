/** Factor for waits in CI, whose machines are shared. */
const SLOWDOWN = process.env['CI'] === 'true' ? 3 : 1;

/** Scales a wait in ms that can be long only on a slow machine. Unchanged outside CI. */
export function scaledMs(ms: number): number {
  return ms * SLOWDOWN;
}
